// SPDX-License-Identifier: Apache-2.0
//
// Replays the reporting thread and books what holds during the stretches asked for.
#include "analysis/late_rank.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
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
  explicit ActivityBook(std::vector<TaggedInterval> when) : when_(std::move(when)) {}

  // |state| held from the time of the last call to |until_ns|.
  void Pass(const ThreadState& state, int64_t until_ns) {
    for (; next_ < when_.size() && when_[next_].time.begin_ns < until_ns; ++next_) {
      const Interval& time = when_[next_].time;
      const Interval part = time.ClippedTo({std::max(since_ns_, time.begin_ns), until_ns});
      if (!part.empty()) {
        ns_[{when_[next_].tag, state.operation(), state.doing().layer()}] += part.length();
      }
      if (time.end_ns > until_ns) break;
    }
    since_ns_ = until_ns;
  }

  std::vector<std::vector<ReportActivity>> Finish(
      size_t tags, const std::vector<std::string>& operations) const {
    std::vector<std::vector<ReportActivity>> activities(tags);
    for (const auto& [what, ns] : ns_) {
      const auto& [tag, operation, layer] = what;
      activities[tag].push_back(
          {operation == kNotOne ? kNoOperation : operations[operation], LayerName(layer), ns});
    }
    for (std::vector<ReportActivity>& of_tag : activities) {
      std::stable_sort(of_tag.begin(), of_tag.end(),
                       [](const auto& a, const auto& b) { return a.ns > b.ns; });
    }
    return activities;
  }

 private:
  const std::vector<TaggedInterval> when_;
  size_t next_ = 0;
  int64_t since_ns_ = INT64_MIN;
  std::map<std::tuple<size_t, OperationIndex, Layer>, int64_t> ns_;
};

// The reporting thread's events and calls, one instant after the other.
class ThreadReplay {
 public:
  ThreadReplay(const EventSource& source, uint32_t thread, ThreadState* state)
      : thread_(thread), state_(*state), events_(source, thread), calls_(source.Calls()) {
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
  std::vector<TaggedInterval> tagged;
  for (const Interval& time : Union(std::move(when))) tagged.push_back({time, 0});
  return std::move(WhatItDidByTag(process, tagged, 1, options).front());
}

std::vector<std::vector<ReportActivity>> WhatItDidByTag(const ProcessTrace& process,
                                                        const std::vector<TaggedInterval>& when,
                                                        size_t tags, const ReportOptions& options) {
  const Interval span{process.span_begin_ns, process.span_end_ns};
  std::vector<TaggedInterval> inside;
  for (const TaggedInterval& interval : when) {
    const Interval time = interval.time.ClippedTo(span);
    if (!time.empty()) inside.push_back({time, interval.tag});
  }
  if (inside.empty()) return std::vector<std::vector<ReportActivity>>(tags);
  const int64_t end_ns = inside.back().time.end_ns;
  const std::shared_ptr<const EventSource> source = SourceOf(process);
  LabelRoles::Input input;
  const std::vector<Peer> no_peers;
  input.promoted = &options.operations;
  input.annotations_serve = !OpensOperations(process, *source);
  input.peers = &no_peers;
  const LabelRoles roles(process, input);
  ThreadState state(&roles, process.python ? Layer::kPython : Layer::kNative);
  ActivityBook book(std::move(inside));
  const uint32_t reporting = ScanThreads(process, *source, roles).reporting;
  if (reporting != kNotOne) {
    ThreadReplay replay(*source, reporting, &state);
    for (int64_t next_ns = replay.NextTime(); next_ns < end_ns; next_ns = replay.NextTime()) {
      book.Pass(state, next_ns);
      replay.Advance();
    }
  }
  book.Pass(state, end_ns);
  return book.Finish(tags, roles.operations());
}

}  // namespace gpubound
