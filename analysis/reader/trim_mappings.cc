// SPDX-License-Identifier: Apache-2.0
#include "analysis/reader/trim_mappings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "analysis/base/folder_entries.h"
#include "analysis/base/plain_file.h"
#include "analysis/reader/process_presence.h"
#include "analysis/segments/trace_file_name.h"

namespace gpubound {
namespace {

constexpr off_t kBlock = 4096;
constexpr off_t kBlocksAtOnce = 16;
// What a filesystem may keep beside the data: for its own lists, and in larger blocks.
constexpr off_t kSlack = 64 * 1024;

struct Empty {
  off_t begin = 0;
  off_t end = 0;
};

// Where |fd| of |size| bytes holds nothing but zeroes, by blocks, in as few parts as there are.
std::vector<Empty> EmptyParts(int fd, off_t size) {
  std::array<std::byte, kBlock * kBlocksAtOnce> bytes;
  std::vector<Empty> parts;
  off_t empty_from = 0;
  for (off_t at = 0; at < size;) {
    const off_t data = lseek(fd, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // holes up to the end
    if (data > at) at = data - data % kBlock;
    const ssize_t got = pread(fd, bytes.data(), bytes.size(), at);
    if (got <= 0) return {};
    for (off_t block = 0; block < got; block += kBlock) {
      const auto begin = bytes.begin() + block;
      const bool empty = std::all_of(begin, begin + std::min<off_t>(kBlock, got - block),
                                     [](std::byte byte) { return byte == std::byte{0}; });
      if (empty) continue;
      if (at + block > empty_from) parts.push_back({empty_from, at + block});
      empty_from = at + block + kBlock;
    }
    at += got;
  }
  if (size > empty_from) parts.push_back({empty_from, size});
  return parts;
}

void Trim(int fd) {
  struct stat file = {};
  if (fstat(fd, &file) != 0) return;
  const std::vector<Empty> parts = EmptyParts(fd, file.st_size);
  off_t data = file.st_size;
  for (const Empty& part : parts) data -= part.end - part.begin;
  if (off_t{file.st_blocks} * 512 <= data + kSlack) return;
  for (const Empty& part : parts) {
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, part.begin, part.end - part.begin);
  }
}

}  // namespace

void TrimMappings(const std::string& folder,
                  const std::function<bool(const ProcessIdentity&)>& has_ended) {
  for (const std::filesystem::directory_entry& entry : EntriesOf(folder)) {
    const std::string path = entry.path().string();
    const std::optional<TraceFileName> name = ParseTraceFileName(entry.path().filename().string());
    if (!name || !name->live || IsNoPlainFile(path) || !has_ended(name->identity)) continue;
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) continue;
    Trim(fd);
    close(fd);
  }
}

void TrimMappingsOf(const Run& run) {
  std::set<ProcessIdentity> ended;
  for (const ProcessTrace& process : run.processes) {
    if (IsClosed(process.span_end)) continue;
    const LastSeen seen = LastSeenOf(process, /*run_over=*/false);
    if (PresenceByTrace(process) == Presence::kGone && HasEnded(Presence::kGone, seen)) {
      ended.insert(process.identity);
    }
  }
  if (ended.empty()) return;
  TrimMappings(run.path, [&](const ProcessIdentity& process) { return ended.contains(process); });
}

}  // namespace gpubound
