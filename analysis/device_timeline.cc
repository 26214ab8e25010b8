// SPDX-License-Identifier: Apache-2.0
//
// Follows device work. One object, one caller.
#include "analysis/device_timeline.h"

namespace gpubound {

DeviceTimeline::DeviceTimeline(const ProcessTrace& process, const EventSource& source,
                               const Interval& span, const std::vector<Interval>& unknown)
    : span_(span),
      unknown_(unknown),
      work_(source.Work()),
      classifier_(process),
      devices_(classifier_.devices()),
      place_(classifier_.devices(), kNotUsed) {
  last_.begin_ns = span.begin_ns;
  FindNext();
}

void DeviceTimeline::FindNext() {
  next_ns_ = running_.empty() ? kOpenEnded : running_.back().end_ns;
  if (!begins_.empty()) next_ns_ = std::min(next_ns_, begins_.front().begin_ns);
  if (next_unknown_ < unknown_.size()) {
    const Interval& edge = unknown_[next_unknown_];
    next_ns_ = std::min(next_ns_, in_unknown_ ? edge.end_ns : edge.begin_ns);
  }
}

void DeviceTimeline::Run(int64_t begin_ns, int64_t end_ns, bool paused) {
  OpenWindow();
  if (next_ns_ <= begin_ns) Step(begin_ns);
  if (paused != paused_) {
    paused_ = paused;
    RefreshAll(begin_ns);
    AddSegment(begin_ns);
  }
  while (next_ns_ < end_ns) Step(next_ns_);
  CloseWindow();
}

void DeviceTimeline::Meet(uint32_t device) {
  place_[device] = static_cast<uint32_t>(devices_used_.size());
  devices_used_.push_back(device);
}

void DeviceTimeline::OpenWindow() {
  changes_.clear();
  window_.all.assign(1, last_);
  if (devices_used_.size() > 1) window_.each.resize(devices_used_.size());
  for (size_t i = 0; i < window_.each.size(); ++i) {
    window_.each[i].assign(1, {last_.begin_ns, devices_[devices_used_[i]].state});
  }
}

void DeviceTimeline::CloseWindow() {
  last_ = window_.all.back();
  window_.all.emplace_back().begin_ns = kOpenEnded;
  for (std::vector<DeviceSegment>& each : window_.each) each.push_back({kOpenEnded, {}});
}

void DeviceTimeline::Step(int64_t now_ns) {
  touched_.clear();
  for (; !begins_.empty() && begins_.front().begin_ns <= now_ns; begins_.pop()) {
    devices_[begins_.front().device].used = true;
    if (begins_.front().end_ns > now_ns) Begin(begins_.front());
  }
  EndUntil(now_ns);
  if (next_unknown_ < unknown_.size()) MoveUnknown(now_ns);
  for (const Touched& touched : touched_) RefreshDevice(touched.device, now_ns, touched.begun);
  AddSegment(now_ns);
  FindNext();
}

void DeviceTimeline::MoveUnknown(int64_t now_ns) {
  const bool was_unknown = in_unknown_;
  while (next_unknown_ < unknown_.size() && unknown_[next_unknown_].end_ns <= now_ns) {
    ++next_unknown_;
  }
  in_unknown_ = next_unknown_ < unknown_.size() && unknown_[next_unknown_].begin_ns <= now_ns;
  if (in_unknown_ != was_unknown) RefreshAll(now_ns);
}

void DeviceTimeline::Begin(const GpuItem& item) {
  // Few run at once, and what begins last mostly ends last.
  auto at = running_.begin();
  while (at != running_.end() && at->end_ns > item.end_ns) ++at;
  running_.insert(at, item);
  classes_.Enter(item.work_class);
  Device& device = devices_[item.device];
  if (device.running++ == 0) ++busy_devices_;
  AddFill(&device, item.fill);
  touched_.push_back({item.device, item.work});
}

void DeviceTimeline::EndUntil(int64_t now_ns) {
  for (; !running_.empty() && running_.back().end_ns <= now_ns; running_.pop_back()) {
    const GpuItem& item = running_.back();
    classes_.Leave(item.work_class);
    Device& device = devices_[item.device];
    if (--device.running == 0) --busy_devices_;
    AddFill(&device, -int64_t{item.fill});
    device.last_work = item.work;
    touched_.push_back({item.device, WorkId{}});
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

void DeviceTimeline::RefreshDevice(uint32_t id, int64_t now_ns, WorkId begun) {
  Device& device = devices_[id];
  const DeviceState state = device.running != 0 ? DeviceState::kBusy
                            : unknown()         ? DeviceState::kUnknown
                                                : DeviceState::kIdle;
  if (state == device.state) return;
  changes_.push_back({now_ns, id, device.state, state, device.used, begun, device.last_work});
  device.state = state;
  if (place_[id] < window_.each.size()) {
    window_.each[place_[id]].push_back({Clipped(now_ns), state});
  }
}

void DeviceTimeline::AddSegment(int64_t now_ns) {
  const GpuSegment& before = window_.all.back();
  GpuSegment now;
  now.begin_ns = Clipped(now_ns);
  now.mix = classes_.mask() | (unknown() ? kUnrecordedBit : 0);
  now.running = static_cast<uint32_t>(running_.size());
  now.fill = busy_devices_ == 0   ? 0
             : busy_devices_ == 1 ? fill_of_devices_
                                  : fill_of_devices_ / busy_devices_;
  const int64_t ns = now.begin_ns - before.begin_ns;
  now.sum_ns = before.sum_ns + int64_t{before.running} * ns;
  now.filled = before.filled + static_cast<FilledTime>(before.fill) * static_cast<uint64_t>(ns);
  window_.all.push_back(now);
}

}  // namespace gpubound
