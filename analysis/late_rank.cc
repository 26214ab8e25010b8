// SPDX-License-Identifier: Apache-2.0
//
// Replays the reporting thread and books what holds during the stretches asked for.
#include "analysis/late_rank.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "analysis/event_source.h"
#include "analysis/label_roles.h"
#include "analysis/memory_source.h"
#include "analysis/thread_scan.h"
#include "analysis/thread_state.h"
#include "analysis/work_classes.h"

namespace gpubound {
namespace {

class ActivityBook {
 public:
  // |when|: ascending, disjoint.
  explicit ActivityBook(std::vector<Interval> when) : when_(std::move(when)) {}

  // |state| held from the time of the last call to |until_ns|.
  void Pass(const ThreadState& state, int64_t until_ns) {
    for (; next_ < when_.size() && when_[next_].begin_ns < until_ns; ++next_) {
      const Interval part =
          when_[next_].ClippedTo({std::max(since_ns_, when_[next_].begin_ns), until_ns});
      if (!part.empty()) ns_[{state.operation(), state.layer()}] += part.length();
      if (when_[next_].end_ns > until_ns) break;
    }
    since_ns_ = until_ns;
  }

  std::vector<ReportActivity> Finish(const std::vector<std::string>& operations) const {
    std::vector<ReportActivity> activities;
    for (const auto& [what, ns] : ns_) {
      const auto& [operation, layer] = what;
      activities.push_back(
          {operation == kNotOne ? kNoOperation : operations[operation], LayerName(layer), ns});
    }
    std::stable_sort(activities.begin(), activities.end(),
                     [](const auto& a, const auto& b) { return a.ns > b.ns; });
    return activities;
  }

 private:
  const std::vector<Interval> when_;
  size_t next_ = 0;
  int64_t since_ns_ = INT64_MIN;
  std::map<std::pair<OperationIndex, Layer>, int64_t> ns_;
};

// The reporting thread's events and calls, one instant after the other.
class ThreadReplay {
 public:
  ThreadReplay(const EventSource& source, uint32_t thread, ThreadState* state)
      : thread_(thread),
        state_(*state),
        cursor_(source.ThreadEvents(thread)),
        calls_(source.Calls()) {
    FetchEvent();
    FetchCall();
  }

  int64_t NextTime() const {
    int64_t next_ns = has_event_ ? batch_.events[next_event_].time_ns : kOpenEnded;
    if (calls_.Peek() != nullptr) next_ns = std::min(next_ns, calls_.Peek()->call.start_ns);
    for (const int64_t end_ns : call_ends_) next_ns = std::min(next_ns, end_ns);
    return next_ns;
  }
  void Advance() {
    const int64_t now_ns = NextTime();
    std::erase_if(call_ends_, [now_ns](int64_t end_ns) { return end_ns <= now_ns; });
    state_.EndCalls(now_ns);
    while (has_event_ && batch_.events[next_event_].time_ns <= now_ns) {
      state_.Apply(batch_.events[next_event_++], &step_);
      FetchEvent();
    }
    while (calls_.Peek() != nullptr && calls_.Peek()->call.start_ns <= now_ns) {
      const ApiCall call = calls_.Peek()->call;
      if (call.end_ns > now_ns) {
        state_.BeginCall(call, &step_);
        call_ends_.push_back(call.end_ns);
      }
      calls_.Pop();
      FetchCall();
    }
    step_.Clear();
  }

 private:
  void FetchEvent() {
    while (has_event_ && next_event_ >= batch_.events.size()) {
      next_event_ = 0;
      has_event_ = cursor_->Next(&batch_);
      if (has_event_ && batch_.resync) state_.Resync(batch_.open, &step_);
    }
  }
  void FetchCall() {
    while (calls_.Peek() != nullptr && calls_.Peek()->thread != thread_) calls_.Pop();
  }

  const uint32_t thread_;
  ThreadState& state_;
  std::unique_ptr<ThreadCursor> cursor_;
  ThreadBatch batch_;
  size_t next_event_ = 0;
  bool has_event_ = true;
  RecordStream<ThreadCall> calls_;
  std::vector<int64_t> call_ends_;
  ThreadStep step_;
};

}  // namespace

std::vector<ReportActivity> WhatItDid(const ProcessTrace& process, std::vector<Interval> when,
                                      const ReportOptions& options) {
  const Interval span{process.span_begin_ns, process.span_end_ns};
  for (Interval& interval : when) interval = interval.ClippedTo(span);
  when = Union(std::move(when));
  if (when.empty()) return {};
  const int64_t end_ns = when.back().end_ns;
  const std::shared_ptr<const EventSource> source = SourceOf(process);
  LabelRoles::Input input;
  const std::vector<Peer> no_peers;
  input.promoted = &options.operations;
  input.annotations_serve = !OpensOperations(process, *source);
  input.peers = &no_peers;
  const LabelRoles roles(process, input);
  ThreadState state(&roles, process.python ? Layer::kPython : Layer::kNative);
  ActivityBook book(std::move(when));
  const uint32_t reporting = ScanThreads(process, *source, roles).reporting;
  if (reporting != kNotOne) {
    ThreadReplay replay(*source, reporting, &state);
    for (int64_t next_ns = replay.NextTime(); next_ns < end_ns; next_ns = replay.NextTime()) {
      book.Pass(state, next_ns);
      replay.Advance();
    }
  }
  book.Pass(state, end_ns);
  return book.Finish(roles.operations());
}

}  // namespace gpubound
