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
  for (int least = kLeastHighDescriptor; least > low; --least) {
    const int high = fcntl(low, F_DUPFD_CLOEXEC, least);
    if (high < 0) continue;  // the limit is lower, or nothing is free from there on
    close(low);
    return high;
  }
  return low;
}

DIR* OpenFolderHigh(const char* path) noexcept {
  const int opened = OpenHigh(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (opened < 0) return nullptr;
  DIR* const folder = fdopendir(opened);
  if (folder == nullptr) close(opened);
  return folder;
}

}  // namespace gpubound
