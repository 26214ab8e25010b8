// SPDX-License-Identifier: Apache-2.0
//
// Numbers and bounds what is added. One object, one thread.
#include "analysis/import/foreign_trace.h"

#include <utility>

#include "analysis/import/import_torch_names.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/plausible_time.h"
#include "proto/given_names.h"

namespace gpubound {

bool ForeignTrace::Takes(int64_t start_ns, int64_t end_ns) {
  if (start_ns <= end_ns && IsPlausibleTime(start_ns) && IsPlausibleTime(end_ns)) return true;
  ++malformed;
  return false;
}

void ForeignTrace::See(int64_t start_ns, int64_t end_ns) {
  first_ns = std::min(first_ns, start_ns);
  last_ns = std::max(last_ns, end_ns);
  if (!decided_) times_.See(start_ns, end_ns);
}

Status ForeignTrace::Add(CpuInterval interval) {
  if (!Takes(interval.start_ns, interval.end_ns)) return Ok{};
  if (interval.start_ns == 0 && interval.end_ns == 0) {
    has_zero_events_ = true;
  } else {
    See(interval.start_ns, interval.end_ns);
    if (interval.kind == CpuKind::kIteration) NoteStep(interval);
  }
  NoteThread(interval);
  interval.order = order_++;
  return cpu.Add(interval);
}

// Of threads that begin together the one with the smaller id, so that the order of the file decides
// nothing.
void ForeignTrace::NoteStep(const CpuInterval& iteration) {
  const std::vector<ForeignThread>& threads = names.threads();
  const ForeignThread& thread = threads[iteration.thread];
  ForeignProcess& process = names.processes()[thread.process];
  const bool is_first = process.stepping_thread == kNoIndex ||
                        std::pair(iteration.start_ns, thread.id) <
                            std::pair(process.first_step_ns, threads[process.stepping_thread].id);
  if (!is_first) return;
  process.stepping_thread = iteration.thread;
  process.first_step_ns = iteration.start_ns;
}

Status ForeignTrace::Add(ForeignWork item) {
  if (!Takes(item.start_ns, item.end_ns)) return Ok{};
  item.timed = !item.ended || item.start_ns != 0 || item.end_ns != 0;
  if (!item.timed) {
    has_zero_times_ = true;
    untimed.Expect(item.correlation);
  } else if (item.ended) {
    See(item.start_ns, item.end_ns);
  } else {
    ++unended;
  }
  item.order = order_++;
  return work.Add(item);
}

void ForeignTrace::NoteThread(const CpuInterval& interval) {
  ForeignThread& thread = names.threads()[interval.thread];
  ++thread.events;
  if (interval.label == LabelId{}) return;
  const gpubound::Label& label = names.labels()[Raw(interval.label)];
  if (label.kind == LabelKind::kLayer && IsBackwardNode(label.text)) ++thread.backward_nodes;
  const bool serves = label.kind == LabelKind::kAnnotation &&
                      !IsLibraryAnnotation(label.domain, label.text) &&
                      interval.kind != CpuKind::kCall;
  if (label.kind != LabelKind::kOperation && !serves) return;
  thread.has_operation = true;
  thread.has_operation_time |= interval.end_ns > interval.start_ns;
  if (!IsTorchsOwnRange(label.text)) names.processes()[thread.process].annotated = true;
}

void ForeignTrace::DecideOnTimes() {
  if (decided_) return;
  decided_ = true;
  const ForeignTimes::Extent extent = times_.Decide();
  if (!extent.empty()) {
    first_ns = extent.first_ns;
    last_ns = extent.last_ns;
    outlier_distance_ns = extent.distance_ns;
  }
  // Times that count from 0 begin there, or close to it.
  if (has_zero_events_) {
    const bool is_all = first_ns > last_ns;
    const auto length = static_cast<double>(last_ns) - static_cast<double>(first_ns);
    const auto far = std::max(static_cast<double>(first_ns), -static_cast<double>(last_ns));
    zero_is_an_events_time = is_all || far <= length;
    if (zero_is_an_events_time) See(0, 0);
  }
  if (!has_zero_times_) return;
  const bool is_all = first_ns > last_ns;
  zero_is_a_time = !begins_at_zero && (is_all || (first_ns <= 0 && last_ns >= 0));
  if (zero_is_a_time || is_all) See(0, 0);
}

Status ForeignTrace::AddOtherEnd(const ForeignWork& added, WorkInfo info, std::string_view name,
                                 uint32_t device, uint32_t context) {
  ForeignWork other = added;
  other.bytes = 0;
  info.copy_kind |= kCopyOtherEnd;
  other.work = Raw(names.Work(info, std::string(name).append(kOtherEnd)));
  // As recorded: nobody names a stream there, and none of the device's own has number 0.
  other.stream = Raw(names.Stream(device, context, 0));
  if (other.ended) ++other_ends;
  return Add(other);
}

Status ForeignTrace::Add(ForeignSync sync) {
  if (!Takes(sync.start_ns, sync.end_ns)) return Ok{};
  sync.order = order_++;
  return syncs.Add(sync);
}

}  // namespace gpubound
