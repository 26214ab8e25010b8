// SPDX-License-Identifier: Apache-2.0
//
// Reads a file of /proc, whose size is not known beforehand. Any thread.
#ifndef GPUBOUND_LIBPROFILER_PROC_FILE_H_
#define GPUBOUND_LIBPROFILER_PROC_FILE_H_

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "libprofiler/high_descriptor.h"

namespace gpubound {

// Up to |max_bytes| of it, a little more at most; empty where it cannot be read.
inline std::string ReadProcFile(const std::string& path, size_t max_bytes = 64 << 10) {
  std::string text;
  const int fd = OpenHigh(path.c_str(), O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return text;
  char part[4096];
  ssize_t length = 0;
  while (text.size() < max_bytes && (length = read(fd, part, sizeof(part))) > 0) {
    text.append(part, static_cast<size_t>(length));
  }
  close(fd);
  return text;
}

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_PROC_FILE_H_
