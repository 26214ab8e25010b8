// SPDX-License-Identifier: Apache-2.0
//
// Streams and events of the stand-in libcudart.so.13.
#include <cupti_activity.h>
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "tests/fake_cupti/cudart_state.h"

namespace gpubound::sim {
namespace {

cudaError_t CreateStream(ApiCall& call, cudaStream_t* stream, unsigned int flags, int priority) {
  if (!call.ok()) return call.Fail();
  if (stream == nullptr) return call.Return(cudaErrorInvalidValue);
  const auto device = static_cast<uint32_t>(CurrentThread().device);
  *stream = NewStream(device, (flags & cudaStreamNonBlocking) == 0, flags, priority);
  if (ProfilerTap* tap = GpuRuntime::Get().tap()) {
    tap->StreamCreated((*stream)->place, *stream, call.correlation());
  }
  return call.Return(cudaSuccess);
}

cudaError_t CreateEvent(ApiCall& call, cudaEvent_t* event, unsigned int flags) {
  static std::atomic<uint64_t> next_id{1};
  if (!call.ok()) return call.Fail();
  if (event == nullptr) return call.Return(cudaErrorInvalidValue);
  auto* created = NewHandle(CUevent_st());
  created->index =
      GpuRuntime::Get().WithModel([](SimDevice& model) { return model.CreateEvent(); });
  created->id = next_id.fetch_add(1);
  created->flags = flags;
  *event = created;
  return call.Return(cudaSuccess);
}

std::optional<TimeNs> TimeOf(cudaEvent_t event) {
  return GpuRuntime::Get().WithModel(
      [&](SimDevice& model) { return model.EventTime(event->index); });
}

cudaError_t RecordEvent(ApiCall& call, cudaEvent_t event, cudaStream_t stream_handle) {
  if (!call.ok()) return call.Fail();
  if (event == nullptr) return call.Return(cudaErrorInvalidResourceHandle);
  CUstream_st* stream = ResolveStream(stream_handle);
  event->capture = stream->capture;
  event->capture_tail = stream->capture_tail;
  if (stream->capture != nullptr) return call.Return(cudaSuccess);
  event->recorded = true;
  GpuRuntime::Get().WithModel([&](SimDevice& model) {
    model.RecordEvent(event->index, stream->index, std::max(RealtimeNs(), model.now()));
  });
  if (ProfilerTap* tap = GpuRuntime::Get().tap()) {
    tap->EventRecorded(call.correlation(), stream->place, event->id);
  }
  return call.Return(cudaSuccess);
}

}  // namespace
}  // namespace gpubound::sim

using namespace gpubound::sim;  // NOLINT: this file defines C entry points

GPUBOUND_CUDART_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamCreate_v3020, "cudaStreamCreate");
  return CreateStream(call, stream, cudaStreamDefault, 0);
}

GPUBOUND_CUDART_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream,
                                                          unsigned int flags) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamCreateWithFlags_v5000,
               "cudaStreamCreateWithFlags");
  return CreateStream(call, stream, flags, 0);
}

GPUBOUND_CUDART_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream,
                                                             unsigned int flags, int priority) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamCreateWithPriority_v5050,
               "cudaStreamCreateWithPriority");
  return CreateStream(call, stream, flags, priority);
}

// The handle's memory is kept: work in the stream, and a profiler's late question, may refer to it.
GPUBOUND_CUDART_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamDestroy_v5050, "cudaStreamDestroy");
  if (!call.ok()) return call.Fail();
  const bool destroyable =
      stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
  return call.Return(destroyable ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

GPUBOUND_CUDART_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const cudaStreamSynchronize_v3020_params params = {handle};
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, "cudaStreamSynchronize",
               &params);
  if (!call.ok()) return call.Fail();
  CUstream_st* stream = ResolveStream(handle);
  if (stream->capture != nullptr) return call.Return(cudaErrorStreamCaptureUnsupported);
  const OpId tail =
      GpuRuntime::Get().WithModel([&](SimDevice& model) { return model.Tail(stream->index); });
  SynchronizeOp(tail, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, stream, 0, call);
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaStreamQuery(cudaStream_t handle) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020, "cudaStreamQuery");
  if (!call.ok()) return call.Fail();
  CUstream_st* stream = ResolveStream(handle);
  const bool done = GpuRuntime::Get().WithModel(
      [&](SimDevice& model) { return model.IsComplete(model.Tail(stream->index)); });
  return call.Return(done ? cudaSuccess : cudaErrorNotReady);
}

GPUBOUND_CUDART_API cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event,
                                                    unsigned int flags) {
  const cudaStreamWaitEvent_v3020_params params = {handle, event, flags};
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020, "cudaStreamWaitEvent", &params);
  if (!call.ok()) return call.Fail();
  if (event == nullptr) return call.Return(cudaErrorInvalidResourceHandle);
  CUstream_st* stream = ResolveStream(handle);
  if (event->capture != nullptr) {  // the stream joins that capture
    if (stream->capture == nullptr) event->capture->streams.push_back(stream);
    stream->capture = event->capture;
    stream->capture_tail.insert(stream->capture_tail.end(), event->capture_tail.begin(),
                                event->capture_tail.end());
    return call.Return(cudaSuccess);
  }
  if (!event->recorded) return call.Return(cudaSuccess);
  GpuRuntime& runtime = GpuRuntime::Get();
  const TimeNs start = RealtimeNs();
  runtime.WithModel([&](SimDevice& model) {
    model.WaitEvent(stream->index, event->index, std::max(RealtimeNs(), model.now()));
  });
  if (ProfilerTap* tap = runtime.tap()) {
    tap->Synchronized(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, start, RealtimeNs(),
                      call.correlation(), stream->place, event->id);
  }
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  *priority = ResolveStream(handle)->priority;
  return cudaSuccess;
}

GPUBOUND_CUDART_API cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int* flags) {
  *flags = ResolveStream(handle)->flags;
  return cudaSuccess;
}

GPUBOUND_CUDART_API cudaError_t cudaEventCreate(cudaEvent_t* event) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaEventCreate_v3020, "cudaEventCreate");
  return CreateEvent(call, event, cudaEventDefault);
}

GPUBOUND_CUDART_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaEventCreateWithFlags_v3020, "cudaEventCreateWithFlags");
  return CreateEvent(call, event, flags);
}

GPUBOUND_CUDART_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020, "cudaEventDestroy");
  if (!call.ok()) return call.Fail();
  DeleteHandle(event);  // the model refers to it by index
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const cudaEventRecord_v3020_params params = {event, stream};
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, "cudaEventRecord", &params);
  return RecordEvent(call, event, stream);
}

GPUBOUND_CUDART_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                                         unsigned int flags) {
  const cudaEventRecordWithFlags_v11010_params params = {event, stream, flags};
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010, "cudaEventRecordWithFlags",
               &params);
  return RecordEvent(call, event, stream);
}

GPUBOUND_CUDART_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const cudaEventSynchronize_v3020_params params = {event};
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020, "cudaEventSynchronize",
               &params);
  if (!call.ok()) return call.Fail();
  if (event == nullptr) return call.Return(cudaErrorInvalidResourceHandle);
  if (!event->recorded) return call.Return(cudaSuccess);
  const OpId op =
      GpuRuntime::Get().WithModel([&](SimDevice& model) { return model.EventOp(event->index); });
  SynchronizeOp(op, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, ResolveStream(nullptr),
                event->id, call);
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020, "cudaEventQuery");
  if (!call.ok()) return call.Fail();
  if (event == nullptr) return call.Return(cudaErrorInvalidResourceHandle);
  const bool done = !event->recorded || TimeOf(event).has_value();
  return call.Return(done ? cudaSuccess : cudaErrorNotReady);
}

GPUBOUND_CUDART_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                                     cudaEvent_t end) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaEventElapsedTime_v12080, "cudaEventElapsedTime");
  if (!call.ok()) return call.Fail();
  if (start == nullptr || end == nullptr || !start->recorded || !end->recorded) {
    return call.Return(cudaErrorInvalidResourceHandle);
  }
  const auto from = TimeOf(start);
  const auto to = TimeOf(end);
  if (!from || !to) return call.Return(cudaErrorNotReady);
  *milliseconds = static_cast<float>(static_cast<double>(*to - *from) / 1e6);
  return call.Return(cudaSuccess);
}
