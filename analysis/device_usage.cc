// SPDX-License-Identifier: Apache-2.0
//
// Merges the work of all processes and hands each piece to the meter of its device. No state.
#include "analysis/device_usage.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <tuple>
#include <utility>

#include "analysis/device_meter.h"
#include "analysis/gpu_work.h"
#include "analysis/memory_source.h"

namespace gpubound {
namespace {

// A device is its uuid; MIG and renumbering through CUDA_VISIBLE_DEVICES make ordinals unreliable.
struct PhysicalDevice {
  std::string host;
  uint32_t ordinal = 0;
  DeviceUsage usage;
  DeviceMeter meter;
};

class DeviceTable {
 public:
  explicit DeviceTable(const std::vector<Interval>& windows) : windows_(windows) {}

  PhysicalDevice* Find(const ProcessTrace& process, DeviceId id) {
    const Device& device = process.DeviceOf(id);
    const std::string& host = process.identity.host;
    for (PhysicalDevice& known : devices_) {
      const bool same = device.uuid.empty() ? known.usage.uuid.empty() && known.host == host &&
                                                  known.ordinal == device.info.index
                                            : known.usage.uuid == device.uuid;
      if (same) return &known;
    }
    PhysicalDevice& added =
        devices_.emplace_back(PhysicalDevice{host, device.info.index, {}, DeviceMeter(windows_)});
    added.usage.uuid = device.uuid;
    added.usage.name = device.name;
    return &added;
  }

  std::vector<DeviceUsage> Finish() {
    std::sort(devices_.begin(), devices_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.host, a.ordinal, a.usage.uuid) < std::tie(b.host, b.ordinal, b.usage.uuid);
    });
    std::vector<DeviceUsage> usages;
    for (PhysicalDevice& device : devices_) {
      device.usage.windows = device.meter.Finish();
      device.usage.bands = device.meter.bands();
      std::sort(device.usage.bands.begin(), device.usage.bands.end(),
                [](const auto& a, const auto& b) { return a.process < b.process; });
      usages.push_back(std::move(device.usage));
    }
    return usages;
  }

 private:
  const std::vector<Interval>& windows_;
  std::deque<PhysicalDevice> devices_;
};

// The work of one process, in the time of the reference host.
class ProcessWork {
 public:
  ProcessWork(const ProcessTrace& process, int64_t offset_ns, DeviceTable* devices)
      : process_(process),
        offset_ns_(offset_ns),
        devices_(*devices),
        work_(SourceOf(process)->Work()),
        classifier_(process),
        by_id_(classifier_.devices()) {
    for (uint32_t id = 1; id < process.devices.size(); ++id) {
      const Device& device = process.devices[id];
      if (device.name.empty() && device.uuid.empty() && device.info.multiprocessors == 0) continue;
      PhysicalDevice* physical = devices->Find(process, static_cast<DeviceId>(id));
      physical->usage.simulated |= device.info.simulated;
    }
  }

  int64_t NextTime() const {
    return work_.Peek() == nullptr ? kOpenEnded : work_.Peek()->start_ns + offset_ns_;
  }
  void Begin(size_t process) {
    const GpuItem item = classifier_.Classify(*work_.Peek());
    PhysicalDevice*& device = by_id_[item.device];
    if (device == nullptr) device = devices_.Find(process_, static_cast<DeviceId>(item.device));
    device->usage.used = true;
    device->meter.Begin({item.begin_ns + offset_ns_, item.end_ns + offset_ns_}, item.work_class,
                        process);
    work_.Pop();
  }

 private:
  const ProcessTrace& process_;
  const int64_t offset_ns_;
  DeviceTable& devices_;
  RecordStream<DeviceWork> work_;
  WorkClassifier classifier_;
  std::vector<PhysicalDevice*> by_id_;
};

// Every process samples all devices of its host, so that one of them tells all: the one that has
// most. Samples are evenly spaced, so their mean is the mean over time.
std::optional<double> MeanUtilization(const Run& run, const ClockAlignment& clocks,
                                      const Interval& span, const std::string& uuid) {
  int64_t most = 0;
  double mean = 0;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    int64_t count = 0;
    int64_t percents = 0;
    for (const DeviceSample& read : run.processes[p].utilization) {
      const int64_t time_ns = read.sample.time_ns + clocks.offset_ns[p];
      if (read.uuid != uuid || read.sample.gpu_percent < 0) continue;
      if (time_ns < span.begin_ns || time_ns >= span.end_ns) continue;
      ++count;
      percents += read.sample.gpu_percent;
    }
    if (count <= most) continue;
    most = count;
    mean = static_cast<double>(percents) / static_cast<double>(count) / 100;
  }
  return most == 0 ? std::nullopt : std::optional<double>(mean);
}

}  // namespace

std::vector<DeviceUsage> MeasureDevices(const Run& run, const ClockAlignment& clocks,
                                        const std::vector<Interval>& windows) {
  DeviceTable devices(windows);
  std::deque<ProcessWork> work;
  std::vector<std::pair<int64_t, size_t>> queue;  // min-heap of (next begin, process)
  for (size_t p = 0; p < run.processes.size(); ++p) {
    work.emplace_back(run.processes[p], clocks.offset_ns[p], &devices);
    if (work[p].NextTime() != kOpenEnded) queue.emplace_back(work[p].NextTime(), p);
  }
  std::make_heap(queue.begin(), queue.end(), std::greater<>());
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    const size_t process = queue.back().second;
    queue.pop_back();
    const int64_t until_ns = queue.empty() ? kOpenEnded : queue.front().first;
    do {
      work[process].Begin(process);
    } while (work[process].NextTime() < until_ns);
    if (work[process].NextTime() == kOpenEnded) continue;
    queue.emplace_back(work[process].NextTime(), process);
    std::push_heap(queue.begin(), queue.end(), std::greater<>());
  }
  std::vector<DeviceUsage> usages = devices.Finish();
  for (DeviceUsage& usage : usages) {
    usage.nvml_utilization = MeanUtilization(run, clocks, windows.front(), usage.uuid);
  }
  return usages;
}

}  // namespace gpubound
