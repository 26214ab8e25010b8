// SPDX-License-Identifier: Apache-2.0
//
// Numbers and bounds what is added. One object, one thread.
#include "analysis/foreign_trace.h"

#include "analysis/plausible_time.h"

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
  interval.order = order_++;
  return cpu.Add(interval);
}

Status ForeignTrace::Add(ForeignWork item) {
  if (!Takes(item.start_ns, item.end_ns)) return Ok{};
  See(item.start_ns, item.end_ns);
  item.order = order_++;
  return work.Add(item);
}

Status ForeignTrace::AddOtherEnd(const ForeignWork& added, WorkInfo info, std::string_view name,
                                 uint32_t device, uint32_t context) {
  ForeignWork other = added;
  other.bytes = 0;
  info.copy_kind |= kCopyOtherEnd;
  other.work = Raw(names.Work(info, std::string(name).append(kOtherEnd)));
  // As recorded: nobody names a stream there, and none of the device's own has number 0.
  other.stream = Raw(names.Stream(device, context, 0));
  ++other_ends;
  return Add(other);
}

Status ForeignTrace::Add(ForeignSync sync) {
  if (!Takes(sync.start_ns, sync.end_ns)) return Ok{};
  sync.order = order_++;
  return syncs.Add(sync);
}

}  // namespace gpubound
