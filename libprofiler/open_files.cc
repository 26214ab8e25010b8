// SPDX-License-Identifier: Apache-2.0
//
// Finds our descriptors in /proc/self/fd.
#include "libprofiler/open_files.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "libprofiler/high_descriptor.h"

namespace gpubound {

void OpenFiles::Remember(const std::string& prefix) {
  files_.clear();
  std::string path(PATH_MAX, '\0');  // not on a stack that may be 16 KiB
  const std::string wanted =
      realpath(prefix.c_str(), path.data()) == nullptr ? prefix : path.c_str();
  DIR* directory = OpenFolderHigh("/proc/self/fd");
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory)) {
    const ssize_t length = readlinkat(dirfd(directory), entry->d_name, path.data(), path.size());
    if (length <= 0 ||
        !std::string_view(path.data(), static_cast<size_t>(length)).starts_with(wanted)) {
      continue;
    }
    const int fd = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
    struct stat info;
    if (fstat(fd, &info) == 0) files_.push_back({fd, info.st_dev, info.st_ino});
  }
  closedir(directory);
}

bool OpenFiles::AreOurs() const {
  return std::all_of(files_.begin(), files_.end(), [](const File& file) {
    struct stat info;
    return fstat(file.fd, &info) == 0 && info.st_dev == file.device && info.st_ino == file.inode;
  });
}

bool OpenFiles::AnyRemoved() const {
  return std::any_of(files_.begin(), files_.end(), [](const File& file) {
    struct stat info;
    return fstat(file.fd, &info) == 0 && info.st_nlink == 0;
  });
}

}  // namespace gpubound
