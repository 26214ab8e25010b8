// SPDX-License-Identifier: Apache-2.0
//
// Goes on behind what was written. No state.
#include "analysis/base/write_all.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

namespace gpubound {

int WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace gpubound
