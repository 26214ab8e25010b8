// SPDX-License-Identifier: Apache-2.0
//
// No state.
#include "libprofiler/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace gpubound {

void* MapFile(const std::string& path, size_t bytes) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return nullptr;
  void* mapped = MAP_FAILED;
  int error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (error == 0) {
    mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    error = errno;
  }
  close(file);
  errno = error;
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace gpubound
