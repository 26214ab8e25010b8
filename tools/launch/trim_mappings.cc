// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/trim_mappings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "analysis/base/folder_entries.h"
#include "analysis/base/plain_file.h"
#include "analysis/reader/process_presence.h"
#include "analysis/segments/trace_file_name.h"

namespace gpubound {
namespace {

constexpr size_t kBlock = 4096;

// By blocks, and as few calls as runs of empty ones.
void Trim(int fd) {
  std::array<std::byte, 16 * kBlock> bytes;
  off_t at = 0;
  off_t empty_from = 0;
  const auto give_back = [&](off_t end) {
    if (end > empty_from) {
      fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, empty_from, end - empty_from);
    }
  };
  for (;;) {
    const ssize_t got = pread(fd, bytes.data(), bytes.size(), at);
    if (got <= 0) break;
    for (size_t block = 0; block < static_cast<size_t>(got); block += kBlock) {
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(block);
      const size_t length = std::min(kBlock, static_cast<size_t>(got) - block);
      const bool empty = std::all_of(begin, begin + static_cast<std::ptrdiff_t>(length),
                                     [](std::byte byte) { return byte == std::byte{0}; });
      if (empty) continue;
      give_back(at + static_cast<off_t>(block));
      empty_from = at + static_cast<off_t>(block + kBlock);
    }
    at += got;
  }
  give_back(at);
}

}  // namespace

void TrimMappings(const std::string& folder) {
  for (const std::filesystem::directory_entry& entry : EntriesOf(folder)) {
    const std::string path = entry.path().string();
    const std::optional<TraceFileName> name = ParseTraceFileName(entry.path().filename().string());
    if (!name || !name->live || IsNoPlainFile(path)) continue;
    if (PresenceOf(name->identity) != Presence::kGone) continue;
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) continue;
    Trim(fd);
    close(fd);
  }
}

}  // namespace gpubound
