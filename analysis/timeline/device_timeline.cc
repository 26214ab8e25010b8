// SPDX-License-Identifier: Apache-2.0
//
// Follows device work. One object, one caller.
#include "analysis/timeline/device_timeline.h"

#include <span>

namespace gpubound {

DeviceTimeline::DeviceTimeline(const Input& input)
    : span_(input.span),
      unknown_(*input.unknown),
      activity_(*input.activity),
      work_(input.source->Work()),
      classifier_(*input.process),
      devices_(classifier_.devices() + 1),
      place_(devices_.size(), kNotUsed) {
  last_.begin_ns = span_.begin_ns;
  FindNext();
}

void DeviceTimeline::Visit(StateArchive& archive) {
  const size_t known = devices_.size();
  Device unused = devices_.back();
  devices_.pop_back();
  archive.All(unused, devices_);
  if (devices_.size() >= known) return archive.Fail();
  devices_.resize(known, unused);
  archive.All(classifier_, in_unknown_, paused_, running_, devices_used_, busy_devices_,
              fill_of_devices_, last_);
  if (!archive.reads()) return;
  if (!IsSound()) return archive.Fail();
  if (paused_) NotePause(span_.begin_ns);  // or later, but before what is not summed
  for (const GpuItem& item : running_) {
    classes_.Enter(item.work_class);
    if (!item.other_end) ++counted_;
    if (item.is_graph) ++running_graphs_;
  }
  for (size_t i = 0; i < devices_used_.size(); ++i) {
    const uint32_t id = devices_used_[i];
    place_[id] = static_cast<uint32_t>(i);
    devices_[id].active = RunningOn(id);
    activity_.BeginWith(id, devices_[id].active);
  }
  FindNext();
}

// Of what was read: every number has its place.
bool DeviceTimeline::IsSound() const {
  const auto is_device = [this](uint32_t device) { return device + 1 < place_.size(); };
  return last_.mix < kGpuMixes &&
         std::all_of(devices_used_.begin(), devices_used_.end(), is_device) &&
         std::all_of(running_.begin(), running_.end(),
                     [&](const GpuItem& item) { return is_device(item.device); });
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
    NotePause(begin_ns);
    RefreshAll(begin_ns);
    AddSegment(begin_ns);
  }
  if (IsOneDeviceUntil(end_ns)) RunOneDevice(end_ns);
  while (next_ns_ < end_ns) Step(next_ns_);
  CloseWindow();
}

void DeviceTimeline::NotePause(int64_t now_ns) {
  if (paused_) {
    pauses_.push_back({now_ns, kOpenEnded});
  } else {
    pauses_.back().end_ns = now_ns;
  }
}

void DeviceTimeline::Meet(uint32_t device) {
  place_[device] = static_cast<uint32_t>(devices_used_.size());
  devices_used_.push_back(device);
}

void DeviceTimeline::OpenWindow() {
  changes_.clear();
  window_.all.clear();
  window_.all.push_back(last_);
  if (devices_used_.size() > 1) window_.each.resize(devices_used_.size());
  for (size_t i = 0; i < window_.each.size(); ++i) {
    window_.each[i].assign(1, {last_.begin_ns, devices_[devices_used_[i]].state});
  }
}

void DeviceTimeline::CloseWindow() {
  last_ = window_.all.back();
  GpuSegment end;
  end.begin_ns = kOpenEnded;
  window_.all.push_back(end);
  for (std::vector<DeviceSegment>& each : window_.each) each.push_back({kOpenEnded, {}});
}

void DeviceTimeline::Step(int64_t now_ns) {
  touched_.clear();
  for (; !begins_.empty() && begins_.front().begin_ns <= now_ns; begins_.pop()) {
    devices_[begins_.front().device].used = true;
    if (begins_.front().end_ns <= now_ns) continue;
    Begin(begins_.front());
    touched_.push_back({begins_.front().device, begins_.front().work});
  }
  EndUntil(now_ns);
  if (next_unknown_ < unknown_.size()) MoveUnknown(now_ns);
  for (const Touched& touched : touched_) {
    RefreshDevice(touched.device, now_ns, touched.begun);
    NoteActivity(touched.device, now_ns);
  }
  AddSegment(now_ns);
  FindNext();
}

bool DeviceTimeline::IsOneDeviceUntil(int64_t end_ns) const {
  if (devices_used_.size() != 1 || unknown()) return false;
  return next_unknown_ == unknown_.size() || unknown_[next_unknown_].begin_ns >= end_ns;
}

// Steps where nothing but the work of one device happens: nearly all there are. What changes from
// one to the next stays in registers, and each segment is written where it belongs: put together
// elsewhere and copied in wider pieces, it would be waited for.
void DeviceTimeline::RunOneDevice(int64_t end_ns) {
  const uint32_t id = devices_used_.front();
  Device& device = devices_[id];
  ActiveSet classes = classes_;
  uint32_t counted = counted_;
  uint32_t graphs = running_graphs_;
  uint64_t fill = device.fill;
  DeviceState state = device.state;
  RunningWork active = device.active;
  const std::span<const GpuItem> waiting = begins_.waiting();
  const GpuItem* begins = waiting.data();
  const GpuItem* const begins_end = begins + waiting.size();
  running_.Room(waiting.size());
  GpuItem* const bottom = running_.begin();
  GpuItem* top = running_.end();
  // Each step begins or ends some work.
  GpuSegment* next = window_.all.Room(2 * waiting.size() + running_.size());
  int64_t begin_ns = begins != begins_end ? begins->begin_ns : kOpenEnded;
  int64_t work_end_ns = top == bottom ? kOpenEnded : top[-1].end_ns;
  for (;;) {
    const int64_t now_ns = std::min(begin_ns, work_end_ns);
    if (now_ns >= end_ns) break;
    WorkId begun{};
    while (begin_ns <= now_ns) {
      const GpuItem& item = *begins++;
      if (item.end_ns > now_ns) {
        if (top == bottom) begun = item.work;
        PutByEnd(item, bottom, top++);
        classes.Enter(item.work_class);
        counted += item.other_end ? 0 : 1;
        graphs += item.is_graph ? 1 : 0;
        device.ran_graph |= item.is_graph;
        fill += item.fill;
        work_end_ns = top[-1].end_ns;
      }
      begin_ns = begins != begins_end ? begins->begin_ns : kOpenEnded;
    }
    while (work_end_ns <= now_ns) {
      const GpuItem& item = *--top;
      classes.Leave(item.work_class);
      counted -= item.other_end ? 0 : 1;
      graphs -= item.is_graph ? 1 : 0;
      fill -= item.fill;
      device.last_work = item.work;
      work_end_ns = top == bottom ? kOpenEnded : top[-1].end_ns;
    }
    const DeviceState before = state;
    state = top == bottom ? DeviceState::kIdle : DeviceState::kBusy;
    if (state != before) {
      changes_.push_back({now_ns, id, before, state, begun, device.last_work});
    }
    const RunningWork active_before = active;
    active = classes.mask() | (graphs != 0 ? kGraphRuns : 0);
    if (active != active_before) activity_.Add(id, now_ns, active);
    MoveSegment(now_ns, next[-1], next);
    next->mix = classes.mask();
    next->running = counted;
    next->fill = static_cast<Fill>(std::min<uint64_t>(fill, kFillOne));
    next->in_graph = graphs != 0;
    ++next;
  }
  window_.all.AddUntil(next);
  running_.AddUntil(top);
  if (begins != waiting.data()) {
    device.used = true;
    begins_.PopUntil(begins);
  }
  classes_ = classes;
  counted_ = counted;
  running_graphs_ = graphs;
  device.fill = fill;
  device.state = state;
  device.active = active;
  device.running = static_cast<uint32_t>(running_.size());
  busy_devices_ = running_.empty() ? 0 : 1;
  fill_of_devices_ = std::min<uint64_t>(fill, kFillOne);
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
  GpuItem* const top = running_.Add();
  PutByEnd(item, running_.begin(), top);
  classes_.Enter(item.work_class);
  if (!item.other_end) ++counted_;
  Device& device = devices_[item.device];
  if (device.running++ == 0) ++busy_devices_;
  if (item.is_graph) {
    ++running_graphs_;
    device.ran_graph = true;
  }
  AddFill(&device, item.fill);
}

// What ends next, which the caller takes off the list, is no longer counted.
const GpuItem& DeviceTimeline::EndLast() {
  const GpuItem& item = running_.back();
  classes_.Leave(item.work_class);
  if (!item.other_end) --counted_;
  Device& device = devices_[item.device];
  if (--device.running == 0) --busy_devices_;
  if (item.is_graph) --running_graphs_;
  AddFill(&device, -int64_t{item.fill});
  return item;
}

void DeviceTimeline::EndUntil(int64_t now_ns) {
  for (; !running_.empty() && running_.back().end_ns <= now_ns; running_.pop_back()) {
    const GpuItem& item = EndLast();
    devices_[item.device].last_work = item.work;
    touched_.push_back({item.device, WorkId{}});
  }
}

// Of all that runs, which is little.
RunningWork DeviceTimeline::RunningOn(uint32_t device) const {
  RunningWork active = 0;
  for (const GpuItem& item : running_) {
    if (item.device != device) continue;
    active |= 1u << item.work_class | (item.is_graph ? kGraphRuns : 0);
  }
  return active;
}

void DeviceTimeline::NoteActivity(uint32_t device, int64_t now_ns) {
  const RunningWork active = RunningOn(device);
  if (active == devices_[device].active) return;
  devices_[device].active = active;
  activity_.Add(device, now_ns, active);
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
  changes_.push_back({now_ns, id, device.state, state, begun, device.last_work});
  device.state = state;
  if (place_[id] < window_.each.size()) {
    window_.each[place_[id]].push_back({Clipped(now_ns), state});
  }
}

Fill DeviceTimeline::FillNow() const {
  if (busy_devices_ == 1) return static_cast<Fill>(fill_of_devices_);
  return busy_devices_ == 0 ? 0 : static_cast<Fill>(fill_of_devices_ / busy_devices_);
}

void DeviceTimeline::AddSegment(int64_t now_ns) {
  GpuSegment now;
  MoveSegment(now_ns, window_.all.back(), &now);
  now.mix = classes_.mask() | (unknown() ? kUnrecordedBit : 0);
  now.running = counted_;
  now.fill = FillNow();
  now.in_graph = running_graphs_ != 0;
  window_.all.push_back(now);
}

}  // namespace gpubound
