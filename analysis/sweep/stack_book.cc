// SPDX-License-Identifier: Apache-2.0
//
// Counts looks. One object, one caller.
#include "analysis/sweep/stack_book.h"

#include <algorithm>
#include <utility>

namespace gpubound {

void StackBook::Add(uint32_t thread, const StackLooks& seen) {
  if (seen.looks == 0 || seen.end_ns < seen.start_ns) return;
  Thread& of = threads_[thread];
  if (of.seen.empty()) open_.push_back(thread);
  of.seen.push({seen.start_ns, seen.end_ns, seen.frame, seen.looks, seen.runnable});
}

int64_t StackBook::Seen::TimeOf(uint32_t look) const {
  if (looks < 2) return begin_ns;
  __extension__ using Wide = __int128;
  return begin_ns + static_cast<int64_t>(Wide{end_ns - begin_ns} * look / (looks - 1));
}

void StackBook::CountUntil(int64_t end_ns, int64_t started_ns, Thread* thread) {
  while (!thread->seen.empty()) {
    const Seen seen = thread->seen.front();
    for (; thread->counted < seen.looks; ++thread->counted) {
      const int64_t time_ns = seen.TimeOf(thread->counted);
      if (time_ns >= end_ns) return;
      if (time_ns < span_.begin_ns || time_ns >= span_.end_ns) continue;
      StackCount& count = thread->counts[{thread->operation, time_ns >= started_ns, seen.frame}];
      ++count.looks;
      count.runnable += seen.RunnableOf(thread->counted + 1) - seen.RunnableOf(thread->counted);
    }
    thread->seen.pop();
    thread->counted = 0;
  }
}

void StackBook::CloseCounted() {
  std::erase_if(open_, [this](uint32_t thread) { return threads_.at(thread).seen.empty(); });
}

StackCounts StackBook::Take(uint32_t thread, int64_t started_ns) {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return {};
  CountUntil(span_.end_ns, started_ns, &found->second);
  found->second.seen.clear();
  return std::move(found->second.counts);
}

void StackBook::Thread::Visit(StateArchive& archive) {
  archive.IndexBelow(archive.operations(), operation);
  archive.All(seen, counted);
  uint64_t count = counts.size();
  archive.All(count);
  auto next = counts.begin();
  for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
    StackPlace place = archive.reads() ? StackPlace{} : next->first;
    archive.IndexBelow(archive.operations(), place.operation);
    archive.All(place.started, place.frame);
    archive.All(archive.reads() ? counts[place] : (next++)->second);
  }
}

void StackBook::Visit(StateArchive& archive) {
  uint64_t count = threads_.size();
  archive.All(count);
  auto next = threads_.begin();
  for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
    uint32_t thread = archive.reads() ? 0 : next->first;
    archive.All(thread);
    Thread& of = archive.reads() ? threads_[thread] : (next++)->second;
    of.Visit(archive);
    if (archive.reads() && !of.seen.empty()) open_.push_back(thread);
  }
  if (archive.reads() && archive.failed()) threads_.clear(), open_.clear();
}

}  // namespace gpubound
