// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/virtual_calls.h"

#include <utility>

namespace gpubound::sim {
namespace {

constexpr uint8_t kHostToDevice = 1;  // CUpti_ActivityMemcpyKind

std::vector<GraphNode> NodesOf(const Statement& statement, OpSpec spec) {
  if (statement.nodes.empty()) return {{spec, {}}, {spec, {0}}, {spec, {0}}};
  std::vector<GraphNode> nodes;
  for (const TimeNs duration_ns : statement.nodes) {
    spec.duration_ns = duration_ns;
    const auto last = static_cast<uint32_t>(nodes.size()) - 1;
    nodes.push_back({spec, nodes.empty() ? std::vector<uint32_t>{} : std::vector{last}});
  }
  return nodes;
}

}  // namespace

const char* ApiNameOf(Action action) {
  switch (action) {
    case Action::kLaunch:
      return "cudaLaunchKernel";
    case Action::kCopyAsync:
    case Action::kCopyPageable:
      return "cudaMemcpyAsync";
    case Action::kCopy:
      return "cudaMemcpy";
    case Action::kSet:
      return "cudaMemsetAsync";
    case Action::kGraph:
      return "cudaGraphLaunch";
    case Action::kRecordEvent:
      return "cudaEventRecord";
    case Action::kStreamWait:
      return "cudaStreamWaitEvent";
    case Action::kSyncStream:
      return "cudaStreamSynchronize";
    case Action::kSyncEvent:
      return "cudaEventSynchronize";
    case Action::kSyncDevice:
      return "cudaDeviceSynchronize";
    default:
      return nullptr;  // no API call
  }
}

void SubmitTo(SimDevice* device, const Statement& statement, uint32_t correlation, TimeNs now,
              std::vector<OpId>* waits_for) {
  const StreamIndex stream = statement.slot;
  OpSpec spec;
  spec.name = statement.name;
  spec.correlation = correlation;
  spec.duration_ns = statement.device_ns;
  spec.work = statement.geometry;
  switch (statement.action) {
    case Action::kLaunch:
      device->Submit(stream, std::move(spec), now);
      break;
    case Action::kCopyAsync:
    case Action::kCopyPageable:
    case Action::kCopy: {
      spec.kind = OpKind::kMemcpy;
      spec.work.copy_kind = kHostToDevice;
      spec.bytes = static_cast<uint64_t>(statement.device_ns);
      const OpId op = device->Submit(stream, std::move(spec), now);
      if (statement.action != Action::kCopyAsync) waits_for->push_back(op);
      break;
    }
    case Action::kSet:
      spec.kind = OpKind::kMemset;
      spec.bytes = 1;
      device->Submit(stream, std::move(spec), now);
      break;
    case Action::kGraph:
      device->SubmitGraph(stream, NodesOf(statement, spec), 0, now);
      break;
    case Action::kRecordEvent:
      device->RecordEvent(statement.event, stream, now);
      break;
    case Action::kStreamWait:
      device->WaitEvent(stream, statement.event, now);
      break;
    case Action::kSyncStream:
      waits_for->push_back(device->Tail(stream));
      break;
    case Action::kSyncEvent:
      waits_for->push_back(device->EventOp(statement.event));
      break;
    case Action::kSyncDevice:
      *waits_for = device->Tails(0);
      break;
    default:
      break;
  }
}

}  // namespace gpubound::sim
