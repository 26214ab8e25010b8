// SPDX-License-Identifier: Apache-2.0
//
// Numbers and bounds what is added. One object, one thread.
#include "analysis/import/foreign_trace.h"

#include <utility>

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
}

Status ForeignTrace::Add(CpuInterval interval) {
  if (!Takes(interval.start_ns, interval.end_ns)) return Ok{};
  See(interval.start_ns, interval.end_ns);
  if (interval.kind == CpuKind::kIteration) NoteStep(interval);
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

void ForeignTrace::DecideOnZeroTimes() {
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
