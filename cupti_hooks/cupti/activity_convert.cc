// SPDX-License-Identifier: Apache-2.0
//
// One function for each kind of record.
#include "cupti_hooks/cupti/activity_convert.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "cupti_hooks/cupti/overhead_kinds.h"
#include "cupti_hooks/cupti/record_layouts.h"

namespace gpubound {
namespace {

template <typename Record>
const Record& As(const CUpti_Activity* record) {
  return *reinterpret_cast<const Record*>(record);
}

struct NameDeleter {
  void operator()(const char* name) const { std::free(const_cast<char*>(name)); }
};

// PID_MAX_LIMIT of Linux. What is above is the lower half of a pthread_t, by which CUPTI calls
// threads unless told otherwise.
constexpr uint32_t kMostThreadId = 1 << 22;

// A program that instantiates for ever must not make the set of known graphs grow for ever.
constexpr size_t kMaxGraphs = 1 << 16;

uint32_t Unsigned(int32_t value) { return value < 0 ? 0 : static_cast<uint32_t>(value); }

}  // namespace

ActivityConverter::ActivityConverter(const CuptiApi& api, DeviceHost* host, DeviceSink* sink,
                                     CallbackState* state)
    : api_(api),
      host_(host),
      sink_(sink),
      state_(state),
      functions_(state->functions),
      works_(host, api.simulated_device) {}

void ActivityConverter::Convert(uint8_t* buffer, size_t valid_bytes) {
  CUpti_Activity* record = nullptr;
  while (true) {
    const CUptiResult result = api_.cuptiActivityGetNextRecord(buffer, valid_bytes, &record);
    if (result == CUPTI_ERROR_MAX_LIMIT_REACHED) return;
    if (result != CUPTI_SUCCESS) {
      // A record that CUPTI itself cannot read; where the next one begins is not known.
      ++counts_.unreadable;
      return;
    }
    ConvertRecord(record);
  }
}

void ActivityConverter::Convert(const TimedCall& call) {
  if (!call.has_record) {
    sink_->Append(ApiRecordOf(call, functions_.LabelOf(call.domain, call.id)));
  }
  if (call.awaited != Awaited::kNone) sink_->Append(SyncRecordOf(call));
}

ConvertCounts ActivityConverter::TakeCounts() {
  counts_.untimed = untimed_.TakeLost();
  return std::exchange(counts_, ConvertCounts());
}

void ActivityConverter::ConvertRecord(const CUpti_Activity* record) {
  switch (NumberAt(record, 0)) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return ConvertRuntimeCall(record);
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return ConvertKernel(record);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return ConvertMemcpy(record);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return ConvertPeerCopy(record);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return ConvertMemset(record);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return ConvertGraph(record);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return ConvertOverhead(record);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return ConvertDevice(record);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return ConvertContext(record);
    case kGreenContextKind:
      return ConvertGreenContext(record);
    case CUPTI_ACTIVITY_KIND_STREAM:
    case CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE:
      return;  // come along with others; say nothing that is recorded
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return;  // asked for by another tool; callbacks have told the same
    case CUPTI_ACTIVITY_KIND_CDP_KERNEL:
      ++counts_.unknown_kinds;
      return;
    default:
      // Up to there are the kinds that another tool may have asked for and that are no work of a
      // device. Of what comes later nobody knows.
      if (NumberAt(record, 0) > CUPTI_ACTIVITY_KIND_JIT) ++counts_.unknown_kinds;
  }
}

void ActivityConverter::ConvertRuntimeCall(const CUpti_Activity* record) {
  constexpr auto kDomain = CUPTI_CB_DOMAIN_RUNTIME_API;
  const auto& from = As<CUpti_ActivityAPI>(record);
  if (functions_.IsQuiet(kDomain, from.cbid)) {
    ++counts_.skipped;
    return;
  }
  ApiRecord to{};
  to.start_ns = from.start;
  to.end_ns = std::max(from.start, from.end);
  to.correlation = from.correlationId;
  to.tid = from.threadId;
  to.label = functions_.LabelOf(kDomain, from.cbid);
  to.result = static_cast<int32_t>(from.returnValue);
  if (from.start == 0) {  // a call that CUPTI could not time says nothing
    ++counts_.untimed_calls;
    return;
  }
  if (from.end < from.start) ++counts_.inverted;
  if (from.threadId > kMostThreadId) ++counts_.foreign_threads;
  sink_->Append(to);
  ++counts_.records;
}

template <typename Record>
bool ActivityConverter::TimeDeviceWork(const Record& from, DeviceRecord* to) {
  const UntimedWork::Place place = {from.contextId, from.streamId, from.correlationId};
  // Zero at both ends: CUPTI had no device memory for the times. Zero at the end: handed back by a
  // forced flush while it ran.
  if (from.start == 0 || from.end == 0) {
    untimed_.OnUntimed(place);
    return false;
  }
  if (from.end < from.start) {  // which of the two is wrong, nobody tells
    ++counts_.inverted_work;
    return false;
  }
  untimed_.OnTimed(place, from.end);
  to->start_ns = from.start;
  to->end_ns = from.end;
  return true;
}

void ActivityConverter::Append(const DeviceRecord& record) {
  if (record.graph != 0) NoteGraph(record.graph);
  sink_->Append(record);
  ++counts_.records;
}

void ActivityConverter::NoteGraph(uint32_t graph) {
  if (graphs_.size() >= kMaxGraphs || !graphs_.insert(graph).second) return;
  if (!state_->graphs.WasSeen(graph)) ++counts_.unseen_graphs;
}

void ActivityConverter::ConvertKernel(const CUpti_Activity* record) {
  const auto& from = As<KernelRecord>(record);
  DeviceRecord to{};
  if (!TimeDeviceWork(from, &to)) return;
  WorkInfo info;
  info.kind = WorkKind::kKernel;
  const int32_t grid[3] = {from.gridX, from.gridY, from.gridZ};
  const int32_t block[3] = {from.blockX, from.blockY, from.blockZ};
  for (int i = 0; i < 3; ++i) {
    info.grid[i] = Unsigned(grid[i]);
    info.block[i] = Unsigned(block[i]);
  }
  info.registers_per_thread = from.registersPerThread;
  info.static_shared_bytes = Unsigned(from.staticSharedMemory);
  info.dynamic_shared_bytes = Unsigned(from.dynamicSharedMemory);
  to.work = works_.KernelOf(info, from.name);
  to.stream = works_.StreamOf(from.deviceId, from.contextId, from.streamId);
  to.correlation = from.correlationId;
  to.graph = from.graphId;
  to.graph_node = from.graphNodeId;
  Append(to);
}

// Copies and sets: three record layouts, one meaning. False without a usable time.
template <typename Record>
bool ActivityConverter::AppendBytes(const Record& from, WorkId work) {
  DeviceRecord to{};
  if (!TimeDeviceWork(from, &to)) return false;
  to.work = work;
  to.stream = works_.StreamOf(from.deviceId, from.contextId, from.streamId);
  to.bytes = from.bytes;
  to.correlation = from.correlationId;
  to.graph = from.graphId;
  to.graph_node = from.graphNodeId;
  Append(to);
  return true;
}

void ActivityConverter::ConvertMemcpy(const CUpti_Activity* record) {
  const auto& from = As<MemcpyRecord>(record);
  AppendBytes(from, works_.CopyOf(from.copyKind));
}

void ActivityConverter::ConvertPeerCopy(const CUpti_Activity* record) {
  const auto& from = As<PeerCopyRecord>(record);
  if (!AppendBytes(from, works_.CopyOf(from.copyKind))) return;
  if (from.srcDeviceId == from.dstDeviceId) return;
  // The device at the other end is busy with it as long; the copy and its bytes are counted once.
  // CUPTI names no stream there, and none of its own has number 0.
  const bool source_runs_it = from.deviceId == from.srcDeviceId;
  DeviceRecord other{};
  other.start_ns = from.start;
  other.end_ns = from.end;
  other.work = works_.OtherEndOf(from.copyKind);
  other.stream = source_runs_it ? works_.StreamOf(from.dstDeviceId, from.dstContextId, 0)
                                : works_.StreamOf(from.srcDeviceId, from.srcContextId, 0);
  other.correlation = from.correlationId;
  other.graph = from.graphId;
  other.graph_node = from.graphNodeId;
  Append(other);
}

void ActivityConverter::ConvertMemset(const CUpti_Activity* record) {
  AppendBytes(As<MemsetRecord>(record), works_.Memset());
}

void ActivityConverter::ConvertGraph(const CUpti_Activity* record) {
  auto from = As<GraphRecord>(record);
  if (from.deviceId == kOnHost && api_.version >= kCuptiGraphsEndElsewhere) {
    from.deviceId = NumberAt(record, kGraphEndDeviceOffset);
    from.contextId = NumberAt(record, kGraphEndContextOffset);
  }
  if (from.deviceId == kOnHost) {  // at both ends: which device ran what lies between is not told
    ++counts_.graphs_of_no_device;
    return;
  }
  DeviceRecord to{};
  if (!TimeDeviceWork(from, &to)) return;
  ++counts_.whole_graphs;
  to.work = works_.Graph();
  to.stream = works_.StreamOf(from.deviceId, from.contextId, from.streamId);
  to.correlation = from.correlationId;
  to.graph = from.graphId;
  Append(to);
}

void ActivityConverter::ConvertOverhead(const CUpti_Activity* record) {
  const auto& from = As<CUpti_ActivityOverhead>(record);
  if (from.start == 0) return;  // without a time there is nothing to subtract
  OverheadRecord to{};
  to.start_ns = from.start;
  to.end_ns = std::max(from.start, from.end);
  const uint32_t object = NumberAt(record, offsetof(CUpti_ActivityOverhead, objectKind));
  if (object == CUPTI_ACTIVITY_OBJECT_THREAD) to.tid = from.objectId.pt.threadId;
  if (api_.version >= kCuptiOverheadHasCorrelation) {
    to.correlation = NumberAt(record, kOverheadCorrelationOffset);
  }
  const uint32_t kind = NumberAt(record, offsetof(CUpti_ActivityOverhead, overheadKind));
  const auto* known = std::find_if(std::begin(kOverheadNames), std::end(kOverheadNames),
                                   [kind](const OverheadName& name) { return name.kind == kind; });
  if (known == std::end(kOverheadNames)) {
    to.label = host_->InternLabel(LabelKind::kOverhead, "cupti", "kind " + std::to_string(kind));
  } else {
    LabelId& label = overheads_[known - kOverheadNames];
    if (label == LabelId{}) label = host_->InternLabel(LabelKind::kOverhead, "cupti", known->name);
    to.label = label;
  }
  if (from.end < from.start) ++counts_.inverted;
  sink_->Append(to);
  ++counts_.records;
}

void ActivityConverter::ConvertContext(const CUpti_Activity* record) {
  if (api_.version < kCuptiGreenContexts) return;  // came along with others, and tells nothing
  const auto& from = As<ContextRecord>(record);
  host_->DefineContext(
      {from.device, from.context, from.parent, from.multiprocessors, from.is_green != 0});
  ++counts_.records;
}

void ActivityConverter::ConvertGreenContext(const CUpti_Activity* record) {
  const auto& from = As<GreenContextRecord>(record);
  host_->DefineContext({from.device, from.context, from.parent, from.multiprocessors, true});
  ++counts_.records;
}

void ActivityConverter::ConvertDevice(const CUpti_Activity* record) {
  const auto& from = As<DeviceLimitsRecord>(record);
  // Ours to free where CUPTI's header says so; where it does not, the next record may have it too.
  const bool is_ours = api_.version >= kCuptiGivesDeviceNameAway;
  const std::unique_ptr<const char, NameDeleter> owned(is_ours ? from.name : nullptr);
  if (from.isCudaVisible == 0) return;  // in the machine, but not this process's
  DeviceInfo info;
  info.index = from.id;
  info.multiprocessors = from.numMultiprocessors;
  info.max_warps_per_multiprocessor = from.maxWarpsPerMultiprocessor;
  info.max_blocks_per_multiprocessor = from.maxBlocksPerMultiprocessor;
  info.max_registers_per_multiprocessor = from.maxRegistersPerMultiprocessor;
  info.max_shared_bytes_per_multiprocessor = from.maxSharedMemoryPerMultiprocessor;
  info.threads_per_warp = from.numThreadsPerWarp;
  info.compute_capability_major = from.computeCapabilityMajor;
  info.compute_capability_minor = from.computeCapabilityMinor;
  info.memory_bytes = from.globalMemorySize;
  info.is_mig = from.isMigEnabled != 0;
  const CUuuid& uuid = info.is_mig ? from.migUuid : from.uuid;
  static_assert(sizeof(uuid.bytes) == sizeof(info.uuid));
  std::memcpy(info.uuid, uuid.bytes, sizeof(info.uuid));
  works_.DescribeDevice(info, from.name == nullptr ? "" : from.name);
  ++counts_.records;
}

}  // namespace gpubound
