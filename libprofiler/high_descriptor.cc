// SPDX-License-Identifier: Apache-2.0
//
// Opens low and moves up. No state.
#include "libprofiler/high_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

namespace gpubound {

int OpenHigh(const char* path, int flags, int mode) noexcept {
  const int low = open(path, flags, mode);
  if (low < 0 || low >= kLeastHighDescriptor) return low;
  const int high = fcntl(low, F_DUPFD_CLOEXEC, kLeastHighDescriptor);
  if (high < 0) return low;
  close(low);
  return high;
}

}  // namespace gpubound
