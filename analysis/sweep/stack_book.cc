// SPDX-License-Identifier: Apache-2.0
//
// Counts looks. One object, one caller.
#include "analysis/sweep/stack_book.h"

#include <algorithm>
#include <utility>

#include "analysis/trace/python_frames.h"

namespace gpubound {

void StackBook::Add(const StackLooks& seen) {
  if (seen.looks == 0 || seen.end_ns < seen.start_ns) return;
  seen_.push({seen});
}

void StackBook::Count(const Seen& seen, bool started, uint32_t first, uint32_t until) {
  if (first >= until) return;
  StackCount& count = counts_[{operation_, started, seen.frame, synchronises_}];
  count.looks += until - first;
  count.runnable += seen.RunnableOf(until) - seen.RunnableOf(first);
}

void StackBook::CountUntil(int64_t end_ns) {
  while (!seen_.empty()) {
    const Seen seen = seen_.front();
    const uint32_t until = std::max(counted_, LooksBefore(seen, end_ns));
    const uint32_t first = std::max(counted_, LooksBefore(seen, span_.begin_ns));
    const uint32_t last = std::min(until, LooksBefore(seen, span_.end_ns));
    const uint32_t started = LooksBefore(seen, started_ns_);
    Count(seen, /*started=*/false, first, std::min(last, started));
    Count(seen, /*started=*/true, std::max(first, started), last);
    counted_ = until;
    if (until < seen.looks) return;
    seen_.pop();
    counted_ = 0;
  }
}

void StackBook::Enter(const Doing& doing) {
  operation_ = doing.operation();
  synchronises_ = doing.layer() == Layer::kCudaSync;
}

void StackBook::Follow(const Doing& at_begin, int64_t begin_ns,
                       std::span<const ThreadChange> changes, int64_t end_ns) {
  if (seen_.empty()) return;
  CountUntil(begin_ns);
  Enter(at_begin);
  for (const ThreadChange& change : changes) {
    const bool synchronises = change.doing.layer() == Layer::kCudaSync;
    if (change.doing.operation() == operation_ && synchronises == synchronises_) continue;
    CountUntil(change.time_ns);
    Enter(change.doing);
  }
  CountUntil(end_ns);
}

StackCounts StackBook::Take() {
  CountUntil(span_.end_ns);
  seen_.clear();
  return std::move(counts_);
}

void StackBook::Visit(StateArchive& archive) {
  archive.IndexBelow(archive.operations(), operation_);
  archive.All(synchronises_, seen_, counted_);
  uint64_t count = counts_.size();
  archive.All(count);
  auto next = counts_.begin();
  for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
    StackPlace place = archive.reads() ? StackPlace{} : next->first;
    archive.IndexBelow(archive.operations(), place.operation);
    archive.All(place.started, place.frame, place.synchronises);
    archive.All(archive.reads() ? counts_[place] : (next++)->second);
  }
}

}  // namespace gpubound
