// SPDX-License-Identifier: Apache-2.0
//
// Adds up. One object, one caller.
#include "analysis/device_meter.h"

#include <algorithm>

namespace gpubound {

DeviceMeter::DeviceMeter(const std::vector<Interval>& windows) {
  for (const Interval& window : windows) windows_.push_back({window, {}, SmiModel(window)});
}

void DeviceMeter::Begin(const Interval& work, WorkClass work_class, size_t process) {
  const size_t band = BandOf(process);
  if (work_class != kCopy) {
    for (Window& window : windows_) window.smi.Add(work);
  }
  if (work.empty()) return;
  MoveTo(work.begin_ns);
  heap_.push_back({work.end_ns, work_class, band});
  std::push_heap(heap_.begin(), heap_.end(), EndsLater);
  classes_.Enter(work_class);
  if (running_[band]++ == 0) ++busy_bands_;
}

void DeviceMeter::MoveTo(int64_t now_ns) {
  while (!heap_.empty() && heap_.front().end_ns <= now_ns) {
    Pass(heap_.front().end_ns);
    std::pop_heap(heap_.begin(), heap_.end(), EndsLater);
    classes_.Leave(heap_.back().work_class);
    if (--running_[heap_.back().band] == 0) --busy_bands_;
    heap_.pop_back();
  }
  Pass(now_ns);
}

void DeviceMeter::Pass(int64_t until_ns) {
  const Interval passed{now_ns_, until_ns};
  now_ns_ = until_ns;
  const GpuState state = classes_.mask();
  if (state == kGpuIdle || passed.empty()) return;
  for (Window& window : windows_) {
    const int64_t ns = passed.ClippedTo(window.time).length();
    window.by_state[state] += ns;
  }
  if (windows_.empty()) return;
  const int64_t ns = passed.ClippedTo(windows_.front().time).length();
  for (size_t band = 0; band < bands_.size(); ++band) {
    if (running_[band] == 0) continue;
    (busy_bands_ == 1 ? bands_[band].alone_ns : bands_[band].contended_ns) += ns;
  }
}

size_t DeviceMeter::BandOf(size_t process) {
  if (last_band_ < bands_.size() && bands_[last_band_].process == process) return last_band_;
  for (size_t band = 0; band < bands_.size(); ++band) {
    if (bands_[band].process == process) return last_band_ = band;
  }
  bands_.push_back({process, 0, 0});
  running_.push_back(0);
  return bands_.size() - 1;
}

std::vector<DeviceTime> DeviceMeter::Finish() {
  MoveTo(INT64_MAX);
  std::vector<DeviceTime> times;
  for (Window& window : windows_) {
    DeviceTime& sum = times.emplace_back();
    for (GpuState state = 1; state < kGpuUnknown; ++state) {
      const int64_t ns = window.by_state[state];
      sum.busy_ns += ns;
      if (HasClass(state, kCompute)) sum.compute_ns += ns;
      if (HasClass(state, kComm)) sum.comm_ns += ns;
      if (HasClass(state, kCopy)) sum.copy_ns += ns;
    }
    sum.smi_model = window.smi.Share();
  }
  return times;
}

}  // namespace gpubound
