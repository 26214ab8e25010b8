// SPDX-License-Identifier: Apache-2.0
//
// Memory of the stand-in libcudart.so.13. Device memory is host memory, so host bodies compute on
// it directly. Copies are made when the device gets to them, small ones by whichever thread moves
// the model, large ones by an executor, so that nobody holds the model's lock for long.
#include <cupti_activity.h>
#include <cupti_runtime_cbid.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "tests/fake_cupti/cudart_state.h"

namespace gpubound::sim {
namespace {

constexpr size_t kInlineCopyBytes = 256 * 1024;
constexpr size_t kAlignment = 256;

struct Allocation {
  size_t bytes;
  uint8_t kind;  // CUpti_ActivityMemoryKind
  int device;
};

struct Allocations {
  std::mutex mutex;
  std::map<const char*, Allocation> by_address;
};

Allocations& TheAllocations() {
  static auto* const allocations = new Allocations();
  return *allocations;
}

bool FindAllocation(const void* pointer, Allocation* found) {
  Allocations& all = TheAllocations();
  const auto* address = static_cast<const char*>(pointer);
  std::lock_guard<std::mutex> lock(all.mutex);
  auto next = all.by_address.upper_bound(address);
  if (next == all.by_address.begin()) return false;
  --next;
  if (address >= next->first + next->second.bytes) return false;
  *found = next->second;
  return true;
}

cudaError_t Allocate(void** pointer, size_t bytes, uint8_t kind) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  *pointer = std::aligned_alloc(kAlignment, rounded);
  if (*pointer == nullptr) return cudaErrorMemoryAllocation;
  Allocations& all = TheAllocations();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.by_address[static_cast<const char*>(*pointer)] = {bytes, kind, CurrentThread().device};
  return cudaSuccess;
}

cudaError_t Release(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  Allocations& all = TheAllocations();
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    if (all.by_address.erase(static_cast<const char*>(pointer)) == 0) return cudaErrorInvalidValue;
  }
  std::free(pointer);
  return cudaSuccess;
}

bool IsDevice(uint8_t kind) {
  return kind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE || kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
}

uint8_t CopyKindOf(uint8_t source, uint8_t destination) {
  if (IsDevice(source)) {
    return IsDevice(destination) ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD
                                 : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  }
  return IsDevice(destination) ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD : CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
}

void AttachWork(OpSpec* spec, size_t bytes, std::function<void()> work) {
  if (bytes > kInlineCopyBytes) {
    spec->external_body = true;
    spec->body = std::move(work);
  } else {
    spec->at_end = std::move(work);
  }
}

struct CopyRequest {
  void* destination;
  const void* source;
  size_t bytes;
  bool is_async;
  bool is_peer = false;
  uint32_t source_device = 0;
  uint32_t destination_device = 0;
};

// One copy on |stream_handle|. A copy from pageable memory reads its source before the call
// returns, one into pageable memory is complete when the call returns, as with the real runtime.
cudaError_t Copy(ApiCall& call, const CopyRequest& request, cudaStream_t stream_handle) {
  if (!call.ok()) return call.Fail();
  if (request.bytes == 0) return call.Return(cudaSuccess);
  if (request.destination == nullptr || request.source == nullptr) {
    return call.Return(cudaErrorInvalidValue);
  }
  CUstream_st* stream = ResolveStream(stream_handle);
  CopyEnds ends;
  ends.source_kind = MemoryKindOf(request.source);
  ends.destination_kind = MemoryKindOf(request.destination);
  ends.is_async = request.is_async;
  ends.is_peer = request.is_peer;
  ends.source = {request.source_device, ContextOf(request.source_device), 0};
  ends.destination = {request.destination_device, ContextOf(request.destination_device), 0};
  OpSpec spec;
  spec.kind = OpKind::kMemcpy;
  spec.bytes = request.bytes;
  spec.work.kind = WorkKind::kMemcpy;
  spec.work.copy_kind = request.is_peer ? uint8_t{CUPTI_ACTIVITY_MEMCPY_KIND_PTOP}
                                        : CopyKindOf(ends.source_kind, ends.destination_kind);
  const bool pageable_source = ends.source_kind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  const bool pageable_destination = ends.destination_kind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  if (pageable_source && stream->capture == nullptr) {
    const auto* bytes = static_cast<const char*>(request.source);
    auto staged = std::make_shared<std::vector<char>>(bytes, bytes + request.bytes);
    AttachWork(&spec, request.bytes, [staged, to = request.destination] {
      std::memcpy(to, staged->data(), staged->size());
    });
  } else {
    AttachWork(&spec, request.bytes,
               [to = request.destination, from = request.source, bytes = request.bytes] {
                 std::memmove(to, from, bytes);
               });
  }
  const OpId op = SubmitTo(stream, std::move(spec), ends, call);
  if (op != 0 && (!request.is_async || pageable_destination)) GpuRuntime::Get().WaitForOp(op);
  return call.Return(cudaSuccess);
}

cudaError_t Set(ApiCall& call, void* pointer, int value, size_t bytes, cudaStream_t stream_handle,
                bool is_async) {
  if (!call.ok()) return call.Fail();
  if (bytes == 0) return call.Return(cudaSuccess);
  if (pointer == nullptr) return call.Return(cudaErrorInvalidValue);
  OpSpec spec;
  spec.kind = OpKind::kMemset;
  spec.bytes = bytes;
  spec.work.kind = WorkKind::kMemset;
  AttachWork(&spec, bytes, [pointer, value, bytes] { std::memset(pointer, value, bytes); });
  CopyEnds ends;
  ends.destination_kind = MemoryKindOf(pointer);
  ends.is_async = is_async;
  SubmitTo(ResolveStream(stream_handle), std::move(spec), ends, call);
  return call.Return(cudaSuccess);
}

}  // namespace

uint8_t MemoryKindOf(const void* pointer) {
  Allocation found{};
  return FindAllocation(pointer, &found) ? found.kind
                                         : uint8_t{CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE};
}

}  // namespace gpubound::sim

using namespace gpubound::sim;  // NOLINT: this file defines C entry points

GPUBOUND_CUDART_API cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, "cudaMalloc");
  if (!call.ok()) return call.Fail();
  return call.Return(Allocate(pointer, bytes, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE));
}

// Like the real one, waits for the device: something may still use the memory.
GPUBOUND_CUDART_API cudaError_t cudaFree(void* pointer) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020, "cudaFree");
  if (!call.ok()) return call.Fail();
  GpuRuntime::Get().WaitForDevice(static_cast<uint32_t>(CurrentThread().device));
  return call.Return(Release(pointer));
}

GPUBOUND_CUDART_API cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaMallocAsync_v11020, "cudaMallocAsync");
  if (!call.ok()) return call.Fail();
  return call.Return(Allocate(pointer, bytes, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE));
}

GPUBOUND_CUDART_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaFreeAsync_v11020, "cudaFreeAsync");
  if (!call.ok()) return call.Fail();
  OpSpec spec;
  spec.kind = OpKind::kJoin;
  spec.at_end = [pointer] { Release(pointer); };
  SubmitTo(ResolveStream(stream), std::move(spec), {}, call);
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaMallocManaged_v6000, "cudaMallocManaged");
  if (!call.ok()) return call.Fail();
  return call.Return(Allocate(pointer, bytes, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED));
}

GPUBOUND_CUDART_API cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaMallocHost_v3020, "cudaMallocHost");
  if (!call.ok()) return call.Fail();
  return call.Return(Allocate(pointer, bytes, CUPTI_ACTIVITY_MEMORY_KIND_PINNED));
}

GPUBOUND_CUDART_API cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaHostAlloc_v3020, "cudaHostAlloc");
  if (!call.ok()) return call.Fail();
  return call.Return(Allocate(pointer, bytes, CUPTI_ACTIVITY_MEMORY_KIND_PINNED));
}

GPUBOUND_CUDART_API cudaError_t cudaFreeHost(void* pointer) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaFreeHost_v3020, "cudaFreeHost");
  if (!call.ok()) return call.Fail();
  GpuRuntime::Get().WaitForDevice(static_cast<uint32_t>(CurrentThread().device));
  return call.Return(Release(pointer));
}

GPUBOUND_CUDART_API cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, "cudaMemcpy");
  return Copy(call, {.destination = to, .source = from, .bytes = bytes, .is_async = false},
              nullptr);
}

GPUBOUND_CUDART_API cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                                cudaMemcpyKind, cudaStream_t stream) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, "cudaMemcpyAsync");
  return Copy(call, {.destination = to, .source = from, .bytes = bytes, .is_async = true}, stream);
}

GPUBOUND_CUDART_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                                    int from_device, size_t bytes,
                                                    cudaStream_t stream) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyPeerAsync_v4000, "cudaMemcpyPeerAsync");
  return Copy(call,
              {.destination = to,
               .source = from,
               .bytes = bytes,
               .is_async = true,
               .is_peer = true,
               .source_device = static_cast<uint32_t>(from_device),
               .destination_device = static_cast<uint32_t>(to_device)},
              stream);
}

GPUBOUND_CUDART_API cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020, "cudaMemset");
  return Set(call, pointer, value, bytes, nullptr, false);
}

GPUBOUND_CUDART_API cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes,
                                                cudaStream_t stream) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, "cudaMemsetAsync");
  return Set(call, pointer, value, bytes, stream, true);
}

GPUBOUND_CUDART_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                         const void* pointer) {
  Allocation found{};
  *attributes = {};
  attributes->type = cudaMemoryTypeUnregistered;
  if (!FindAllocation(pointer, &found)) return cudaSuccess;
  attributes->type = found.kind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED    ? cudaMemoryTypeHost
                     : found.kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED ? cudaMemoryTypeManaged
                                                                        : cudaMemoryTypeDevice;
  attributes->device = found.device;
  attributes->devicePointer = const_cast<void*>(pointer);
  return cudaSuccess;
}

GPUBOUND_CUDART_API cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *total_bytes = size_t{16} << 30;
  *free_bytes = size_t{15} << 30;
  return cudaSuccess;
}
