// SPDX-License-Identifier: Apache-2.0
//
// The GPU side of a process: what its devices do at each instant, and how long each of them has
// been busy, or unknown, so far. Follows the stream of device work and holds what runs at one
// instant. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_DEVICE_TIMELINE_H_
#define GPUBOUND_ANALYSIS_DEVICE_TIMELINE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/event_source.h"
#include "analysis/gpu_work.h"
#include "analysis/interval.h"
#include "analysis/work_classes.h"

namespace gpubound {

// Fill times nanoseconds: 2^30 times a span of years does not fit into 64 bits.
__extension__ typedef unsigned __int128 FilledTime;

enum class DeviceState : uint8_t { kIdle, kBusy, kUnknown };

// Time of one device by state, over the span so far.
struct DeviceClock {
  DeviceState state = DeviceState::kIdle;
  int64_t since_ns = 0;
  int64_t busy_ns = 0;
  int64_t unknown_ns = 0;
  WorkId last_work{};  // that ended last

  int64_t BusyAt(int64_t now_ns) const {
    return busy_ns + (state == DeviceState::kBusy ? now_ns - since_ns : 0);
  }
  int64_t UnknownAt(int64_t now_ns) const {
    return unknown_ns + (state == DeviceState::kUnknown ? now_ns - since_ns : 0);
  }
};

class DeviceTimeline {
 public:
  // A device that went from one state to another at an instant.
  struct Change {
    uint32_t device;
    DeviceState from;
    WorkId begun;  // the first work that began on it at this instant; none if it only ended
  };
  using OnBegin = std::function<void(const DeviceWork&, const GpuItem&)>;

  // |unknown| is disjoint and ascending. Everything outlives the object.
  DeviceTimeline(const ProcessTrace& process, const EventSource& source, const Interval& span,
                 const std::vector<Interval>& unknown);

  int64_t NextTime() const;

  // Processes everything until |now_ns|, which is NextTime() or before. |on_begin| is called for
  // each piece of work that begins, also for those without length, in order.
  void MoveTo(int64_t now_ns, const OnBegin& on_begin);

  // Recording is off or on again, from |now_ns| on.
  void SetPaused(bool paused, int64_t now_ns);

  GpuState state() const {
    return classes_.mask() != 0 ? classes_.mask() : unknown() ? kGpuUnknown : kGpuIdle;
  }
  int64_t running() const { return static_cast<int64_t>(heap_.size()); }
  uint64_t fill() const { return busy_devices_ == 0 ? 0 : fill_of_devices_ / busy_devices_; }

  const std::vector<DeviceClock>& clocks() const { return clocks_; }  // by DeviceId
  bool used(uint32_t device) const { return devices_[device].used; }
  const std::vector<Change>& changes() const { return changes_; }
  void ClearChanges() { changes_.clear(); }
  const WorkClassifier& classifier() const { return classifier_; }

 private:
  struct Device {
    int64_t running = 0;
    uint64_t fill = 0;
    bool used = false;
  };
  static bool EndsLater(const GpuItem& a, const GpuItem& b) { return a.end_ns > b.end_ns; }
  bool unknown() const { return in_unknown_ || paused_; }
  void Begin(const GpuItem& item);
  void EndUntil(int64_t now_ns);
  void AddFill(Device* device, int64_t fill);
  void RefreshDevice(uint32_t device, int64_t now_ns, WorkId begun);
  void RefreshAll(int64_t now_ns);

  const Interval span_;
  const std::vector<Interval>& unknown_;
  size_t next_unknown_ = 0;
  bool in_unknown_ = false;
  bool paused_ = false;
  RecordStream<DeviceWork> work_;
  WorkClassifier classifier_;
  std::vector<GpuItem> heap_;  // running work by end, earliest first
  ActiveSet classes_;
  std::vector<Device> devices_;
  std::vector<DeviceClock> clocks_;
  std::vector<Change> changes_;
  std::vector<std::pair<uint32_t, WorkId>> touched_;
  uint64_t busy_devices_ = 0;
  uint64_t fill_of_devices_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_DEVICE_TIMELINE_H_
