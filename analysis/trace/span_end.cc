// SPDX-License-Identifier: Apache-2.0
//
// No state.
#include "analysis/trace/span_end.h"

#include <algorithm>

#include "analysis/trace/plausible_time.h"

namespace gpubound {

Interval KnownLifeOf(const ProcessTrace& process) {
  Interval known{kOpenEnded, INT64_MIN};
  const auto see = [&known](int64_t begin_ns, int64_t end_ns) {
    known.begin_ns = std::min(known.begin_ns, begin_ns);
    known.end_ns = std::max(known.end_ns, end_ns);
  };
  for (const ThreadTrace& thread : process.threads) {
    for (const ThreadEvent& event : thread.events) see(event.time_ns, event.time_ns);
    for (const ApiCall& call : thread.calls) see(call.start_ns, call.end_ns);
  }
  for (const DeviceWork& work : process.device_work) see(work.start_ns, work.end_ns);
  const auto see_alive = [&known](int64_t time_ns) {
    if (IsPlausibleTime(time_ns)) known.end_ns = std::max(known.end_ns, time_ns);
  };
  for (const ClockSample& sample : process.clock_samples) see_alive(sample.monotonic_ns);
  for (const DeviceSample& sample : process.utilization) see_alive(sample.sample.time_ns);
  for (const ProcessTreeSample& sample : process.process_tree) see_alive(sample.time_ns);
  return known;
}

const char* SpanEndName(SpanEnd end) {
  switch (end) {
    case SpanEnd::kClosed:
      break;
    case SpanEnd::kAsked:
      return "as asked";
    case SpanEnd::kReplaced:
      return "replaced by exec";
    case SpanEnd::kLauncherWait:
      return "launcher's wait";
    case SpanEnd::kGoesOn:
      return "still running";
    case SpanEnd::kLastEvent:
      return "last event";
  }
  return "closed";
}

std::string SpanEndText(SpanEnd end) {
  if (end == SpanEnd::kAsked) return "recording ended as asked, the process went on";
  if (end == SpanEnd::kGoesOn) return "still running: what it had recorded until now";
  const bool closed = end == SpanEnd::kClosed || end == SpanEnd::kReplaced;
  return std::string(closed ? "" : "not closed: ends at the ") + SpanEndName(end);
}

}  // namespace gpubound
