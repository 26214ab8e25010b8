// SPDX-License-Identifier: Apache-2.0
//
// Follows device work. One object, one caller.
#include "analysis/device_timeline.h"

#include <algorithm>

namespace gpubound {

DeviceTimeline::DeviceTimeline(const ProcessTrace& process, const EventSource& source,
                               const Interval& span, const std::vector<Interval>& unknown)
    : span_(span),
      unknown_(unknown),
      work_(source.Work()),
      classifier_(process),
      devices_(classifier_.devices()),
      clocks_(classifier_.devices()) {
  for (DeviceClock& clock : clocks_) clock.since_ns = span.begin_ns;
}

int64_t DeviceTimeline::NextTime() const {
  int64_t next_ns = heap_.empty() ? kOpenEnded : heap_.front().end_ns;
  if (work_.Peek() != nullptr) next_ns = std::min(next_ns, work_.Peek()->start_ns);
  if (next_unknown_ < unknown_.size()) {
    const Interval& edge = unknown_[next_unknown_];
    next_ns = std::min(next_ns, in_unknown_ ? edge.end_ns : edge.begin_ns);
  }
  return next_ns;
}

void DeviceTimeline::MoveTo(int64_t now_ns, const OnBegin& on_begin) {
  touched_.clear();
  for (const DeviceWork* next = work_.Peek(); next != nullptr && next->start_ns <= now_ns;
       next = work_.Peek()) {
    const GpuItem item = classifier_.Classify(*next);
    on_begin(*next, item);
    devices_[item.device].used = true;
    if (item.end_ns > now_ns) Begin(item);
    work_.Pop();
  }
  EndUntil(now_ns);
  const bool was_unknown = in_unknown_;
  while (next_unknown_ < unknown_.size() && unknown_[next_unknown_].end_ns <= now_ns) {
    ++next_unknown_;
  }
  in_unknown_ = next_unknown_ < unknown_.size() && unknown_[next_unknown_].begin_ns <= now_ns;
  if (in_unknown_ != was_unknown) RefreshAll(now_ns);
  for (const auto& [device, begun] : touched_) RefreshDevice(device, now_ns, begun);
}

void DeviceTimeline::SetPaused(bool paused, int64_t now_ns) {
  if (paused == paused_) return;
  paused_ = paused;
  RefreshAll(now_ns);
}

void DeviceTimeline::Begin(const GpuItem& item) {
  heap_.push_back(item);
  std::push_heap(heap_.begin(), heap_.end(), EndsLater);
  classes_.Enter(item.work_class);
  Device& device = devices_[item.device];
  if (device.running++ == 0) ++busy_devices_;
  AddFill(&device, item.fill);
  touched_.emplace_back(item.device, item.work);
}

void DeviceTimeline::EndUntil(int64_t now_ns) {
  while (!heap_.empty() && heap_.front().end_ns <= now_ns) {
    std::pop_heap(heap_.begin(), heap_.end(), EndsLater);
    const GpuItem item = heap_.back();
    heap_.pop_back();
    classes_.Leave(item.work_class);
    Device& device = devices_[item.device];
    if (--device.running == 0) --busy_devices_;
    AddFill(&device, -int64_t{item.fill});
    clocks_[item.device].last_work = item.work;
    touched_.emplace_back(item.device, WorkId{});
  }
}

void DeviceTimeline::AddFill(Device* device, int64_t fill) {
  fill_of_devices_ -= std::min<uint64_t>(device->fill, kFillOne);
  device->fill += static_cast<uint64_t>(fill);
  fill_of_devices_ += std::min<uint64_t>(device->fill, kFillOne);
}

void DeviceTimeline::RefreshAll(int64_t now_ns) {
  for (uint32_t device = 0; device < devices_.size(); ++device) {
    RefreshDevice(device, now_ns, WorkId{});
  }
}

void DeviceTimeline::RefreshDevice(uint32_t device, int64_t now_ns, WorkId begun) {
  DeviceClock& clock = clocks_[device];
  const DeviceState state = devices_[device].running != 0 ? DeviceState::kBusy
                            : unknown()                   ? DeviceState::kUnknown
                                                          : DeviceState::kIdle;
  if (state == clock.state) return;
  const int64_t at_ns = std::clamp(now_ns, span_.begin_ns, span_.end_ns);
  clock.busy_ns = clock.BusyAt(at_ns);
  clock.unknown_ns = clock.UnknownAt(at_ns);
  changes_.push_back({device, clock.state, begun});
  clock.state = state;
  clock.since_ns = at_ns;
}

}  // namespace gpubound
