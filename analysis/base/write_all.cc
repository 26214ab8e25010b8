// SPDX-License-Identifier: Apache-2.0
//
// Goes on behind what was written. No state.
#include "analysis/base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include <filesystem>

namespace gpubound {
namespace {

// 0 or errno.
int WriteDurably(const std::string& path, std::string_view bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int error = WriteAll(file, bytes);
  if (error == 0 && fsync(file) != 0) error = errno;
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

int SyncFolder(const std::string& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = fsync(file) == 0 ? 0 : errno;
  close(file);
  return error;
}

}  // namespace

int WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

int ReplaceFile(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".new";
  int error = WriteDurably(temporary, bytes);
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (error == 0) error = SyncFolder(folder.empty() ? "." : folder.string());
  if (error != 0) unlink(temporary.c_str());
  return error;
}

}  // namespace gpubound
