// SPDX-License-Identifier: Apache-2.0
//
// What of NVML the profiler asks for, answered from the script (tests/fake_cupti/sim_script.h, key
// "nvml"). The devices are those of the stand-in libcudart, with the same uuids. Thread safe.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/fake_cupti/device_limits.h"
#include "tests/fake_cupti/sim_script.h"

#define GPUBOUND_NVML_API extern "C" __attribute__((visibility("default")))

namespace {

// Of nvmlReturn_t.
constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kInsufficientSize = 7;

using gpubound::sim::Script;

struct Utilization {
  unsigned int gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;  // NOLINT(google-runtime-int): NVML's type
};

struct ProcessInfo {
  unsigned int pid;
  unsigned long long used_memory;  // NOLINT(google-runtime-int): NVML's type
  unsigned int gpu_instance, compute_instance;
};

// Answers as NVML's lists of processes do.
int List(const std::vector<unsigned int>& pids, unsigned int* count, ProcessInfo* into) {
  const unsigned int room = *count;
  *count = static_cast<unsigned int>(pids.size());
  if (room < pids.size()) return kInsufficientSize;
  for (const unsigned int pid : pids) *into++ = {pid, 0, ~0u, ~0u};
  return kSuccess;
}

// A handle is the device's index + 1.
uint32_t IndexOf(const void* device) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(device)) - 1;
}

// Answers |figure|; a negative one is what this board does not support.
template <typename Value>
int Answer(int64_t figure, Value* into) {
  if (figure < 0) return kNotSupported;
  *into = static_cast<Value>(figure);
  return kSuccess;
}

}  // namespace

GPUBOUND_NVML_API int nvmlInit_v2() { return Script().nvml.init_error; }

GPUBOUND_NVML_API int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = Script().device.devices;
  return kSuccess;
}

GPUBOUND_NVML_API int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  if (index >= Script().device.devices) return kInvalidArgument;
  *device = reinterpret_cast<void*>(uintptr_t{index} + 1);
  return kSuccess;
}

GPUBOUND_NVML_API int nvmlDeviceGetUUID(void* device, char* text, unsigned int length) {
  const auto u = gpubound::sim::DeviceUuid(IndexOf(device));
  const int written = std::snprintf(
      text, length, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
      u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
      u[15]);
  return written < static_cast<int>(length) ? kSuccess : kInsufficientSize;
}

GPUBOUND_NVML_API int nvmlDeviceGetUtilizationRates(void*, Utilization* utilization) {
  const int result = Answer(Script().nvml.gpu_percent, &utilization->gpu);
  return result != kSuccess ? result : Answer(Script().nvml.memory_percent, &utilization->memory);
}

GPUBOUND_NVML_API int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  memory->total = gpubound::sim::kDeviceLimits.memory_bytes;
  return Answer(Script().nvml.memory_used_bytes, &memory->used);
}

GPUBOUND_NVML_API int nvmlDeviceGetPowerUsage(void*, unsigned int* milliwatts) {
  return Answer(Script().nvml.power_mw, milliwatts);
}

GPUBOUND_NVML_API int nvmlDeviceGetClockInfo(void*, int type, unsigned int* mhz) {
  constexpr int kSm = 1;
  return Answer(type == kSm ? Script().nvml.sm_mhz : Script().nvml.memory_mhz, mhz);
}

GPUBOUND_NVML_API int nvmlDeviceGetComputeRunningProcesses_v2(void*, unsigned int* count,
                                                              ProcessInfo* into) {
  std::vector<unsigned int> pids;
  if (Script().nvml.lists_itself) pids.push_back(static_cast<unsigned int>(getpid()));
  if (Script().nvml.other_pid != 0) pids.push_back(Script().nvml.other_pid);
  return List(pids, count, into);
}

GPUBOUND_NVML_API int nvmlDeviceGetMPSComputeRunningProcesses_v2(void*, unsigned int* count,
                                                                 ProcessInfo* into) {
  std::vector<unsigned int> pids;
  if (Script().nvml.mps_client_pid != 0) pids.push_back(Script().nvml.mps_client_pid);
  return List(pids, count, into);
}
