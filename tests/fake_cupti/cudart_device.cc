// SPDX-License-Identifier: Apache-2.0
//
// Devices, errors and versions of the stand-in libcudart.so.13.
#include <cupti_runtime_cbid.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tests/fake_cupti/cudart_state.h"
#include "tests/fake_cupti/device_limits.h"

namespace gpubound::sim {
namespace {

bool IsDeviceOrdinal(int device) {
  return device >= 0 && static_cast<uint32_t>(device) < DeviceCount();
}

void FillProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  const std::string name = DeviceName(static_cast<uint32_t>(device));
  std::snprintf(properties->name, sizeof(properties->name), "%s", name.c_str());
  std::memcpy(properties->uuid.bytes, DeviceUuid(static_cast<uint32_t>(device)).data(), 16);
  properties->totalGlobalMem = kDeviceLimits.memory_bytes;
  properties->sharedMemPerBlock = 48 * 1024;
  properties->sharedMemPerMultiprocessor = kDeviceLimits.max_shared_bytes_per_multiprocessor;
  properties->regsPerBlock = 65536;
  properties->regsPerMultiprocessor =
      static_cast<int>(kDeviceLimits.max_registers_per_multiprocessor);
  properties->warpSize = static_cast<int>(kDeviceLimits.threads_per_warp);
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor =
      static_cast<int>(kDeviceLimits.max_warps_per_multiprocessor * kDeviceLimits.threads_per_warp);
  properties->maxBlocksPerMultiProcessor =
      static_cast<int>(kDeviceLimits.max_blocks_per_multiprocessor);
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->multiProcessorCount = static_cast<int>(kDeviceLimits.multiprocessors);
  properties->major = static_cast<int>(kDeviceLimits.compute_capability_major);
  properties->minor = static_cast<int>(kDeviceLimits.compute_capability_minor);
  properties->asyncEngineCount = static_cast<int>(GpuRuntime::Get().script().device.copy_engines);
  properties->concurrentKernels = 1;
  properties->unifiedAddressing = 1;
  properties->managedMemory = 1;
}

int AttributeOf(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      return static_cast<int>(kDeviceLimits.multiprocessors);
    case cudaDevAttrComputeCapabilityMajor:
      return static_cast<int>(kDeviceLimits.compute_capability_major);
    case cudaDevAttrComputeCapabilityMinor:
      return static_cast<int>(kDeviceLimits.compute_capability_minor);
    case cudaDevAttrWarpSize:
      return static_cast<int>(kDeviceLimits.threads_per_warp);
    case cudaDevAttrMaxThreadsPerBlock:
      return 1024;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return static_cast<int>(kDeviceLimits.max_warps_per_multiprocessor *
                              kDeviceLimits.threads_per_warp);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(kDeviceLimits.max_shared_bytes_per_multiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return static_cast<int>(kDeviceLimits.max_registers_per_multiprocessor);
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
      return 1;
    default:
      return 0;
  }
}

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration",
     "__global__ function call is not configured"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "the capture was not initiated in this stream"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
};

}  // namespace
}  // namespace gpubound::sim

using namespace gpubound::sim;  // NOLINT: this file defines C entry points

GPUBOUND_CUDART_API cudaError_t cudaGetDeviceCount(int* count) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGetDeviceCount_v3020, "cudaGetDeviceCount");
  if (!call.ok()) return call.Fail();
  *count = static_cast<int>(DeviceCount());
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaSetDevice(int device) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020, "cudaSetDevice");
  if (!call.ok()) return call.Fail();
  if (!IsDeviceOrdinal(device)) return call.Return(cudaErrorInvalidDevice);
  CurrentThread().device = device;
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaGetDevice(int* device) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, "cudaGetDevice");
  if (!call.ok()) return call.Fail();
  *device = CurrentThread().device;
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGetDeviceProperties_v12000, "cudaGetDeviceProperties");
  if (!call.ok()) return call.Fail();
  if (!IsDeviceOrdinal(device)) return call.Return(cudaErrorInvalidDevice);
  FillProperties(properties, device);
  return call.Return(cudaSuccess);
}

// The name under which objects that were compiled against CUDA 12 ask for it.
GPUBOUND_CUDART_API cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device) {
  return cudaGetDeviceProperties(properties, device);
}

GPUBOUND_CUDART_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                                       int device) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000, "cudaDeviceGetAttribute");
  if (!call.ok()) return call.Fail();
  if (!IsDeviceOrdinal(device)) return call.Return(cudaErrorInvalidDevice);
  *value = AttributeOf(attribute);
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaDeviceSynchronize() {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "cudaDeviceSynchronize");
  if (!call.ok()) return call.Fail();
  constexpr uint32_t kContextSynchronize = 4;  // CUpti_ActivitySynchronizationType
  GpuRuntime& runtime = GpuRuntime::Get();
  const auto device = static_cast<uint32_t>(CurrentThread().device);
  const TimeNs start = RealtimeNs();
  runtime.WaitForDevice(device);
  if (ProfilerTap* tap = runtime.tap()) {
    const Place place = {.device = device, .context = ContextOf(device), .stream = UINT32_MAX};
    tap->Synchronized(kContextSynchronize, start, RealtimeNs(), call.correlation(), place, 0);
  }
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

GPUBOUND_CUDART_API cudaError_t cudaGetLastError() {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020, "cudaGetLastError");
  return std::exchange(CurrentThread().last_error, cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaPeekAtLastError() {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020, "cudaPeekAtLastError");
  return CurrentThread().last_error;
}

GPUBOUND_CUDART_API const char* cudaGetErrorString(cudaError_t error) {
  for (const ErrorText& known : kErrors) {
    if (known.error == error) return known.text;
  }
  return "unrecognized error code";
}

GPUBOUND_CUDART_API const char* cudaGetErrorName(cudaError_t error) {
  for (const ErrorText& known : kErrors) {
    if (known.error == error) return known.name;
  }
  return "unrecognized error code";
}

GPUBOUND_CUDART_API cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

GPUBOUND_CUDART_API cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

GPUBOUND_CUDART_API cudaError_t cudaProfilerStart() {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000, "cudaProfilerStart");
  return call.ok() ? call.Return(cudaSuccess) : call.Fail();
}

GPUBOUND_CUDART_API cudaError_t cudaProfilerStop() {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000, "cudaProfilerStop");
  return call.ok() ? call.Return(cudaSuccess) : call.Fail();
}
