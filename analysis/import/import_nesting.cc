// SPDX-License-Identifier: Apache-2.0
//
// Sweeps over one thread's intervals. One object, one caller.
#include "analysis/import/import_nesting.h"

#include <algorithm>
#include <utility>

namespace gpubound {

ThreadNesting::ThreadNesting(Emit emit, uint64_t* next_range)
    : emit_(std::move(emit)), next_range_(next_range) {}

void ThreadNesting::Add(const CpuInterval& interval) {
  EndUntil(interval.start_ns);
  Open open{interval.end_ns, places_++, 0, interval.label, SlotKind::kEnd};
  // Everything open ends no earlier than the heap's top.
  const bool outlasts = !open_.empty() && open_.front().end_ns < interval.end_ns;
  if (interval.kind == CpuKind::kIteration) {
    open.payload = static_cast<uint64_t>(interval.number);
    open.end_kind = SlotKind::kStep;
    // A step ends an iteration, and the next one begins there. What lies before the first, or
    // between two, is part of none.
    if (iterations_open_++ == 0 && iterated_until_ns_ != interval.start_ns) {
      emit_({interval.start_ns, kIterationsBegin, LabelId{0}, SlotKind::kStep});
    }
  } else if (interval.kind == CpuKind::kRange || outlasts) {
    open.payload = (*next_range_)++;
    open.end_kind = SlotKind::kRangeEnd;
    emit_({interval.start_ns, open.payload, interval.label, SlotKind::kRangeStart});
  } else {
    emit_({interval.start_ns, 0, interval.label, SlotKind::kBegin});
  }
  open_.push_back(open);
  std::push_heap(open_.begin(), open_.end());
  // One of no length is over before what begins at the same instant.
  if (interval.end_ns == interval.start_ns) EndUntil(interval.start_ns);
}

void ThreadNesting::Finish() {
  while (!open_.empty()) EndNext();
}

void ThreadNesting::EndUntil(int64_t time_ns) {
  while (!open_.empty() && open_.front().end_ns <= time_ns) EndNext();
}

void ThreadNesting::EndNext() {
  std::pop_heap(open_.begin(), open_.end());
  const Open& ended = open_.back();
  if (ended.end_kind == SlotKind::kStep) {
    --iterations_open_;
    iterated_until_ns_ = ended.end_ns;
  }
  emit_({ended.end_ns, ended.payload, ended.label, ended.end_kind});
  open_.pop_back();
}

}  // namespace gpubound
