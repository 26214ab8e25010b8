// SPDX-License-Identifier: Apache-2.0
//
// Names and numbers of NVML's interface, which is stable since its version 2 functions.
#include "cupti_hooks/sampling/nvml_api.h"

#include <dlfcn.h>

namespace gpubound {
namespace {

constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kSmClock = 1;      // NVML_CLOCK_SM
constexpr int kMemoryClock = 2;  // NVML_CLOCK_MEM
constexpr unsigned int kMaxDevices = 64;

template <typename Function>
bool Resolve(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

bool NvmlApi::Open(const std::string& library_name, std::string* why) {
  void* library = dlopen(library_name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* error = dlerror();  // NOLINT(concurrency-mt-unsafe): per thread in glibc
    *why = error == nullptr ? library_name : error;
    return false;
  }
  // Never closed: NVML keeps threads and descriptors of its own.
  const bool complete = Resolve(library, "nvmlInit_v2", &init_) &&
                        Resolve(library, "nvmlDeviceGetCount_v2", &count_) &&
                        Resolve(library, "nvmlDeviceGetHandleByIndex_v2", &by_index_) &&
                        Resolve(library, "nvmlDeviceGetUUID", &uuid_) &&
                        Resolve(library, "nvmlDeviceGetUtilizationRates", &utilization_);
  Resolve(library, "nvmlDeviceGetMemoryInfo", &memory_);
  Resolve(library, "nvmlDeviceGetPowerUsage", &power_);
  Resolve(library, "nvmlDeviceGetClockInfo", &clock_);
  // Not version 3, whose entries early drivers of the 535 series make eight bytes longer.
  Resolve(library, "nvmlDeviceGetComputeRunningProcesses_v2", &compute_processes_);
  Resolve(library, "nvmlDeviceGetMPSComputeRunningProcesses_v2", &mps_processes_);
  if (!complete) {
    *why = library_name + " lacks a function";
    return false;
  }
  unsigned int count = 0;
  if (const int error = init_(); error != kSuccess) {
    *why = "nvmlInit_v2 failed with " + std::to_string(error);
    return false;
  }
  if (const int error = count_(&count); error != kSuccess) {
    *why = "nvmlDeviceGetCount_v2 failed with " + std::to_string(error);
    return false;
  }
  for (unsigned int index = 0; index < count && index < kMaxDevices; ++index) {
    char uuid[96] = {};
    Device device = {nullptr, {}};
    if (by_index_(index, &device.handle) != kSuccess) continue;
    if (uuid_(device.handle, uuid, sizeof(uuid)) != kSuccess) continue;
    device.uuid = uuid;
    devices_.push_back(std::move(device));
  }
  return true;
}

bool NvmlApi::List(ListFunction list, void* device, bool through_mps,
                   std::vector<Client>* clients) {
  constexpr unsigned int kMost = 1024;
  if (list == nullptr) return false;
  std::vector<ProcessInfo> found(16);
  auto count = static_cast<unsigned int>(found.size());
  int error = list(device, &count, found.data());
  // How many there are is told with the error, and may be more by the next call.
  if (error == kInsufficientSize && count < kMost) {
    found.resize(2 * size_t{count});
    count = static_cast<unsigned int>(found.size());
    error = list(device, &count, found.data());
  }
  if (error != kSuccess || count > found.size()) return false;
  for (unsigned int i = 0; i < count; ++i) clients->push_back({found[i].pid, through_mps});
  return true;
}

bool NvmlApi::Clients(const Device& device, std::vector<Client>* clients) const {
  clients->clear();
  if (!List(compute_processes_, device.handle, /*through_mps=*/false, clients)) return false;
  List(mps_processes_, device.handle, /*through_mps=*/true, clients);  // none without MPS
  return true;
}

UtilizationSample NvmlApi::Read(const Device& device) const {
  UtilizationSample sample;
  Utilization utilization = {};
  if (utilization_(device.handle, &utilization) == kSuccess) {
    sample.gpu_percent = static_cast<int32_t>(utilization.gpu);
    sample.memory_percent = static_cast<int32_t>(utilization.memory);
  }
  Memory memory = {};
  if (memory_ != nullptr && memory_(device.handle, &memory) == kSuccess) {
    sample.memory_used_bytes = static_cast<int64_t>(memory.used);
  }
  unsigned int value = 0;
  if (power_ != nullptr && power_(device.handle, &value) == kSuccess) {
    sample.power_mw = static_cast<int32_t>(value);
  }
  if (clock_ != nullptr && clock_(device.handle, kSmClock, &value) == kSuccess) {
    sample.sm_mhz = static_cast<int32_t>(value);
  }
  if (clock_ != nullptr && clock_(device.handle, kMemoryClock, &value) == kSuccess) {
    sample.memory_mhz = static_cast<int32_t>(value);
  }
  return sample;
}

}  // namespace gpubound
