// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sim_source.h"

#include <algorithm>

namespace gpubound::sim {
namespace {

WorkKind WorkKindOf(OpKind kind) {
  switch (kind) {
    case OpKind::kMemcpy:
      return WorkKind::kMemcpy;
    case OpKind::kMemset:
      return WorkKind::kMemset;
    default:
      return WorkKind::kKernel;
  }
}

}  // namespace

bool SimSource::Start(DeviceHost* host) {
  host_ = host;
  sink_ = host->NewSink();
  if (sink_ == nullptr) {
    host->Note("the simulated device got no sink: recording is off");
    return false;
  }
  DeviceInfo info = options_.device;
  info.simulated = true;
  device_ = host->DefineDevice(info, "gpubound simulated device 0");
  return true;
}

bool SimSource::ReadClock(int64_t* now_ns) {
  *now_ns = options_.now() + options_.clock_offset_ns;
  return true;
}

bool SimSource::Stop(int64_t, AfterStop) {
  Deliver();
  sink_ = nullptr;
  return true;
}

void SimSource::AbandonInForkChild() noexcept {
  host_ = nullptr;
  sink_ = nullptr;
}

uint64_t SimSource::SourceTime(TimeNs virtual_ns) const {
  return static_cast<uint64_t>(virtual_ns + options_.clock_offset_ns);
}

void SimSource::AddCall(const ApiFact& call, uint32_t tid) {
  if (sink_ == nullptr) return;
  calls_.push_back({.start_ns = SourceTime(call.begin_ns),
                    .end_ns = SourceTime(call.end_ns),
                    .correlation = call.correlation,
                    .tid = tid,
                    .label = host_->InternLabel(LabelKind::kApi, "", call.name),
                    .result = 0});
  if (call.queue_full_from_ns == call.queue_full_to_ns) return;
  overheads_.push_back(
      {.start_ns = SourceTime(call.queue_full_from_ns),
       .end_ns = SourceTime(call.queue_full_to_ns),
       .correlation = call.correlation,
       .tid = tid,
       .label = host_->InternLabel(LabelKind::kOverhead, "", "COMMAND_BUFFER_FULL"),
       .reserved = 0});
}

void SimSource::AddWork(const WorkFact& work) {
  if (sink_ == nullptr) return;
  WorkInfo info = work.geometry;
  info.kind = WorkKindOf(work.kind);
  work_.push_back({.start_ns = SourceTime(work.begin_ns),
                   .end_ns = SourceTime(work.end_ns),
                   .bytes = work.bytes,
                   .graph_node = 0,
                   .correlation = work.correlation,
                   .stream = host_->InternStream(device_, 1, work.stream),
                   .work = host_->InternWork(info, work.name),
                   .graph = 0});
}

void SimSource::MarkUnknown(const UnknownFact& unknown) {
  host_->MarkUnknown(unknown.from_ns, unknown.to_ns, "outage");
}

bool SimSource::Lose() {
  if (options_.drop_every == 0 || ++records_ % options_.drop_every != 0) return false;
  ++dropped_;
  host_->Count(LedgerCounter::cupti_records_dropped, 1);
  return true;
}

template <typename Record>
void SimSource::Append(std::vector<Record>* batch) {
  if (options_.reverse_batches) std::reverse(batch->begin(), batch->end());
  for (const Record& record : *batch) {
    if (!Lose()) sink_->Append(record);
  }
  batch->clear();
}

void SimSource::Deliver() {
  if (sink_ == nullptr) return;
  Append(&calls_);
  Append(&work_);
  Append(&overheads_);
  sink_->Publish();
  host_->DeliveredUntil(options_.now());
}

}  // namespace gpubound::sim
