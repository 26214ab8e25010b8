// SPDX-License-Identifier: Apache-2.0
//
// Looks up ids, call after call. One object, one thread.
#include "analysis/import/import_lost.h"

#include <algorithm>

#include "analysis/trace/call_causes.h"
#include "proto/sync_calls.h"

namespace gpubound {
namespace {

// Whether a call waits for all that the process launched before, on |one_stream| or several.
bool WaitsForAll(std::string_view name, bool one_stream) {
  name = StripApiPrefix(StripApiVersion(name));
  return name == "DeviceSynchronize" || name == "CtxSynchronize" || name == "ThreadSynchronize" ||
         (one_stream && name == "StreamSynchronize");
}

}  // namespace

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

void LostLaunches::AddCall(const CpuInterval& call, std::string_view name) {
  // A graph may have been captured before the trace begins.
  if (ran_.empty() || (instantiates_ && !captures_any_)) return;
  const bool is_launch = call.result == 0 && call.correlation != 0 && LaunchesOneKernel(name);
  if (call.end_ns <= launch_.end_ns) {  // the driver's, within the runtime's
    launch_ran_ = launch_ran_ || (is_launch && ran_.Has(call.correlation));
    return;
  }
  if (open_ns_ == INT64_MAX && launch_ran_ && !is_launch) return;
  Decide();
  if (open_ns_ != INT64_MAX && WaitsForAll(name, one_stream_)) {
    Put({open_ns_, call.end_ns});
    open_ns_ = INT64_MAX;
  }
  if (!is_launch) return;
  launch_ = {call.start_ns, call.end_ns};
  launch_ran_ = ran_.Has(call.correlation);
}

void LostLaunches::Decide() {
  if (!launch_ran_ && !IsCaptured(launch_.begin_ns)) {
    ++count_;
    open_ns_ = std::min(open_ns_, launch_.begin_ns);
  }
  launch_ran_ = true;
}

void LostLaunches::EndThread() {
  Decide();
  if (open_ns_ != INT64_MAX) Put({open_ns_, INT64_MAX});
  open_ns_ = INT64_MAX;
  launch_ = {INT64_MAX, INT64_MIN};
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
