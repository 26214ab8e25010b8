// SPDX-License-Identifier: Apache-2.0
//
// Looks up ids, call after call. One object, one thread.
#include "analysis/trace/lost_launches.h"

#include <algorithm>

#include "analysis/trace/call_causes.h"
#include "proto/sync_calls.h"

namespace gpubound {

LostLaunches::CallKind LostLaunches::KindOf(std::string_view name) {
  if (LaunchesOneKernel(name)) return CallKind::kLaunch;
  name = StripApiPrefix(StripApiVersion(name));
  if (name == "DeviceSynchronize" || name == "CtxSynchronize" || name == "ThreadSynchronize") {
    return CallKind::kWaitsForDevice;
  }
  return name == "StreamSynchronize" ? CallKind::kWaitsForStream : CallKind::kOther;
}

bool LostLaunches::InstantiatesGraph(std::string_view name) {
  return StripApiPrefix(name).starts_with("GraphInstantiate");
}

bool LostLaunches::IsCaptured(int64_t time_ns) {
  if (!edges_.empty()) {
    std::stable_sort(edges_.begin(), edges_.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    int64_t depth = 0;
    for (const CaptureEdge& edge : edges_) {
      if (edge.begins && depth++ == 0) captures_.push_back({edge.time_ns, INT64_MAX});
      if (!edge.begins && depth > 0 && --depth == 0) captures_.back().end_ns = edge.time_ns;
    }
    edges_.clear();
  }
  const auto after =
      std::upper_bound(captures_.begin(), captures_.end(), time_ns,
                       [](int64_t ns, const Interval& capture) { return ns < capture.begin_ns; });
  return after != captures_.begin() && time_ns < (after - 1)->end_ns;
}

void LostLaunches::AddCall(const Call& call, Thread* thread) {
  // A graph may have been captured before the trace begins.
  if (ran_.empty() || (instantiates_ && !captures_any_)) return;
  const bool is_launch =
      call.kind == CallKind::kLaunch && call.result == 0 && call.correlation != 0;
  if (call.time.end_ns <= thread->launch.end_ns) {  // the driver's, within the runtime's
    thread->launch_ran = thread->launch_ran || (is_launch && ran_.Has(call.correlation));
    return;
  }
  if (thread->open_ns == INT64_MAX && thread->launch_ran && !is_launch) return;
  Decide(thread);
  if (thread->open_ns != INT64_MAX && WaitsForAll(call.kind)) {
    Put({thread->open_ns, call.time.end_ns});
    thread->open_ns = INT64_MAX;
  }
  if (!is_launch) return;
  thread->launch = call.time;
  thread->launch_ran = ran_.Has(call.correlation);
}

void LostLaunches::Decide(Thread* thread) {
  if (!thread->launch_ran && !IsCaptured(thread->launch.begin_ns)) {
    ++count_;
    thread->open_ns = std::min(thread->open_ns, thread->launch.begin_ns);
  }
  thread->launch_ran = true;
}

void LostLaunches::EndThread(Thread* thread) {
  Decide(thread);
  if (thread->open_ns != INT64_MAX) Put({thread->open_ns, INT64_MAX});
  *thread = {};
}

// Of very many every two neighbours become one.
void LostLaunches::Put(const Interval& time) {
  when_.push_back(time);
  if (when_.size() < kMostIntervals) return;
  std::sort(when_.begin(), when_.end(),
            [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
  for (size_t i = 0; i < when_.size() / 2; ++i) {
    when_[i] = {when_[2 * i].begin_ns, std::max(when_[2 * i].end_ns, when_[2 * i + 1].end_ns)};
  }
  when_.resize(when_.size() / 2);
}

}  // namespace gpubound
