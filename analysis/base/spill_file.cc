// SPDX-License-Identifier: Apache-2.0
//
// Writes to and reads from an unlinked file. Reading changes nothing.
#include "analysis/base/spill_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace gpubound {

std::string SpillFolder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder.string();
}

SpillFile::SpillFile(std::string folder) : folder_(std::move(folder)) {}

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

Error SpillFile::Failed(const char* doing) const {
  return {doing, folder_, std::generic_category().message(errno), "room for temporary data",
          "Free some space there, or choose another place: with -o DIR for what is imported, else "
          "with TMPDIR=DIR."};
}

Status SpillFile::Append(const void* bytes, size_t count) {
  if (descriptor_ < 0) {
    std::string name = folder_ + "/spill-XXXXXX";
    descriptor_ = mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ < 0) return Failed("making a temporary file in");
    unlink(name.c_str());
  }
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = pwrite(descriptor_, from, count, static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Failed("writing temporary data to");
    from += written;
    count -= static_cast<size_t>(written);
    size_ += static_cast<uint64_t>(written);
  }
  return Ok{};
}

Status SpillFile::Read(uint64_t offset, void* to, size_t count) {
  char* into = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = pread(descriptor_, into, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Failed("reading temporary data from");
    into += got;
    count -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
  return Ok{};
}

}  // namespace gpubound
