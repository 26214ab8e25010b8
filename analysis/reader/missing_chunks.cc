// SPDX-License-Identifier: Apache-2.0
//
// Goes through the chunks of one writer after the other. No state.
#include "analysis/reader/missing_chunks.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace gpubound {
namespace {

// Numbers of a writer that no chunk has.
struct Gap {
  ChunkPlace after;
  ChunkPlace before;
  uint64_t chunks = 0;  // that it takes at least
};

bool SameWriter(const PlannedChunk& a, const PlannedChunk& b) {
  return a.head.row.family == b.head.row.family && a.head.row.thread == b.head.row.thread;
}

ChunkPlace PlaceOf(const PlannedChunk& chunk) { return {chunk.segment, chunk.head.id}; }

using Chunks = std::vector<PlannedChunk>::const_iterator;

Chunks EndOfWriter(Chunks first, Chunks end) {
  return std::find_if(first, end,
                      [&first](const PlannedChunk& chunk) { return !SameWriter(*first, chunk); });
}

void AddGaps(Chunks begin, Chunks end, bool begins_anywhere, std::vector<Gap>* gaps) {
  uint64_t largest = 1;
  for (Chunks chunk = begin; chunk != end; ++chunk) {
    largest = std::max<uint64_t>(largest, chunk->head.row.sequence_count);
  }
  uint64_t next = begins_anywhere ? begin->head.row.first_sequence : 0;
  ChunkPlace last{0, 0};
  for (Chunks chunk = begin; chunk != end; ++chunk) {
    const ChunkRow& row = chunk->head.row;
    if (row.first_sequence > next) {
      const uint64_t numbers = row.first_sequence - next;
      gaps->push_back({last, PlaceOf(*chunk), (numbers - 1) / largest + 1});
    }
    next = std::max(next, row.first_sequence + row.sequence_count);
    last = std::max(last, PlaceOf(*chunk));
  }
}

size_t UnexplainedChunks(const std::vector<ChunkPlace>& missing,
                         const std::vector<PlannedChunk>& chunks, bool begins_anywhere) {
  if (missing.empty()) return 0;
  std::vector<Gap> gaps;
  for (Chunks first = chunks.begin(); first != chunks.end();) {
    const Chunks end = EndOfWriter(first, chunks.end());
    AddGaps(first, end, begins_anywhere, &gaps);
    first = end;
  }
  // Those that end first have the fewest chunks to choose from.
  std::sort(gaps.begin(), gaps.end(),
            [](const Gap& a, const Gap& b) { return a.before < b.before; });
  std::set<ChunkPlace> left(missing.begin(), missing.end());
  for (const Gap& gap : gaps) {
    auto place = left.upper_bound(gap.after);
    for (uint64_t c = 0; c < gap.chunks && place != left.end() && *place < gap.before; ++c) {
      place = left.erase(place);
    }
  }
  return left.size();
}

// Some of the chunks up to |last_missing| may have been the last ones of each writer that has none
// behind it.
void MarkTailsBefore(const ChunkPlace& last_missing, const std::vector<PlannedChunk>& chunks,
                     ProcessTrace* process) {
  constexpr int64_t kBegin = std::numeric_limits<int64_t>::min();
  std::set<ThreadId> with_scopes;
  bool has_work = false;
  std::optional<int64_t> work_open_ns;
  for (Chunks first = chunks.begin(); first != chunks.end();) {
    const Chunks end = EndOfWriter(first, chunks.end());
    const ChunkRow& row = first->head.row;
    int64_t after_ns = kBegin;
    ChunkPlace last;
    for (Chunks chunk = first; chunk != end; ++chunk) {
      after_ns = std::max(after_ns, chunk->head.row.max_ns);
      last = std::max(last, PlaceOf(*chunk));
    }
    first = end;
    const bool is_open = last < last_missing;
    if (row.family == EventFamily::kThread) {
      const auto thread = static_cast<ThreadId>(row.thread);
      with_scopes.insert(thread);
      if (is_open) process->lost_scopes.push_back({thread, after_ns, kOpenEnded, false});
    } else if (row.family == EventFamily::kDevice) {
      has_work = true;
      if (is_open) work_open_ns = std::min(work_open_ns.value_or(after_ns), after_ns);
    }
  }
  for (const ThreadTrace& thread : process->threads) {
    if (with_scopes.contains(thread.ordinal)) continue;
    process->lost_scopes.push_back({thread.ordinal, kBegin, kOpenEnded, false});
  }
  if (!has_work && (process->device_kind != "none" || process->end_how.empty())) {
    work_open_ns = process->span_begin_ns;
  }
  if (work_open_ns) {
    process->unknown.push_back(
        {*work_open_ns, kOpenEnded, "the last chunks of device work may be missing"});
  }
}

}  // namespace

void NoteMissingChunks(const std::vector<PlannedChunk>& chunks,
                       const std::vector<ChunkPlace>& missing, bool begins_anywhere,
                       std::vector<Segment>* segments, ProcessTrace* process) {
  if (missing.empty() || UnexplainedChunks(missing, chunks, begins_anywhere) == 0) return;
  std::vector<size_t> found(segments->size());
  std::vector<size_t> expected(segments->size());
  for (const PlannedChunk& chunk : chunks) ++found[chunk.segment];
  for (const ChunkPlace& place : missing) ++expected[place.segment];
  for (size_t s = 0; s < segments->size(); ++s) {
    if (expected[s] != 0) (*segments)[s].NoteMissingChunks(found[s], found[s] + expected[s]);
  }
  MarkTailsBefore(missing.back(), chunks, process);
}

}  // namespace gpubound
