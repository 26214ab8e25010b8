// SPDX-License-Identifier: Apache-2.0
//
// The activity half of the stand-in libcupti.so.13's entry points.
#include <cupti.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fake_cupti/cudart_state.h"
#include "tests/fake_cupti/cupti_monitor.h"
#include "tests/fake_cupti/record_layout.h"

#define GPUBOUND_CUPTI_API extern "C" __attribute__((visibility("default")))

using namespace gpubound::sim;  // NOLINT: this file defines C entry points

namespace {

constexpr uint32_t kPerFunctionEnableSince = 23;  // 12.5

thread_local CUptiResult last_error = CUPTI_SUCCESS;

// At exit the library goes before whatever registered a handler earlier than it was loaded.
std::atomic<bool> is_torn_down{false};
struct TearDown {
  ~TearDown() { is_torn_down = true; }
};
const TearDown tear_down;

CUptiResult Result(CUptiResult result) {
  if (result != CUPTI_SUCCESS) last_error = result;
  return result;
}

// What the older calls say in a process that uses the newer ones.
CUptiResult OlderCall() {
  return CuptiMonitor::Get().per_subscriber() ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
                                              : CUPTI_SUCCESS;
}

// Reads or writes one attribute of |size| bytes.
template <typename T>
CUptiResult ReadValue(const size_t* size, const void* value, T* into) {
  if (size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (*size < sizeof(T)) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  std::memcpy(into, value, sizeof(T));
  return CUPTI_SUCCESS;
}

// What tells the time since a tool has said so: of the whole process, until another one does. Times
// in records stay on the clock of before.
std::atomic<CUpti_TimestampCallbackFunc> g_tell_time{nullptr};

}  // namespace

GPUBOUND_CUPTI_API const int gpubound_simulated_device = 1;

GPUBOUND_CUPTI_API CUptiResult cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  *version = Script().cupti_version;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  if (timestamp == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  const CUpti_TimestampCallbackFunc tell_time = g_tell_time;
  *timestamp = tell_time != nullptr
                   ? tell_time()
                   : static_cast<uint64_t>(GpuRuntime::Get().ToCuptiClock(RealtimeNs()));
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetLastError() {
  const CUptiResult result = last_error;
  last_error = CUPTI_SUCCESS;
  return result;
}

GPUBOUND_CUPTI_API CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (OlderCall() != CUPTI_SUCCESS) return Result(OlderCall());
  if (type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE) return Result(CUPTI_ERROR_NOT_SUPPORTED);
  CuptiMonitor::Get().set_thread_id_type(type);
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (type == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  *type = CuptiMonitor::Get().thread_id_type();
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
  if (OlderCall() != CUPTI_SUCCESS) return Result(OlderCall());
  if (request == nullptr || complete == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  CuptiMonitor::Get().buffers().Register(request, complete);
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (OlderCall() != CUPTI_SUCCESS) return Result(OlderCall());
  return Result(CuptiMonitor::Get().EnableKind(kind, true, false));
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  if (OlderCall() != CUPTI_SUCCESS) return Result(OlderCall());
  return Result(CuptiMonitor::Get().EnableKind(kind, true, true));
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  if (is_torn_down) {  // seen with CUPTI 13.0.1: a segmentation fault
    std::fprintf(stderr, "stand-in libcupti: cuptiActivityDisable after its exit handlers\n");
    std::abort();
  }
  if (OlderCall() != CUPTI_SUCCESS) return Result(OlderCall());
  return Result(CuptiMonitor::Get().EnableKind(kind, false, false));
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid,
                                                             uint8_t enable) {
  CuptiMonitor& monitor = CuptiMonitor::Get();
  if (monitor.version() < kPerFunctionEnableSince) return Result(CUPTI_ERROR_NOT_SUPPORTED);
  return Result(monitor.EnableFunction(ApiDomain::kRuntime, cbid, enable != 0));
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) {
  CuptiMonitor& monitor = CuptiMonitor::Get();
  if (monitor.version() < kPerFunctionEnableSince) return Result(CUPTI_ERROR_NOT_SUPPORTED);
  return Result(monitor.EnableFunction(ApiDomain::kDriver, cbid, enable != 0));
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t) { return CUPTI_SUCCESS; }

GPUBOUND_CUPTI_API CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t) {
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityEnableHWTrace(uint8_t) {
  return Result(CUPTI_ERROR_NOT_SUPPORTED);
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute,
                                                         size_t* size, void* value) {
  ActivityBuffers& buffers = CuptiMonitor::Get().buffers();
  uint8_t flag = 0;
  size_t number = 0;
  CUptiResult result = CUPTI_SUCCESS;
  switch (attribute) {
    case CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER:
      result = ReadValue(size, value, &flag);
      if (result != CUPTI_SUCCESS) return Result(result);
      // Undefined while anything is recorded: refuse loudly.
      if (buffers.registered() && CuptiMonitor::Get().IsAnyEnabled()) {
        return Result(CUPTI_ERROR_INVALID_OPERATION);
      }
      buffers.set_per_thread(flag != 0);
      return CUPTI_SUCCESS;
    case CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER:
      result = ReadValue(size, value, &flag);
      if (result == CUPTI_SUCCESS) buffers.set_zeroed_by_client(flag != 0);
      return Result(result);
    case CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE:
    case CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT:
    case CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE:
    case CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE:
    case CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT:
    case CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE:
      return Result(ReadValue(size, value, &number));
    case CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED:
      return Result(ReadValue(size, value, &flag));
    default:
      return Result(CUPTI_ERROR_INVALID_PARAMETER);
  }
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute,
                                                         size_t* size, void* value) {
  if (size == nullptr || value == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  if (attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER) {
    if (*size < 1) return Result(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
    *static_cast<uint8_t*>(value) = CuptiMonitor::Get().buffers().per_thread() ? 1 : 0;
    return CUPTI_SUCCESS;
  }
  if (attribute == CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE) {
    if (*size < sizeof(size_t)) return Result(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
    const size_t documented_default = 3'200'000;
    std::memcpy(value, &documented_default, sizeof(documented_default));
    return CUPTI_SUCCESS;
  }
  return Result(CUPTI_ERROR_INVALID_PARAMETER);
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityFlushAll(uint32_t flags) {
  // Observed with real CUPTI: its worker does not exist in a fork child, and a flush waits for it.
  while (GpuRuntime::Get().InForkChild()) pause();
  CuptiMonitor& monitor = CuptiMonitor::Get();
  if (!monitor.buffers().registered()) return Result(CUPTI_ERROR_INVALID_OPERATION);
  // Seen with a program that uses no GPU.
  while (monitor.faults().empty_flush_hangs && !monitor.has_made_records()) pause();
  if (monitor.has_ended_itself()) return Result(CUPTI_ERROR_UNKNOWN);
  const bool forced = (flags & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0;
  if (forced && !monitor.faults().shared_by.empty()) {
    std::fprintf(stderr, "gpubound-sim: a forced flush takes from %s what is still running\n",
                 monitor.faults().shared_by.c_str());
    std::abort();
  }
  monitor.FlushAll(forced);
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds) {
  CuptiMonitor::Get().buffers().set_flush_period_ms(milliseconds);
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes,
                                                          CUpti_Activity** record) {
  static std::atomic<uint64_t> reads{0};
  if (buffer == nullptr || record == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  const SimScript& script = Script();
  const uint32_t fail_every = script.faults.invalid_kind_every;
  if (fail_every != 0 && (reads.fetch_add(1) + 1) % fail_every == 0) {
    return Result(CUPTI_ERROR_INVALID_KIND);
  }
  size_t offset = 0;
  if (*record != nullptr) {
    const auto kind = static_cast<uint32_t>((*record)->kind);
    const size_t bytes = RecordBytes(kind, script.cupti_version);
    if (bytes == 0) return Result(CUPTI_ERROR_INVALID_KIND);
    offset = static_cast<size_t>(reinterpret_cast<uint8_t*>(*record) - buffer) + bytes;
  }
  if (offset >= valid_bytes) return Result(CUPTI_ERROR_MAX_LIMIT_REACHED);
  *record = reinterpret_cast<CUpti_Activity*>(buffer + offset);
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t,
                                                                 size_t* dropped) {
  if (dropped == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  *dropped = CuptiMonitor::Get().buffers().TakeDropped();
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
  auto& stacks = ExternalCorrelationStacks();
  if (kind <= 0 || static_cast<size_t>(kind) >= stacks.size()) {
    return Result(CUPTI_ERROR_INVALID_PARAMETER);
  }
  stacks[kind].push_back(id);
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t* last) {
  auto& stacks = ExternalCorrelationStacks();
  if (kind <= 0 || static_cast<size_t>(kind) >= stacks.size()) {
    return Result(CUPTI_ERROR_INVALID_PARAMETER);
  }
  if (stacks[kind].empty()) return Result(CUPTI_ERROR_QUEUE_EMPTY);
  if (last != nullptr) *last = stacks[kind].back();
  stacks[kind].pop_back();
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc tell_time) {
  if (tell_time == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  g_tell_time = tell_time;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetContextId(CUcontext context, uint32_t* id) {
  if (context == nullptr || id == nullptr) return Result(CUPTI_ERROR_INVALID_CONTEXT);
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context));
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* id) {
  if (id == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  // Contexts are numbered from 1, one for each device; null is the current one.
  *id = context == nullptr ? 0 : static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context)) - 1;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, uint8_t,
                                                  uint32_t* id) {
  if (id == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  const bool is_default = stream == nullptr || stream == cudaStreamLegacy;
  *id = is_default ? 7 : stream->place.stream;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* id) {
  return cuptiGetStreamIdEx(context, stream, 0, id);
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  if (graph == nullptr || id == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  *id = graph->id;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetGraphExecId(CUgraphExec graph, uint32_t* id) {
  if (graph == nullptr || id == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  *id = graph->id;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  if (node == nullptr || id == nullptr) return Result(CUPTI_ERROR_INVALID_PARAMETER);
  *id = node->id;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiFinalize() {
  std::fprintf(stderr, "gpubound-sim: cuptiFinalize was called; it must never be\n");
  std::abort();
}
