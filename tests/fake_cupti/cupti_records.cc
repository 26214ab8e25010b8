// SPDX-License-Identifier: Apache-2.0
//
// The records of the stand-in libcupti.so.13: which are made when, with what in them.
#include <cupti.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "tests/fake_cupti/cudart_state.h"
#include "tests/fake_cupti/cupti_monitor.h"
#include "tests/fake_cupti/profiler_code.h"
#include "tests/fake_cupti/record_layout.h"

namespace gpubound::sim {
namespace {

// Values of cuptiGetVersion.
constexpr uint32_t kNodeUpdatesSince = 130000;    // the headers of 12.8 lack the callbacks
constexpr uint32_t kCommandBufferFullSince = 22;  // 12.4: the overhead kind exists
constexpr TimeNs kInvertedByNs = 1000;

bool EveryNth(uint64_t count, uint32_t n) { return n != 0 && count % n == 0; }

CUgraphNodeType NodeTypeOf(OpKind kind) {
  switch (kind) {
    case OpKind::kKernel:
      return CU_GRAPH_NODE_TYPE_KERNEL;
    case OpKind::kMemset:
      return CU_GRAPH_NODE_TYPE_MEMSET;
    case OpKind::kHostFunction:
      return CU_GRAPH_NODE_TYPE_HOST;
    case OpKind::kMemcpy:
      return CU_GRAPH_NODE_TYPE_MEMCPY;
    default:
      return CU_GRAPH_NODE_TYPE_EMPTY;
  }
}

// Start and end lie at the same place in kernels and memcpys, but not in graph traces.
struct Interval {
  size_t start_offset;
  size_t end_offset;
};
Interval IntervalOf(uint32_t kind) {
  if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) {
    return {offsetof(CUpti_ActivityGraphTrace2, start), offsetof(CUpti_ActivityGraphTrace2, end)};
  }
  static_assert(offsetof(CUpti_ActivityKernel10, start) == offsetof(CUpti_ActivityMemcpy6, start));
  static_assert(offsetof(CUpti_ActivityKernel10, start) == offsetof(CUpti_ActivityMemset4, start));
  static_assert(offsetof(CUpti_ActivityKernel10, start) ==
                offsetof(CUpti_ActivityMemcpyPtoP4, start));
  return {offsetof(CUpti_ActivityKernel10, start), offsetof(CUpti_ActivityKernel10, end)};
}

}  // namespace

std::array<std::vector<uint64_t>, 16>& ExternalCorrelationStacks() {
  static thread_local std::array<std::vector<uint64_t>, 16> stacks;
  return stacks;
}

// Appends |record|, cut or padded to the length it has in the presented version; does the faults
// that concern records as such.
uint64_t CuptiMonitor::PutBytes(const void* record, size_t record_bytes, bool complete) {
  uint32_t kind = 0;
  std::memcpy(&kind, record, sizeof(kind));
  if (kind != 0 && kind == faults().hidden_kind && ++of_hidden_kind_ > faults().hidden_after)
    return 0;
  const size_t bytes = RecordBytes(kind, version());
  const uint64_t count = records_.fetch_add(1) + 1;
  if (faults().fatal_error_after != 0 && count > faults().fatal_error_after) {
    EndItself();
    return 0;
  }
  if (EveryNth(count, faults().drop_every)) {
    buffers_.CountDropped();
    return 0;
  }
  uint8_t image[512] = {};
  std::memcpy(image, record, std::min(bytes, record_bytes));
  const uint64_t token = buffers_.Add(image, bytes, complete);
  if (EveryNth(count, faults().unknown_kind_every)) {
    uint8_t unknown[64] = {};
    std::memcpy(unknown, &kUnknownKind, sizeof(kUnknownKind));
    buffers_.Add(unknown, RecordBytes(kUnknownKind, version()), true);
  }
  return token;
}

uint32_t CuptiMonitor::ThreadId() const {
  if (thread_id_type_ == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM && !faults().truncated_thread_ids) {
    return SystemThreadId();
  }
  return static_cast<uint32_t>(
      reinterpret_cast<uintptr_t>(reinterpret_cast<void*>(pthread_self())));
}

TimeNs CuptiMonitor::DeviceTime(TimeNs realtime_ns) const {
  const TimeNs since = realtime_ns - GpuRuntime::Get().initialised_ns();
  const TimeNs skew = since * faults().device_skew_ppm / 1'000'000;
  return GpuRuntime::Get().ToCuptiClock(realtime_ns) + skew + faults().kernel_start_shift_ns;
}

const char* CuptiMonitor::InternName(const std::string& name) {
  std::lock_guard<std::mutex> lock(mutex_);
  return names_.insert(name).first->c_str();
}

bool CuptiMonitor::RecordsApi(const ApiInfo& info) const {
  const bool runtime = info.domain == ApiDomain::kRuntime;
  if (!IsEnabled(runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER)) return false;
  return !(runtime ? denied_runtime_ : denied_driver_)[info.cbid];
}

bool CuptiMonitor::IsCalledBackFor(const ApiInfo& info) const {
  const bool runtime = info.domain == ApiDomain::kRuntime;
  return IsCallbackEnabled(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API,
                           info.cbid);
}

bool CuptiMonitor::ApiEnter(ApiInfo* info) {
  if (subscribed_.load(std::memory_order_relaxed)) {
    is_in_use_.store(true, std::memory_order_relaxed);
  }
  const bool listens = RecordsApi(*info) || IsCalledBackFor(*info);
  CallBackApi(info, CUPTI_API_ENTER);
  if (listens) {
    SpinFor(info->entry_ns);
    ExecuteProfilerCode(0, info->entry_functions);
  }
  CallBackDriver(info, CUPTI_API_ENTER);
  return listens;
}

void CuptiMonitor::ApiExit(ApiInfo* info) {
  if (RecordsApi(*info)) {
    const bool runtime = info->domain == ApiDomain::kRuntime;
    PutApi(*info, runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER, info->cbid,
           info->correlation);
  }
  CallBackDriver(info, CUPTI_API_EXIT);
  CallBackApi(info, CUPTI_API_EXIT);
}

void CuptiMonitor::PutApi(const ApiInfo& info, uint32_t kind, uint32_t cbid, uint32_t correlation) {
  if (IsEnabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) {
    const auto& stacks = ExternalCorrelationStacks();
    for (size_t external = 0; external < stacks.size(); ++external) {
      if (stacks[external].empty()) continue;
      CUpti_ActivityExternalCorrelation record = {};
      record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
      record.externalKind = static_cast<CUpti_ExternalCorrelationKind>(external);
      record.externalId = stacks[external].back();
      record.correlationId = correlation;
      Put(record, true);
    }
  }
  CUpti_ActivityAPI record = {};
  record.kind = static_cast<CUpti_ActivityKind>(kind);
  record.cbid = cbid;
  record.start = static_cast<uint64_t>(GpuRuntime::Get().ToCuptiClock(info.start_ns));
  record.end = static_cast<uint64_t>(GpuRuntime::Get().ToCuptiClock(info.end_ns));
  record.processId = static_cast<uint32_t>(getpid());
  record.threadId = ThreadId();
  record.correlationId = correlation;
  record.returnValue = static_cast<uint32_t>(info.result);
  Put(record, true);
}

uint64_t CuptiMonitor::Reserve(const OpSpec& op, const Place& place, const CopyEnds& ends) {
  if (op.kind == OpKind::kKernel) {
    const bool serial = IsEnabled(CUPTI_ACTIVITY_KIND_KERNEL);
    if (!serial && !IsEnabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) return 0;
    CUpti_ActivityKernel10 record = {};
    record.kind = serial ? CUPTI_ACTIVITY_KIND_KERNEL : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.registersPerThread = static_cast<uint16_t>(op.work.registers_per_thread);
    record.deviceId = place.device;
    record.contextId = place.context;
    record.streamId = place.stream;
    record.gridX = static_cast<int32_t>(op.work.grid[0]);
    record.gridY = static_cast<int32_t>(op.work.grid[1]);
    record.gridZ = static_cast<int32_t>(op.work.grid[2]);
    record.blockX = static_cast<int32_t>(op.work.block[0]);
    record.blockY = static_cast<int32_t>(op.work.block[1]);
    record.blockZ = static_cast<int32_t>(op.work.block[2]);
    record.staticSharedMemory = static_cast<int32_t>(op.work.static_shared_bytes);
    record.dynamicSharedMemory = static_cast<int32_t>(op.work.dynamic_shared_bytes);
    record.correlationId = op.correlation;
    record.name = InternName(op.name);
    record.graphNodeId = op.graph_node;
    record.graphId = op.graph;
    return Put(record, false);
  }
  if (op.kind == OpKind::kMemset) {
    if (!IsEnabled(CUPTI_ACTIVITY_KIND_MEMSET)) return 0;
    CUpti_ActivityMemset4 record = {};
    record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    record.bytes = op.bytes;
    record.deviceId = place.device;
    record.contextId = place.context;
    record.streamId = place.stream;
    record.correlationId = op.correlation;
    record.flags = ends.is_async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
    record.memoryKind = ends.destination_kind;
    record.graphNodeId = op.graph_node;
    record.graphId = op.graph;
    return Put(record, false);
  }
  const auto copy_flags = static_cast<uint8_t>(ends.is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC
                                                             : CUPTI_ACTIVITY_FLAG_NONE);
  if (ends.is_peer) {
    if (!IsEnabled(CUPTI_ACTIVITY_KIND_MEMCPY2)) return 0;
    CUpti_ActivityMemcpyPtoP4 record = {};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    record.copyKind = op.work.copy_kind;
    record.srcKind = ends.source_kind;
    record.dstKind = ends.destination_kind;
    record.flags = copy_flags;
    record.bytes = op.bytes;
    record.deviceId = place.device;
    record.contextId = place.context;
    record.streamId = place.stream;
    record.srcDeviceId = ends.source.device;
    record.srcContextId = ends.source.context;
    record.dstDeviceId = ends.destination.device;
    record.dstContextId = ends.destination.context;
    record.correlationId = op.correlation;
    return Put(record, false);
  }
  if (!IsEnabled(CUPTI_ACTIVITY_KIND_MEMCPY)) return 0;
  CUpti_ActivityMemcpy6 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = op.work.copy_kind;
  record.srcKind = ends.source_kind;
  record.dstKind = ends.destination_kind;
  record.flags = copy_flags;
  record.bytes = op.bytes;
  record.deviceId = place.device;
  record.contextId = place.context;
  record.streamId = place.stream;
  record.correlationId = op.correlation;
  record.graphNodeId = op.graph_node;
  record.graphId = op.graph;
  record.copyCount = 1;
  return Put(record, false);
}

uint64_t CuptiMonitor::ReserveGraph(uint32_t graph, uint32_t correlation, const Place& place) {
  if (!RecordsGraphsWhole()) return 0;
  CUpti_ActivityGraphTrace2 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  record.correlationId = correlation;
  record.deviceId = record.endDeviceId = place.device;
  record.graphId = graph;
  record.contextId = record.endContextId = place.context;
  record.streamId = place.stream;
  return Put(record, false);
}

void CuptiMonitor::Complete(uint64_t token, TimeNs start_ns, TimeNs end_ns) {
  const uint64_t count = device_records_.fetch_add(1) + 1;
  auto start = static_cast<uint64_t>(DeviceTime(start_ns));
  auto end = static_cast<uint64_t>(DeviceTime(end_ns));
  if (EveryNth(count, faults().zero_timestamps_every)) start = end = 0;
  if (EveryNth(count, faults().inverted_timestamps_every)) end = start - kInvertedByNs;
  buffers_.Complete(token, [&](uint8_t* record) {
    uint32_t kind = 0;
    std::memcpy(&kind, record, sizeof(kind));
    const Interval interval = IntervalOf(kind);
    std::memcpy(record + interval.start_offset, &start, sizeof(start));
    std::memcpy(record + interval.end_offset, &end, sizeof(end));
  });
}

void CuptiMonitor::Synchronized(uint32_t type, TimeNs start_ns, TimeNs end_ns, uint32_t correlation,
                                const Place& place, uint64_t event) {
  if (!IsEnabled(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) return;
  CUpti_ActivitySynchronization2 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = static_cast<CUpti_ActivitySynchronizationType>(type);
  record.start = static_cast<uint64_t>(GpuRuntime::Get().ToCuptiClock(start_ns));
  record.end = static_cast<uint64_t>(GpuRuntime::Get().ToCuptiClock(end_ns));
  record.correlationId = correlation;
  record.contextId = place.context;
  constexpr auto kNone = static_cast<uint32_t>(CUPTI_SYNCHRONIZATION_INVALID_VALUE);
  const bool is_context = type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  record.streamId = is_context ? kNone : place.stream;
  record.cudaEventId = event == 0 ? kNone : static_cast<uint32_t>(event);
  Put(record, true);
}

void CuptiMonitor::EventRecorded(uint32_t correlation, const Place& place, uint64_t event) {
  if (!IsEnabled(CUPTI_ACTIVITY_KIND_CUDA_EVENT)) return;
  CUpti_ActivityCudaEvent2 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  record.correlationId = correlation;
  record.contextId = place.context;
  record.streamId = place.stream;
  record.eventId = static_cast<uint32_t>(event);
  Put(record, true);
}

void CuptiMonitor::QueueFull(TimeNs start_ns, TimeNs end_ns, uint32_t correlation) {
  if (version() < kCommandBufferFullSince) return;
  PutOverhead(CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, start_ns, end_ns, correlation);
}

void CuptiMonitor::PutOverhead(uint32_t overhead_kind, TimeNs start_ns, TimeNs end_ns,
                               uint32_t correlation) {
  if (!IsEnabled(CUPTI_ACTIVITY_KIND_OVERHEAD)) return;
  CUpti_ActivityOverhead3 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  record.overheadKind = static_cast<CUpti_ActivityOverheadKind>(overhead_kind);
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt.processId = static_cast<uint32_t>(getpid());
  record.objectId.pt.threadId = ThreadId();
  record.start = static_cast<uint64_t>(GpuRuntime::Get().ToCuptiClock(start_ns));
  record.end = static_cast<uint64_t>(GpuRuntime::Get().ToCuptiClock(end_ns));
  record.correlationId = correlation;
  Put(record, true);
}

void CuptiMonitor::GraphNodeMade(const GraphNodeBirth& birth) {
  CUgraphNode_st node = {.id = birth.node};
  CUgraphNode_st original = {.id = birth.original};
  CUpti_GraphData graph = {};
  graph.graph = static_cast<CUgraph>(birth.graph);
  graph.node = &node;
  if (birth.original != 0) graph.originalNode = &original;
  graph.nodeType = NodeTypeOf(birth.kind);
  CUpti_ResourceData data = {};
  data.resourceDescriptor = &graph;
  CallBack(CUPTI_CB_DOMAIN_RESOURCE,
           birth.original != 0 ? CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED
                               : CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
           &data);
}

void CuptiMonitor::GraphInstantiated(void* executable) {
  CUpti_GraphData graph = {};
  graph.graphExec = static_cast<CUgraphExec>(executable);
  CUpti_ResourceData data = {};
  data.resourceDescriptor = &graph;
  CallBack(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, &data);
}

// As seen with CUPTI 13.0 on an H100: first the other graph's node, then the executable's own;
// neither with a graph.
void CuptiMonitor::GraphNodeUpdated(const GraphNodeUpdate& update) {
  if (version() < kNodeUpdatesSince) return;
  CUgraphNode_st source = {.id = update.source};
  CUgraphNode_st own = {.id = update.node};
  CUpti_GraphData graph = {};
  graph.graphExec = static_cast<CUgraphExec>(update.executable);
  graph.nodeType = NodeTypeOf(update.kind);
  CUpti_ResourceData data = {};
  data.resourceDescriptor = &graph;
  graph.node = &source;
  if (update.source != 0) {
    CallBack(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED, &data);
  }
  graph.node = &own;
  CallBack(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS, &data);
}

}  // namespace gpubound::sim
