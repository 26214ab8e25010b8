// SPDX-License-Identifier: Apache-2.0
//
// Follows gaps until what ends them is known. One object, one caller.
#include "analysis/sweep/queued_time.h"

#include <algorithm>
#include <utility>

namespace gpubound {

// Of several that begin at once the one that was launched first tells.
void QueuedTime::Ender::Join(const Ender& other) {
  if (other.launched_ns > launched_ns) return;
  waits = other.waits && (waits || other.launched_ns < launched_ns);
  launched_ns = other.launched_ns;
}

void QueuedTime::Work::Add(const Ender& ender, int64_t end_ns) {
  if (end_ns <= ender.begin_ns) return;  // takes no time, so it ends no gap
  if (ender.begin_ns > busy_until_ns) {
    enders.push_back(ender);
  } else if (!enders.empty() && enders.back().begin_ns == ender.begin_ns) {
    enders.back().Join(ender);
  }
  busy_until_ns = std::max(busy_until_ns, end_ns);
}

IdleCause QueuedTime::Work::CauseOf(int64_t begin_ns, int64_t end_ns) {
  while (!enders.empty() && enders.front().begin_ns < end_ns) enders.pop_front();
  if (enders.empty() || enders.front().begin_ns != end_ns) return IdleCause::kUnknown;
  const Ender ender = enders.front();
  enders.pop_front();
  if (ender.launched_ns > begin_ns) return IdleCause::kUnknown;
  return ender.waits ? IdleCause::kEventWait : IdleCause::kQueued;
}

void QueuedTime::Work::Visit(StateArchive& archive) {
  std::vector<Ender> waiting(enders.begin(), enders.end());
  archive.All(busy_until_ns, waiting);
  if (archive.reads()) enders = {waiting.begin(), waiting.end()};
}

void QueuedTime::Sums::Add(uint64_t key, int64_t ns) {
  if (key != last_key_) {
    if (last_ns_ != 0) ns_[last_key_] += last_ns_;
    last_key_ = key;
    last_ns_ = 0;
  }
  last_ns_ += ns;
}

void QueuedTime::Sums::AddAll(const Sums& other) {
  for (const auto& [key, ns] : other.ns_) Add(key, ns);
  if (other.last_ns_ != 0) Add(other.last_key_, other.last_ns_);
}

void QueuedTime::Sums::clear() {
  last_ns_ = 0;
  if (!ns_.empty()) ns_.clear();
}

QueuedTime::Sums::List QueuedTime::Sums::Sorted() const {
  std::unordered_map<uint64_t, int64_t> all = ns_;
  if (last_ns_ != 0) all[last_key_] += last_ns_;
  List sums(all.begin(), all.end());
  std::sort(sums.begin(), sums.end());
  return sums;
}

void QueuedTime::Sums::Visit(StateArchive& archive) {
  List sums = Sorted();
  archive.All(sums);
  if (!archive.reads()) return;
  clear();
  for (const auto& [key, ns] : sums) {
    const uint64_t cause = key & ((uint64_t{1} << kCauseBits) - 1);
    if (key >> kCauseBits >= archive.operations() || cause >= kIdleCauses) return archive.Fail();
    Add(key, ns);
  }
}

QueuedTime::QueuedTime(size_t devices, const Interval& span, const Doing& doing)
    : span_(span), devices_(devices), before_(doing), since_ns_(span.begin_ns) {
  for (Device& device : devices_) device.gap.from_ns = span.begin_ns;
  together_.gap.from_ns = span.begin_ns;
}

int64_t QueuedTime::Clipped(int64_t time_ns) const {
  return std::clamp(time_ns, span_.begin_ns, span_.end_ns);
}

int64_t QueuedTime::BeginOf(size_t stretch) const {
  if (stretch < 2) return stretch == 0 ? since_ns_ : begin_ns_;
  return Clipped(cpu_[stretch - 2].time_ns);
}

void QueuedTime::Add(const GpuItem& work, int64_t launched_ns, bool waits) {
  const Ender ender = {work.begin_ns, launched_ns, waits};
  devices_[work.device].work.Add(ender, work.end_ns);
  together_.work.Add(ender, work.end_ns);
}

void QueuedTime::OpenWindow(int64_t begin_ns, const Doing& at_begin,
                            std::span<const ThreadChange> cpu) {
  begin_ns_ = Clipped(begin_ns);
  at_begin_ = at_begin;
  cpu_ = cpu;
  at_ = 0;
}

template <typename OnStretch>
void QueuedTime::Stretch(int64_t until_ns, Gap* gap, OnStretch on_stretch) const {
  for (size_t at = gap->at; gap->from_ns < until_ns; ++at) {
    const int64_t end_ns = at + 1 < Stretches() ? std::min(until_ns, BeginOf(at + 1)) : until_ns;
    if (end_ns <= gap->from_ns) continue;
    on_stretch(DoingIn(at), end_ns - gap->from_ns);
    gap->from_ns = end_ns;
  }
}

// What the CPU does from the window's last stretch on, the next window may take.
void QueuedTime::CloseWindow() {
  const size_t last = Stretches() - 1;
  const int64_t last_ns = BeginOf(last);
  for (Device& device : devices_) {
    const bool matters = device.used || &device == &devices_.back();
    if (!matters || !device.gap.open) continue;
    Stretch(last_ns, &device.gap,
            [&](const Doing& doing, int64_t ns) { device.pending.Add(doing, ns); });
    device.gap.at = 0;
  }
  if (together_.gap.open) {
    Stretch(last_ns, &together_.gap, [&](const Doing& doing, int64_t ns) {
      together_.pending[static_cast<size_t>(doing.cause())] += ns;
    });
    together_.gap.at = 0;
  }
  before_ = DoingIn(last);
  since_ns_ = last_ns;
}

void QueuedTime::Follow(int64_t now_ns) {
  while (at_ + 1 < Stretches() && BeginOf(at_ + 1) <= now_ns) ++at_;
}

void QueuedTime::Open(int64_t time_ns, Gap* gap) const {
  *gap = {true, time_ns, Clipped(time_ns), at_};
}

// Until now it did what all do that are not used.
void QueuedTime::Meet(Device* device) {
  device->used = true;
  device->gap = devices_.back().gap;
  device->pending.clear();
  device->pending.AddAll(devices_.back().pending);
}

IdleCause QueuedTime::TakeChange(const DeviceChange& change) {
  const int64_t now_ns = Clipped(change.time_ns);
  Follow(now_ns);
  Device& device = devices_[change.device];
  const bool begins = change.to == DeviceState::kBusy;
  if (&device == &devices_.back()) together_.unknown = change.to == DeviceState::kUnknown;
  if (begins && !device.used) Meet(&device);
  together_.busy += begins ? 1 : 0;
  together_.busy -= change.from == DeviceState::kBusy ? 1 : 0;
  IdleCause cause = IdleCause::kUnknown;
  if (device.gap.open) {
    if (begins) cause = device.work.CauseOf(device.gap.begin_ns, change.time_ns);
    if (cause != IdleCause::kUnknown) {
      const bool queued = cause == IdleCause::kQueued;
      Sums& sums = queued ? device.queued : device.event_wait;
      const int64_t begin_ns = std::max(device.gap.begin_ns, span_.begin_ns);
      if (begin_ns < now_ns) ++(queued ? device.queued_gaps : device.event_wait_gaps);
      sums.AddAll(device.pending);
      Stretch(now_ns, &device.gap, [&](const Doing& doing, int64_t ns) { sums.Add(doing, ns); });
    }
    device.pending.clear();
    device.gap.open = false;
  }
  if (change.to == DeviceState::kIdle) Open(change.time_ns, &device.gap);
  return cause;
}

// All changes of |time_ns| are known. The cause of the gap that ended there; kUnknown without one.
IdleCause QueuedTime::TogetherFrom(int64_t time_ns) {
  const bool idle = together_.busy == 0 && !together_.unknown;
  if (idle == together_.gap.open) return IdleCause::kUnknown;
  IdleCause cause = IdleCause::kUnknown;
  if (idle) {
    Open(time_ns, &together_.gap);
  } else {
    together_.gap.open = false;
    if (together_.busy != 0) cause = together_.work.CauseOf(together_.gap.begin_ns, time_ns);
    if (cause != IdleCause::kUnknown) {
      IdleTimes& sums = cause == IdleCause::kQueued ? together_.queued : together_.event_wait;
      for (size_t i = 0; i < kIdleCauses; ++i) sums[i] += together_.pending[i];
      Stretch(Clipped(time_ns), &together_.gap, [&](const Doing& doing, int64_t ns) {
        sums[static_cast<size_t>(doing.cause())] += ns;
      });
    }
    together_.pending = {};
  }
  return cause;
}

QueuedPart QueuedTime::TakePart(int64_t now_ns) {
  if (together_.gap.open) {
    const int64_t ns = now_ns - together_.gap.from_ns;
    if (ns > 0) together_.pending[static_cast<size_t>(before_.cause())] += ns;
    together_.gap.from_ns = std::max(together_.gap.from_ns, now_ns);
    together_.spans_parts = true;
  }
  const QueuedPart part = {std::exchange(together_.queued, {}),
                           std::exchange(together_.event_wait, {}),
                           std::exchange(together_.pending, {}), together_.gap.open};
  return part;
}

void QueuedTime::Visit(StateArchive& archive, const Doing& doing) {
  before_ = doing;
  const size_t known = devices_.size();
  Device unused = std::move(devices_.back());
  devices_.pop_back();
  archive.All(unused, devices_, together_, since_ns_);
  if (devices_.size() >= known) return archive.Fail();
  devices_.resize(known);
  for (Device& device : devices_) {
    if (!device.used) device.gap = unused.gap;
  }
  devices_.back() = std::move(unused);
}

std::vector<QueuedIdle> QueuedTime::Take() {
  std::vector<QueuedIdle> all;
  for (const Device& device : devices_) {
    QueuedIdle& of = all.emplace_back();
    of.queued_gaps = device.queued_gaps;
    of.event_wait_gaps = device.event_wait_gaps;
    for (const auto& [sums, to] : {std::pair(&device.queued, IdleCause::kQueued),
                                   std::pair(&device.event_wait, IdleCause::kEventWait)}) {
      for (const auto& [key, ns] : sums->Sorted()) {
        of.moved.push_back({static_cast<OperationIndex>(key >> Sums::kCauseBits),
                            static_cast<IdleCause>(key & ((1u << Sums::kCauseBits) - 1)), to, ns});
      }
    }
  }
  return all;
}

}  // namespace gpubound
