// SPDX-License-Identifier: Apache-2.0
//
// Sums, makes the sums durable, then removes. No state.
#include "analysis/compact/compact.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/base/folder_entries.h"
#include "analysis/compact/run_summing.h"
#include "analysis/compact/settled_time.h"
#include "analysis/compact/stored_segments.h"
#include "analysis/processes/run_frame.h"
#include "analysis/reader/process_presence.h"
#include "analysis/reader/reader.h"
#include "analysis/reader/trim_mappings.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

// Held while the object lives.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : file_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    is_elsewhere_ = file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) != 0;
  }
  ~FolderLock() {
    if (file_ >= 0) close(file_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  // Another gpubound has it.
  bool is_elsewhere() const { return is_elsewhere_; }

 private:
  const int file_;
  bool is_elsewhere_ = false;
};

uint64_t SizeOf(const std::string& folder) {
  uint64_t bytes = 0;
  for (const fs::directory_entry& entry : EntriesOf(folder)) {
    std::error_code ignored;
    const uint64_t size = entry.file_size(ignored);
    if (!ignored) bytes += size;
  }
  return bytes;
}

// What is removed is gone, so nothing is unless everything could be read.
Status CheckWhole(const Run& run) {
  for (const ProcessTrace& process : run.processes) {
    const bool failed = process.source != nullptr && process.source->failed();
    if (!failed && process.Counted(LedgerCounter::chunks_corrupt) == 0) continue;
    return Error{"compacting the run", run.path,
                 "damaged chunks of pid " + std::to_string(process.identity.pid),
                 "chunks that can all be read",
                 "Nothing was removed. gpubound doctor names them; such a run is better kept."};
  }
  return Ok{};
}

// Why |process| may still write to its last segment; empty where it has ended.
std::string WhyGrowing(const ProcessTrace& process, bool run_over) {
  const std::string pid = "pid " + std::to_string(process.identity.pid);
  if (process.span_end == SpanEnd::kGoesOn) return pid + " still runs";
  if (process.span_end != SpanEnd::kLastEvent) return {};
  const Presence presence = PresenceByTrace(process);
  const LastSeen seen = LastSeenOf(process, run_over);
  if (HasEnded(presence, seen)) return {};
  if (presence == Presence::kElsewhere) {
    return pid + " of host " + process.identity.host +
           " did not close its trace, and only that host knows whether it still runs";
  }
  return pid + " did not close its trace and may still run: " +
         (seen.age_ns ? "it recorded something just now" : "no sample says when it recorded last");
}

// |listed_ns|: until when |stored| has all.
int64_t UntilOf(const Run& run, const Retention& retention, const StoredSegments& stored,
                int64_t listed_ns) {
  const int64_t summed_ns = run.sums == nullptr ? INT64_MIN : run.sums->until_ns;
  const int64_t settled_ns = std::min(SettledUntil(run), listed_ns);
  return SumUntil(retention, stored.Chunks(), settled_ns, summed_ns);
}

// The chunks that stay beside |sums|, which outlive what is returned.
StoredSegments::Keep KeptBeside(const RunSums& sums) {
  return [&sums](const StoredChunk& chunk) { return IsKept(chunk, sums.kept, sums.until_ns); };
}

// The sums until then, on disk; none where they would stand for nothing that can be removed. |run|
// is read again by whoever comes next.
Result<std::optional<RunSums>> SumDurably(const Run& run,
                                          const std::vector<std::string>& operations,
                                          const Retention& retention, const StoredSegments& stored,
                                          int64_t until_ns) {
  BreakdownOptions options;
  options.operations = operations;
  Result<SummedRun> summed = SumRun(run, options, until_ns);
  if (!summed.ok()) return summed.error();
  const Status whole = CheckWhole(run);
  if (!whole.ok()) return whole.error();

  RunSums& sums = summed->sums;
  const std::vector<Interval> kept = run.sums == nullptr ? std::vector<Interval>() : run.sums->kept;
  sums.kept = KeptDetail(retention, stored.Chunks(), summed->iterations, kept, until_ns);
  for (ProcessSums& process : sums.processes) {
    const ProcessSums* before = run.sums == nullptr ? nullptr : run.sums->Of(process.identity);
    process.writers = stored.WritersOf(process.identity, before, KeptBeside(sums));
  }
  if (run.sums == nullptr && !stored.WouldThin(KeptBeside(sums))) return std::optional<RunSums>();
  const Status written = WriteRunSums(run.path, &sums);
  if (!written.ok()) return written.error();
  return std::optional<RunSums>(std::move(sums));
}

}  // namespace

Result<Compaction> CompactRun(const std::string& path, const std::vector<std::string>& operations,
                              const Retention& retention) {
  const FolderLock lock(path);
  // First: what another one removes meanwhile looks like damage.
  if (lock.is_elsewhere()) {
    return Error{"compacting the run", path, "a lock that another gpubound holds",
                 "nobody else compacting it", "Wait until that one is done."};
  }
  // Listed before the run is read: a chunk that is written in between counts as not summed.
  Result<StoredSegments> stored = StoredSegments::In(path);
  Result<Run> run = OpenGrowingRun(path);
  if (!run.ok()) return run.error();  // says more of a place that holds no run
  if (!stored.ok()) return stored.error();
  Compaction compaction;
  std::set<ProcessIdentity> ended;
  std::set<ProcessIdentity> killed;
  const bool run_over = run->info && run->info->end_monotonic_ns;
  for (const ProcessTrace& process : run->processes) {
    std::string why = WhyGrowing(process, run_over);
    if (why.empty()) {
      ended.insert(process.identity);
      if (!IsClosed(process.span_end)) killed.insert(process.identity);
    } else {
      compaction.growing.push_back(std::move(why));
    }
  }
  TrimMappings(path, [&](const ProcessIdentity& process) { return killed.contains(process); });
  const int64_t listed_ns =
      stored->ListedUntil([&](const ProcessIdentity& process) { return killed.contains(process); });
  stored->MarkEnded([&](const ProcessIdentity& process) { return ended.contains(process); });
  compaction.bytes_before = compaction.bytes_after = SizeOf(path);
  const Interval span = FrameOf(*run).span;
  const int64_t until_ns = UntilOf(*run, retention, *stored, listed_ns);
  if (until_ns <= span.begin_ns) {
    compaction.why_none = "all of it is as new as what is to be kept";
    return compaction;
  }
  Result<std::optional<RunSums>> summed =
      SumDurably(*run, operations, retention, *stored, until_ns);
  if (!summed.ok()) return summed.error();
  run->processes.clear();  // closes the segments
  if (!*summed) {
    compaction.why_none = compaction.growing.empty()
                              ? "what is older lies in one piece with what is to be kept"
                              : "what is older lies in segments that may still be written to";
    return compaction;
  }
  const RunSums& sums = **summed;
  Result<uint64_t> removed = stored->Thin(KeptBeside(sums));
  if (!removed.ok()) return removed.error();
  compaction.events_removed = *removed;
  compaction.summed_ns = Interval{span.begin_ns, std::min(span.end_ns, sums.until_ns)}.length();
  compaction.bytes_after = SizeOf(path);
  return compaction;
}

}  // namespace gpubound
