// SPDX-License-Identifier: Apache-2.0
//
// Lists chunks and removes them. No state beyond the list.
#include "analysis/compact/stored_segments.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "analysis/base/folder_entries.h"
#include "analysis/base/plain_file.h"
#include "analysis/compact/settled_time.h"
#include "analysis/segments/segment.h"
#include "analysis/segments/sqlite.h"
#include "proto/schema.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

// Beside a segment, while it is written without some of its chunks.
constexpr char kAnew[] = ".new";

// Of a segment that is written to meanwhile, and the time that a transaction may take.
constexpr int kMostListings = 5;
constexpr std::chrono::milliseconds kTransaction{20};
// Of the header of a database: https://www.sqlite.org/fileformat2.html#file_change_counter
constexpr std::streamoff kChangesAt = 24;

Error Unreadable(const std::string& path, const std::string& found) {
  return {"compacting the run", path, found, "a segment that can be read whole",
          "Nothing was removed. A damaged run is better kept as it is: gpubound doctor says more."};
}

bool Says(const MetaRows& meta, const char* key, const char* value) {
  const auto row = meta.find(key);
  return row != meta.end() && row->second == value;
}

// As KnownLifeOf() (analysis/trace/span_end.h) goes by.
bool TellsLife(EventFamily family) {
  return family == EventFamily::kThread || family == EventFamily::kApi ||
         family == EventFamily::kDevice;
}

// How often |path| was written to without a log; absent in the middle of that.
std::optional<uint32_t> ChangesOf(const std::string& path) {
  if (HasContent(path + "-journal")) return std::nullopt;
  uint32_t changes = 0;
  std::ifstream file(path, std::ios::binary);
  file.seekg(kChangesAt);
  file.read(reinterpret_cast<char*>(&changes), sizeof(changes));
  return changes;
}

Status RemoveSegment(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return Unreadable(path, std::generic_category().message(errno));
  }
  // Where somebody read it when it was sealed, or wrote it anew and was killed.
  for (const char* beside : {"-wal", "-shm", kAnew}) unlink((path + beside).c_str());
  return Ok{};
}

// Puts |anew| in the place of |path|, durably and with its owner. 0 or errno.
int TakePlace(const std::string& anew, const std::string& path) {
  const int file = open(anew.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  struct stat before = {};
  struct stat now = {};
  bool done = stat(path.c_str(), &before) == 0 && fstat(file, &now) == 0;
  if (done && (before.st_uid != now.st_uid || before.st_gid != now.st_gid)) {
    done = fchown(file, before.st_uid, before.st_gid) == 0;
  }
  done = done && fsync(file) == 0 && rename(anew.c_str(), path.c_str()) == 0;
  const int error = done ? 0 : errno;
  close(file);
  return error;
}

// Not where it lies: whoever reads the run meanwhile goes on with the file that he opened.
Status RemoveChunks(const std::string& path, const std::vector<int64_t>& ids) {
  const Status folded = Database::FoldLogs(path);
  if (!folded.ok()) return folded.error();
  const std::string anew = path + kAnew;
  unlink(anew.c_str());
  std::error_code error;
  fs::copy_file(path, anew, error);
  Status thinned = Ok{};
  if (!error) thinned = Database::RemoveRows(anew, "chunk", ids);
  if (!error && thinned.ok()) error.assign(TakePlace(anew, path), std::generic_category());
  if (!error && thinned.ok()) return Ok{};
  unlink(anew.c_str());
  if (!thinned.ok()) return thinned.error();
  return Error{"removing detail", path, error.message(), "a segment that can be written anew",
               "Its sums are safe. Check permissions and space, then compact again."};
}

}  // namespace

Result<StoredSegments::File> StoredSegments::ListOnce(const std::string& path,
                                                      const TraceFileName& name) {
  Result<Segment> segment = Segment::Open(path, name);
  if (!segment.ok()) return segment.error();
  File file;
  file.path = path;
  file.process = segment->identity();
  file.number = name.segment;
  file.done = Says(segment->meta(), "sealed", "1") || segment->meta().contains("end_how");
  Result<Database> database = Database::OpenReadOnly(path);
  if (!database.ok()) return database.error();
  // Before the chunks, so that these are at least those of the time before.
  Query clock = database->Prepare("SELECT monotonic_ns FROM clock ORDER BY monotonic_ns DESC");
  if (clock.Step()) file.written_ns = clock.Int(0);
  Query unknown = database->Prepare("SELECT start_ns, reason FROM unknown");
  while (unknown.Step()) {
    if (unknown.Text(1) == kUndeliveredReason) file.delivered_ns = unknown.Int(0);
  }
  Query query = database->Prepare(
      "SELECT id, family, thread, first_sequence, sequence_count, event_count, min_ns, max_ns, "
      "length(body) FROM chunk ORDER BY id");
  while (query.Step()) {
    Chunk& chunk = file.chunks.emplace_back();
    chunk.id = query.Int(0);
    chunk.family = static_cast<EventFamily>(query.Int(1));
    chunk.thread = static_cast<uint32_t>(query.Int(2));
    chunk.first_sequence = static_cast<uint64_t>(query.Int(3));
    chunk.next_sequence = chunk.first_sequence + static_cast<uint64_t>(query.Int(4));
    chunk.events = static_cast<uint64_t>(query.Int(5));
    chunk.stored = {{query.Int(6), query.Int(7)}, static_cast<uint64_t>(query.Int(8))};
  }
  if (query.failed()) return Unreadable(path, database->LastError());
  return file;
}

// Where a recorder writes without a log, as on a network filesystem, what is read while it does is
// of before and of after: a clock sample without the chunks that it speaks for.
Result<StoredSegments::File> StoredSegments::List(const std::string& path,
                                                  const TraceFileName& name,
                                                  const std::function<void()>& meanwhile) {
  for (int listing = 1;; ++listing) {
    const std::optional<uint32_t> before = ChangesOf(path);
    Result<File> file = ListOnce(path, name);
    if (meanwhile) meanwhile();
    if (listing == kMostListings || (before && ChangesOf(path) == before)) return file;
    std::this_thread::sleep_for(kTransaction);
  }
}

Result<StoredSegments> StoredSegments::In(const std::string& folder,
                                          const std::function<void()>& meanwhile) {
  StoredSegments stored;
  std::error_code error;
  for (const fs::directory_entry& entry : EntriesOf(folder, &error)) {
    const auto name = ParseTraceFileName(entry.path().filename().string());
    if (!name || name->live) continue;
    Result<File> file = List(entry.path().string(), *name, meanwhile);
    if (!file.ok()) return file.error();
    stored.files_.push_back(std::move(*file));
  }
  if (error) return Unreadable(folder, error.message());
  std::vector<File>& files = stored.files_;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return std::tie(a.process, a.number) < std::tie(b.process, b.number);
  });
  for (size_t i = 0; i < files.size(); ++i) {
    files[i].last = i + 1 == files.size() || files[i + 1].process != files[i].process;
  }
  return stored;
}

int64_t StoredSegments::ListedUntil(
    const std::function<bool(const ProcessIdentity&)>& is_whole) const {
  int64_t until_ns = INT64_MAX;
  int64_t written_ns = INT64_MIN;  // by this process
  for (const File& file : files_) {
    written_ns = std::max(written_ns, file.written_ns);
    if (!file.last) continue;
    const bool may_grow = !file.done && !is_whole(file.process);
    if (may_grow && written_ns != INT64_MIN) {
      until_ns = std::min(until_ns, SettledUntil(written_ns, file.delivered_ns));
    }
    written_ns = INT64_MIN;
  }
  return until_ns;
}

void StoredSegments::MarkEnded(const std::function<bool(const ProcessIdentity&)>& has_ended) {
  for (File& open : files_) {
    if (open.done || !has_ended(open.process)) continue;
    open.done = true;
    Chunk* newest = nullptr;
    for (File& file : files_) {
      if (file.process != open.process) continue;
      for (Chunk& chunk : file.chunks) {
        const bool later =
            newest == nullptr || chunk.stored.time.end_ns > newest->stored.time.end_ns;
        if (TellsLife(chunk.family) && later) newest = &chunk;
      }
    }
    if (newest != nullptr) newest->tells_end = true;
  }
}

std::vector<StoredChunk> StoredSegments::Chunks() const {
  std::vector<StoredChunk> chunks;
  for (const File& file : files_) {
    for (const Chunk& chunk : file.chunks) chunks.push_back(chunk.stored);
  }
  return chunks;
}

std::vector<SummedWriter> StoredSegments::WritersOf(const ProcessIdentity& process,
                                                    const ProcessSums* before,
                                                    const Keep& keep) const {
  std::map<std::pair<EventFamily, uint32_t>, SummedWriter> writers;
  if (before != nullptr) {
    for (const SummedWriter& writer : before->writers) {
      writers[{writer.family, writer.thread}] = writer;
    }
  }
  for (const File& file : files_) {
    if (file.process != process) continue;
    for (const Chunk& chunk : file.chunks) {
      SummedWriter& writer = writers[{chunk.family, chunk.thread}];
      writer.family = chunk.family;
      writer.thread = chunk.thread;
      writer.seen_until = std::max(writer.seen_until, chunk.next_sequence);
      if (file.done && !Stays(chunk, keep)) {
        writer.gone_until = std::max(writer.gone_until, chunk.next_sequence);
      }
    }
  }
  std::vector<SummedWriter> rows;
  for (const auto& [key, writer] : writers) rows.push_back(writer);
  return rows;
}

bool StoredSegments::WouldThin(const Keep& keep) const {
  return std::any_of(files_.begin(), files_.end(), [&keep](const File& file) {
    return file.done && std::any_of(file.chunks.begin(), file.chunks.end(),
                                    [&keep](const Chunk& chunk) { return !Stays(chunk, keep); });
  });
}

Result<uint64_t> StoredSegments::Thin(const Keep& keep) const {
  uint64_t removed = 0;
  std::optional<Error> failed;
  // Whole segments first: that takes no room, and what is written anew may need it.
  for (const bool whole : {true, false}) {
    for (const File& file : files_) {
      if (!file.done) continue;
      std::vector<int64_t> ids;
      uint64_t events = 0;
      for (const Chunk& chunk : file.chunks) {
        if (Stays(chunk, keep)) continue;
        ids.push_back(chunk.id);
        events += chunk.events;
      }
      const bool goes = ids.size() == file.chunks.size() && !file.last;
      if (goes != whole || (!goes && ids.empty())) continue;
      const Status gone = goes ? RemoveSegment(file.path) : RemoveChunks(file.path, ids);
      if (gone.ok()) removed += events;
      if (!gone.ok() && !failed) failed = gone.error();
    }
  }
  if (failed) return *failed;
  return removed;
}

}  // namespace gpubound
