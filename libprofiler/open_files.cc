// SPDX-License-Identifier: Apache-2.0
//
// By device and inode.
#include "libprofiler/open_files.h"

#include <sys/stat.h>

#include <algorithm>

namespace gpubound {

void OpenFiles::Add(int fd) noexcept {
  struct stat info;
  if (count_ == kMostFiles || fstat(fd, &info) != 0) return;
  files_[count_++] = {fd, info.st_dev, info.st_ino};
}

bool OpenFiles::File::IsOpen() const {
  struct stat info;
  return fstat(fd, &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

void OpenFiles::DropClosed() noexcept {
  const auto end = std::remove_if(files_.begin(), files_.begin() + count_,
                                  [](const File& file) { return !file.IsOpen(); });
  count_ = static_cast<size_t>(end - files_.begin());
}

bool OpenFiles::AreOurs() const {
  return std::all_of(files_.begin(), files_.begin() + count_,
                     [](const File& file) { return file.IsOpen(); });
}

bool OpenFiles::AnyRemoved() const {
  return std::any_of(files_.begin(), files_.begin() + count_, [](const File& file) {
    struct stat info;
    return fstat(file.fd, &info) == 0 && info.st_nlink == 0;
  });
}

}  // namespace gpubound
