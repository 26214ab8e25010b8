// SPDX-License-Identifier: Apache-2.0
//
// Adds up. One object, one caller.
#include "analysis/device_meter.h"

#include <algorithm>

namespace gpubound {

DeviceMeter::DeviceMeter(const std::vector<Interval>& windows) {
  for (const Interval& window : windows) windows_.push_back({window, {}, SmiModel(window), 0});
}

void DeviceMeter::Begin(const Interval& work, WorkClass work_class, bool is_graph, size_t process) {
  const size_t band = BandOf(process);
  if (work_class != kCopy) {
    for (Window& window : windows_) window.smi.Add(work);
  }
  if (work.empty()) return;
  MoveTo(work.begin_ns);
  // Few run at once, and what begins last mostly ends last.
  const Running begun{work.end_ns, work_class, is_graph, band};
  works_.push_back(begun);
  for (size_t at = works_.size() - 1; at > 0; --at) {
    if (works_[at - 1].end_ns > begun.end_ns) break;
    works_[at] = works_[at - 1];
    works_[at - 1] = begun;
  }
  classes_.Enter(work_class);
  if (is_graph) ++running_graphs_;
  if (running_[band]++ == 0) ++busy_bands_;
}

void DeviceMeter::Visit(StateArchive& archive, int64_t from_ns) {
  VisitWindows(archive, from_ns);
  archive.All(works_, bands_, now_ns_);
  if (!archive.reads()) return;
  running_.assign(bands_.size(), 0);
  busy_bands_ = 0;
  running_graphs_ = 0;
  classes_ = {};
  for (const Running& running : works_) {
    if (running.band >= bands_.size()) return archive.Fail();
    classes_.Enter(running.work_class);
    if (running.is_graph) ++running_graphs_;
    if (running_[running.band]++ == 0) ++busy_bands_;
  }
}

void DeviceMeter::VisitWindows(StateArchive& archive, int64_t from_ns) {
  uint64_t count = windows_.size();
  archive.All(count);
  std::vector<Window> written;
  for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
    Interval time;
    if (!archive.reads()) time = windows_[i].time;
    archive.All(time);
    if (archive.reads()) written.push_back({time, {}, SmiModel(time), 0});
    archive.All(archive.reads() ? written.back() : windows_[i]);
  }
  if (!archive.reads()) return;
  for (Window& window : windows_) {
    if (window.time.begin_ns >= from_ns) continue;
    const auto same = std::find_if(written.begin(), written.end(), [&](const Window& other) {
      const bool goes_on = other.time.end_ns == kOpenEnded && window.time.end_ns >= from_ns;
      return other.time == window.time || (goes_on && other.time.begin_ns == window.time.begin_ns);
    });
    if (same == written.end()) return archive.Fail();
    window.by_state = same->by_state;
    window.smi = same->smi.Of(window.time);
    window.graph_ns = same->graph_ns;
  }
}

void DeviceMeter::Renumber(const std::vector<size_t>& numbers) {
  for (DeviceBand& band : bands_) band.process = numbers[band.process];
}

void DeviceMeter::EndLast() {
  const Running ended = works_.back();
  works_.pop_back();
  if (ended.end_ns > now_ns_) Pass(ended.end_ns);
  classes_.Leave(ended.work_class);
  if (ended.is_graph) --running_graphs_;
  if (--running_[ended.band] == 0) --busy_bands_;
}

// Some work has run until |until_ns|.
void DeviceMeter::Pass(int64_t until_ns) {
  const Interval passed{now_ns_, until_ns};
  now_ns_ = until_ns;
  for (Window& window : windows_) {
    const int64_t ns = passed.ClippedTo(window.time).length();
    window.by_state[classes_.mask()] += ns;
    if (running_graphs_ != 0) window.graph_ns += ns;
  }
  if (windows_.empty()) return;
  const int64_t ns = passed.ClippedTo(windows_.front().time).length();
  if (bands_.size() == 1) {
    bands_.front().alone_ns += ns;
    return;
  }
  for (size_t band = 0; band < bands_.size(); ++band) {
    if (running_[band] == 0) continue;
    (busy_bands_ == 1 ? bands_[band].alone_ns : bands_[band].contended_ns) += ns;
  }
}

size_t DeviceMeter::FindBand(size_t process) {
  for (size_t band = 0; band < bands_.size(); ++band) {
    if (bands_[band].process == process) return last_band_ = band;
  }
  bands_.push_back({process, 0, 0});
  running_.push_back(0);
  return last_band_ = bands_.size() - 1;
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
    sum.graph_ns = window.graph_ns;
    sum.smi_model = window.smi.Share();
  }
  return times;
}

}  // namespace gpubound
