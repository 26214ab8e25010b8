// SPDX-License-Identifier: Apache-2.0
//
// Remembers when the iteration began. One object, one thread.
#include "analysis/output/export/iteration_marks.h"

#include <algorithm>

namespace gpubound {
namespace {

// The first iteration begins with the first operation; that of an importer with a step.
bool BeginsIterations(const ProcessTrace& process, const ThreadEvent& event) {
  return event.kind == SlotKind::kBegin && process.device_kind != "imported" &&
         process.LabelOf(event.label).kind == LabelKind::kOperation;
}

}  // namespace

std::optional<Interval> IterationMarks::Take(const ProcessTrace& process, uint32_t thread,
                                             const ThreadEvent& event) {
  if (!begin_ns_ && !thinned_ && BeginsIterations(process, event)) begin_ns_ = event.time_ns;
  if (event.kind != SlotKind::kStep) return std::nullopt;
  ending_.insert(thread);
  const std::optional<int64_t> begin_ns = begin_ns_;
  begin_ns_ = event.time_ns;
  const bool inside = event.time_ns > process.span_begin_ns && event.time_ns <= process.span_end_ns;
  if (!begin_ns || !inside || event.payload == kIterationsBegin) return std::nullopt;
  return Interval{std::max(*begin_ns, process.span_begin_ns), event.time_ns};
}

// Of a thread that has ended none, only the begin of the first could be missing.
void IterationMarks::Thin(uint32_t thread) {
  if (ending_.empty() || ending_.contains(thread)) begin_ns_.reset();
  thinned_ = true;
}

}  // namespace gpubound
