// SPDX-License-Identifier: Apache-2.0
//
// Cuts a thread's events at its steps. No state.
#include "analysis/correction/loop_iterations.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace gpubound {
namespace {

constexpr size_t kFarthest = 10;        // iterations away from the suspended one
constexpr uint64_t kScopesWithin = 20;  // one in so many more or fewer scopes are as many

// Follows the events of one thread.
class Cutter {
 public:
  void Add(const ThreadEvent& event) {
    switch (event.kind) {
      case SlotKind::kBegin:
        ++current_.scopes;
        return;
      case SlotKind::kStep:
        EndIteration(event.time_ns);
        return;
      case SlotKind::kSuspension:
        event.payload == 0 ? Suspend(event.time_ns) : GoOn(event);
        return;
      default:
        return;
    }
  }
  bool suspends() const { return suspends_; }
  std::vector<LoopIteration> Take() { return std::move(iterations_); }

 private:
  void EndIteration(int64_t now_ns) {
    if (begun_) {
      current_.end_ns = now_ns;
      // Whole once the mark behind this step says how many scopes it opened.
      if (current_.suspended) current_.whole = false;
      iterations_.push_back(current_);
    }
    begun_ = true;
    current_ = {};
    current_.begin_ns = now_ns;
  }
  void Suspend(int64_t now_ns) {
    suspends_ = true;
    current_.suspended = true;
    if (now_ns != current_.begin_ns) current_.whole = false;
  }
  void GoOn(const ThreadEvent& mark) {
    if (!iterations_.empty() && iterations_.back().suspended &&
        iterations_.back().end_ns == mark.time_ns) {
      iterations_.back().whole = true;
      iterations_.back().scopes = mark.payload - 1;
    } else {
      current_.whole = false;
    }
  }

  std::vector<LoopIteration> iterations_;
  LoopIteration current_;
  bool begun_ = false;
  bool suspends_ = false;
};

bool AreLike(const LoopIteration& suspended, const LoopIteration& recorded) {
  if (recorded.suspended || !recorded.whole) return false;
  const uint64_t few = std::min(suspended.scopes, recorded.scopes);
  const uint64_t many = std::max(suspended.scopes, recorded.scopes);
  return (many - few) * kScopesWithin <= many;
}

}  // namespace

std::vector<LoopIteration> LoopIterations(const ProcessTrace& process, const EventSource& source) {
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    Cutter cutter;
    const std::unique_ptr<ThreadCursor> cursor = source.ThreadEvents(t);
    ThreadBatch batch;
    while (cursor->Next(&batch)) {
      for (const ThreadEvent& event : batch.events) cutter.Add(event);
    }
    if (cutter.suspends()) return cutter.Take();
  }
  return {};
}

std::vector<LikeIterations> MatchSuspended(const std::vector<LoopIteration>& iterations) {
  std::vector<LikeIterations> matched;
  for (size_t i = 0; i < iterations.size(); ++i) {
    const LoopIteration& suspended = iterations[i];
    if (!suspended.suspended || !suspended.whole || suspended.scopes == 0) continue;
    LikeIterations like;
    like.suspended = i;
    const size_t first = i < kFarthest ? 0 : i - kFarthest;
    const size_t end = std::min(iterations.size(), i + kFarthest + 1);
    for (size_t other = first; other < end; ++other) {
      if (other != i + 1 && AreLike(suspended, iterations[other])) like.recorded.push_back(other);
    }
    if (!like.recorded.empty()) matched.push_back(std::move(like));
  }
  return matched;
}

}  // namespace gpubound
