// SPDX-License-Identifier: Apache-2.0
//
// The events of one thread, one at a time, with a look at what has been read of the future: until
// when it is known, and at which instants something happens that concerns the whole process. Those
// are phases, steps, pauses, and ends of ranges that another thread may have started; windows of
// the timeline begin there. Holds a batch until the last event has passed. One object, one
// caller.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_THREAD_STREAM_H_
#define GPUBOUND_ANALYSIS_TIMELINE_THREAD_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "analysis/trace/event_source.h"

namespace gpubound {

class ThreadStream {
 public:
  // Of no events.
  ThreadStream() = default;
  // Open; |source| outlives the object.
  ThreadStream(const EventSource& source, uint32_t thread);

  // While the first event is still to come: keeps nothing but its time, until Open(). In between
  // only NextTime() may be asked.
  void Close();
  void Open() {
    if (closed_) OpenSlowPath();
  }

  // Time of the next event; kOpenEnded when there is none.
  int64_t NextTime() const { return next_ns_; }
  // There is one; valid until Pop().
  const ThreadEvent& Peek() const { return *next_; }
  void Pop() {
    ++next_;
    if (next_ == end_) Refill();
    next_ns_ = next_ != end_ ? next_->time_ns : kOpenEnded;
  }
  // Events are missing before the next one.
  bool gap() const { return gap_; }
  // Says what is open now, and forgets the gap.
  std::span<const LabelId> TakeGap() {
    gap_ = false;
    return batch_.open;
  }

  // Every event before it has been read, but for about |most|; kOpenEnded at the end.
  int64_t KnownUntil(size_t most) const {
    if (next_ == end_) return kOpenEnded;
    const auto left = static_cast<size_t>(end_ - next_);
    return next_[left <= most ? left - 1 : most].time_ns;
  }

  // Of what has been read, the first instant after |now_ns| that concerns the whole process;
  // kOpenEnded when there is none.
  int64_t NextCut(int64_t now_ns) {
    while (next_cut_ < cuts_.size() && cuts_[next_cut_] <= now_ns) ++next_cut_;
    return next_cut_ < cuts_.size() ? cuts_[next_cut_] : kOpenEnded;
  }

 private:
  void OpenSlowPath();
  void Refill();
  void DropAll();
  void FindCuts();

  const EventSource* source_ = nullptr;
  uint32_t thread_ = 0;
  bool closed_ = false;
  std::unique_ptr<ThreadCursor> cursor_;
  ThreadBatch batch_;
  const ThreadEvent* next_ = nullptr;
  const ThreadEvent* end_ = nullptr;
  int64_t next_ns_ = kOpenEnded;
  bool gap_ = false;
  std::vector<int64_t> cuts_;  // of the batch
  size_t next_cut_ = 0;
  std::unordered_multiset<uint64_t> ranges_;  // started by this thread and not ended by it
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_THREAD_STREAM_H_
