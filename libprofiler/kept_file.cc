// SPDX-License-Identifier: Apache-2.0
#include "libprofiler/kept_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libprofiler/high_descriptor.h"

namespace gpubound {

bool KeptFile::IsOurs() const {
  struct stat now;
  const int at = descriptor.load(std::memory_order_relaxed);
  return at >= 0 && fstat(at, &now) == 0 && now.st_dev == device && now.st_ino == inode;
}

void KeptFile::Keep(int opened) {
  struct stat now = {};
  fstat(opened, &now);
  device = now.st_dev;
  inode = now.st_ino;
  descriptor.store(opened, std::memory_order_release);
}

bool KeptFile::Open(const char* path, int flags) {
  const int opened = OpenHigh(path, O_RDONLY | O_CLOEXEC | flags, 0);
  if (opened < 0) return false;
  Keep(opened);
  return true;
}

void KeptFile::Close() {
  const bool ours = IsOurs();
  const int at = descriptor.exchange(-1, std::memory_order_relaxed);
  if (ours) close(at);
}

}  // namespace gpubound
