// SPDX-License-Identifier: Apache-2.0
//
// Looks for the longest call in each stretch. No state.
#include "analysis/attribution/long_calls.h"

#include <algorithm>

#include "analysis/base/interval.h"
#include "analysis/trace/idle_cause.h"
#include "proto/sync_calls.h"

namespace gpubound {
namespace {

constexpr int64_t kLongPart = 20;  // of the span

struct Stretch {
  ReportGap* gap;
  Interval time;  // as events are timed
  int64_t shared_ns = 0;
};

}  // namespace

void NameLongCalls(const ProcessTrace& process, const EventSource& source,
                   std::vector<ReportGap>* gaps) {
  const int64_t span_ns = process.span_end_ns - process.span_begin_ns;
  std::vector<Stretch> stretches;
  int64_t last_end_ns = 0;
  for (ReportGap& gap : *gaps) {
    if (gap.cause != IdleCauseName(IdleCause::kLaunch) || gap.ns < span_ns / kLongPart) continue;
    const int64_t begin_ns = process.span_begin_ns + gap.begin_ns;
    stretches.push_back({&gap, {begin_ns, begin_ns + gap.ns}});
    last_end_ns = std::max(last_end_ns, begin_ns + gap.ns);
  }
  if (stretches.empty()) return;
  for (RecordStream<ThreadCall> calls(source.Calls()); calls.Peek() != nullptr; calls.Pop()) {
    const ApiCall& call = calls.Peek()->call;
    if (call.start_ns >= last_end_ns) break;
    for (Stretch& stretch : stretches) {
      const int64_t shared_ns = std::min(call.end_ns, stretch.time.end_ns) -
                                std::max(call.start_ns, stretch.time.begin_ns);
      if (shared_ns <= stretch.shared_ns) continue;  // of nested calls the outer one comes first
      stretch.shared_ns = shared_ns;
      stretch.gap->call = StripApiVersion(process.LabelOf(call.label).text);
      stretch.gap->call_ns = call.end_ns - call.start_ns;
    }
  }
  for (const Stretch& stretch : stretches) {
    if (2 * stretch.shared_ns >= stretch.time.length()) continue;
    stretch.gap->call.clear();
    stretch.gap->call_ns = 0;
  }
}

}  // namespace gpubound
