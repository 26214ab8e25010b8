// SPDX-License-Identifier: Apache-2.0
//
// The records of the stand-in libcupti.so.13 about devices, contexts and streams.
#include <cupti.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fake_cupti/cupti_monitor.h"
#include "tests/fake_cupti/device_limits.h"
#include "tests/fake_cupti/record_layout.h"

namespace gpubound::sim {
namespace {

// Values of cuptiGetVersion.
constexpr uint32_t kSliceUuidSince = 26;                // 12.8
constexpr uint32_t kDeviceNameGivenAwaySince = 130000;  // 13.0
constexpr uint32_t kGreenContextKindSince = 130200;     // 13.2

// A copy for the reader to free. Who never reads its record leaks it, as with CUPTI itself; the
// leak checker does not look into the reader's buffers, so it is told here that it is in use.
char* NameToGiveAway(const std::string& name) {
  static std::mutex mutex;
  static auto* const given = new std::vector<char*>();
  const std::lock_guard<std::mutex> lock(mutex);
  return given->emplace_back(strdup(name.c_str()));
}

}  // namespace

void CuptiMonitor::ContextCreated(const Place& place) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    contexts_.push_back(place);
  }
  if (IsEnabled(CUPTI_ACTIVITY_KIND_DEVICE)) PutDevice(place);
  const bool is_own_kind = version() >= kGreenContextKindSince;
  if (IsGreen(place) && is_own_kind) {
    PutGreenContext(place);
  } else {
    PutContext(place);
  }
  if (IsEnabled(CUPTI_ACTIVITY_KIND_STREAM)) PutStream(place, 0);
  CUpti_ResourceData data = {};
  data.context = reinterpret_cast<CUcontext>(uintptr_t{place.context});
  CallBack(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
}

void CuptiMonitor::StreamCreated(const Place& place, void* handle, uint32_t correlation) {
  if (IsEnabled(CUPTI_ACTIVITY_KIND_STREAM)) PutStream(place, correlation);
  CUpti_ResourceData data = {};
  data.context = reinterpret_cast<CUcontext>(uintptr_t{place.context});
  data.resourceHandle.stream = static_cast<CUstream>(handle);
  CallBack(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED, &data);
}

void CuptiMonitor::PutDevice(const Place& place) {
  CUpti_ActivityDevice5 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  record.globalMemorySize = kDeviceLimits.memory_bytes;
  record.numThreadsPerWarp = kDeviceLimits.threads_per_warp;
  record.numMemcpyEngines = script_.device.copy_engines;
  record.numMultiprocessors = kDeviceLimits.multiprocessors;
  record.maxWarpsPerMultiprocessor = kDeviceLimits.max_warps_per_multiprocessor;
  record.maxBlocksPerMultiprocessor = kDeviceLimits.max_blocks_per_multiprocessor;
  record.maxSharedMemoryPerMultiprocessor = kDeviceLimits.max_shared_bytes_per_multiprocessor;
  record.maxRegistersPerMultiprocessor = kDeviceLimits.max_registers_per_multiprocessor;
  record.maxThreadsPerBlock = 1024;
  record.computeCapabilityMajor = kDeviceLimits.compute_capability_major;
  record.computeCapabilityMinor = kDeviceLimits.compute_capability_minor;
  record.id = place.device;
  std::memcpy(record.uuid.bytes, DeviceUuid(place.device).data(), 16);
  if (script_.mig) {
    record.isMigEnabled = 1;
    record.gpuInstanceId = place.device;
    std::memcpy(record.migUuid.bytes, SliceUuid(place.device).data(), 16);
    // Slices are of one device, which until 12.8 the record says.
    const auto whole = version() >= kSliceUuidSince ? SliceUuid(place.device) : DeviceUuid(0);
    std::memcpy(record.uuid.bytes, whole.data(), 16);
  }
  // The header of 13.0 gives the name to the reader, to free; in older ones all records share it.
  const bool gives_away = version() >= kDeviceNameGivenAwaySince;
  const std::string name = DeviceName(place.device);
  record.name = gives_away ? NameToGiveAway(name) : InternName(name);
  record.isCudaVisible = 1;
  if (Put(record, true) == 0 && gives_away) std::free(const_cast<char*>(record.name));
}

bool CuptiMonitor::IsGreen(const Place& place) const {
  const bool is_part = script_.contexts == 1 || NumberOfContext(script_, place.context) != 0;
  return script_.green_multiprocessors != 0 && is_part;
}

uint32_t CuptiMonitor::ParentOf(const Place& place) const {
  return script_.contexts == 1 ? 0 : ContextOf(script_, place.device, 0);
}

// A record of its own kind from 13.2 on, and then no other.
void CuptiMonitor::PutGreenContext(const Place& place) {
  if (!IsEnabled(kGreenContextKind)) return;
  GreenContextRecord record = {};
  record.kind = kGreenContextKind;
  record.context = place.context;
  record.device = place.device;
  record.parent = ParentOf(place);
  record.multiprocessors = static_cast<uint16_t>(script_.green_multiprocessors);
  Put(record, true);
}

void CuptiMonitor::PutContext(const Place& place) {
  if (!IsEnabled(CUPTI_ACTIVITY_KIND_CONTEXT)) return;
  CUpti_ActivityContext3 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  record.contextId = place.context;
  record.deviceId = place.device;
  record.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
  record.nullStreamId = static_cast<uint16_t>(place.stream);
  record.numMultiprocessors = static_cast<uint16_t>(kDeviceLimits.multiprocessors);
  if (IsGreen(place)) {
    record.isGreenContext = 1;
    record.parentContextId = ParentOf(place);
    record.numMultiprocessors = static_cast<uint16_t>(script_.green_multiprocessors);
  }
  Put(record, true);
}

void CuptiMonitor::PutStream(const Place& place, uint32_t correlation) {
  CUpti_ActivityStream record = {};
  record.kind = CUPTI_ACTIVITY_KIND_STREAM;
  record.contextId = place.context;
  record.streamId = place.stream;
  record.correlationId = correlation;
  Put(record, true);
}

}  // namespace gpubound::sim
