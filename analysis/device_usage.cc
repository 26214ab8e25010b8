// SPDX-License-Identifier: Apache-2.0
//
// Gathers the work of each physical device from every process. No state.
#include "analysis/device_usage.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/gpu_work.h"
#include "analysis/smi_model.h"

namespace gpubound {
namespace {

struct Gathered {
  DeviceUsage usage;
  std::vector<std::vector<Interval>> by_class{kWorkClasses};
};

// A device is its uuid; MIG and renumbering through CUDA_VISIBLE_DEVICES make ordinals unreliable.
using DeviceKey = std::tuple<std::string, uint32_t, std::string>;  // host, ordinal, uuid

class Devices {
 public:
  Gathered* Find(const ProcessTrace& process, DeviceId id) {
    const Device& device = process.DeviceOf(id);
    const std::string& host = process.identity.host;
    for (auto& [key, gathered] : devices_) {
      const bool same = device.uuid.empty() ? key == DeviceKey{host, device.info.index, ""}
                                            : std::get<2>(key) == device.uuid;
      if (same) return &gathered;
    }
    Gathered& added = devices_[{host, device.info.index, device.uuid}];
    added.usage.uuid = device.uuid;
    added.usage.name = device.name;
    return &added;
  }
  std::map<DeviceKey, Gathered>& all() { return devices_; }

 private:
  std::map<DeviceKey, Gathered> devices_;
};

void GatherProcess(const ProcessTrace& process, int64_t offset_ns, Devices* devices) {
  std::vector<Gathered*> by_id(process.devices.size());
  for (uint32_t id = 1; id < process.devices.size(); ++id) {
    const Device& device = process.devices[id];
    if (device.name.empty() && device.uuid.empty() && device.info.multiprocessors == 0) continue;
    by_id[id] = devices->Find(process, static_cast<DeviceId>(id));
    by_id[id]->usage.simulated |= device.info.simulated;
  }
  WorkClassifier classifier(process);
  for (const DeviceWork& work : process.device_work) {
    const GpuItem item = classifier.Classify(work);
    Gathered* gathered = item.device < by_id.size() ? by_id[item.device] : nullptr;
    if (gathered == nullptr) {
      gathered = devices->Find(process, static_cast<DeviceId>(item.device));
      if (item.device < by_id.size()) by_id[item.device] = gathered;
    }
    gathered->usage.used = true;
    gathered->by_class[static_cast<size_t>(item.work_class)].push_back(
        {item.begin_ns + offset_ns, item.end_ns + offset_ns});
  }
}

void Measure(const Interval& span, Gathered* gathered) {
  const OverlapByMask overlap = OverlapOfSets(gathered->by_class, span);
  DeviceUsage& usage = gathered->usage;
  for (GpuState state = 1; state < kGpuUnknown; ++state) {
    usage.busy_ns += overlap[state];
    if (HasClass(state, kCompute)) usage.compute_ns += overlap[state];
    if (HasClass(state, kComm)) usage.comm_ns += overlap[state];
    if (HasClass(state, kCopy)) usage.copy_ns += overlap[state];
  }
  std::vector<Interval> kernels = gathered->by_class[kCompute];
  kernels.insert(kernels.end(), gathered->by_class[kComm].begin(), gathered->by_class[kComm].end());
  SmiModel model(span);
  for (const Interval& kernel : Union(std::move(kernels))) model.Add(kernel);
  usage.smi_model = model.Share();
}

}  // namespace

std::vector<DeviceUsage> MeasureDevices(const Run& run, const ClockAlignment& clocks,
                                        const Interval& span) {
  Devices devices;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    GatherProcess(run.processes[p], clocks.offset_ns[p], &devices);
  }
  std::vector<DeviceUsage> usages;
  for (auto& [key, gathered] : devices.all()) {
    Measure(span, &gathered);
    usages.push_back(std::move(gathered.usage));
  }
  return usages;
}

}  // namespace gpubound
