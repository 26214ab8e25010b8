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

namespace gpubound {

void OpenFiles::Remember(const std::string& prefix) {
  files_.clear();
  char resolved[PATH_MAX];
  const std::string wanted = realpath(prefix.c_str(), resolved) == nullptr ? prefix : resolved;
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory)) {
    char path[PATH_MAX];
    const ssize_t length = readlinkat(dirfd(directory), entry->d_name, path, sizeof(path));
    if (length <= 0 || !std::string_view(path, static_cast<size_t>(length)).starts_with(wanted)) {
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

}  // namespace gpubound
