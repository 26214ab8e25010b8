// SPDX-License-Identifier: Apache-2.0
//
// Reads a file of /proc whole. Any thread.
#ifndef GPUBOUND_CUPTI_HOOKS_PROC_FILE_H_
#define GPUBOUND_CUPTI_HOOKS_PROC_FILE_H_

#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace gpubound {

// Up to 64 KiB of it, a little more at most; empty where it cannot be read.
inline std::string ReadProcFile(const std::string& path) {
  constexpr size_t kMaxFileBytes = 64 << 10;
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char part[4096];
  ssize_t length = 0;
  while (text.size() < kMaxFileBytes && (length = read(fd, part, sizeof(part))) > 0) {
    text.append(part, static_cast<size_t>(length));
  }
  close(fd);
  return text;
}

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_PROC_FILE_H_
