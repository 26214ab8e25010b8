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
#include "analysis/thread_stream.h"
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
      if (!part.empty()) ns_[{state.operation(), state.doing().layer()}] += part.length();
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
        events_(source.ThreadEvents(thread)),
        calls_(source.Calls()) {
    SkipOtherThreads();
  }

  int64_t NextTime() const {
    const int64_t call_ns = calls_.Peek() != nullptr ? calls_.Peek()->call.start_ns : kOpenEnded;
    return std::min({events_.NextTime(), call_ns, state_.next_call_end_ns()});
  }
  void Advance() {
    const int64_t now_ns = NextTime();
    state_.EndCalls(now_ns);
    while (events_.NextTime() <= now_ns) {
      if (events_.gap()) state_.Resync(events_.TakeGap(), &step_);
      Apply(events_.Peek());
      events_.Pop();
    }
    while (calls_.Peek() != nullptr && calls_.Peek()->call.start_ns <= now_ns) {
      const ApiCall& call = calls_.Peek()->call;
      if (call.end_ns > now_ns) state_.BeginCall(call.label, call.end_ns, &step_);
      calls_.Pop();
      SkipOtherThreads();
    }
    step_.Clear();
  }

 private:
  void Apply(const ThreadEvent& event) {
    if (event.kind == SlotKind::kBegin) {
      state_.Begin(event.label, &step_);
    } else if (event.kind == SlotKind::kEnd) {
      state_.End(event.label, &step_);
    } else if (event.kind == SlotKind::kRangeStart) {
      state_.StartRange(event.label, event.payload, &step_);
    } else if (event.kind == SlotKind::kRangeEnd) {
      state_.CloseRange(event.payload, &step_);
    }
  }
  void SkipOtherThreads() {
    while (calls_.Peek() != nullptr && calls_.Peek()->thread != thread_) calls_.Pop();
  }

  const uint32_t thread_;
  ThreadState& state_;
  ThreadStream events_;
  RecordStream<ThreadCall> calls_;
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
