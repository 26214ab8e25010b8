// SPDX-License-Identifier: Apache-2.0
//
// Passes what sources say to the part of the collector that it concerns.
#include "libprofiler/collector_host.h"

#include <exception>

#include "libprofiler/collector.h"
#include "libprofiler/current_thread.h"
#include "libprofiler/debug_log.h"
#include "libprofiler/lifecycle.h"
#include "libprofiler/log.h"

namespace gpubound {

ThreadBuffer* CollectorHost::CallingThread() {
  if (use_thread_local_) return BufferOfThisThread();
  const uint32_t tid = CurrentTid();
  const std::lock_guard<std::mutex> lock(mutex_);
  ThreadBuffer*& buffer = buffers_[tid];
  if (buffer == nullptr) buffer = collector_->RegisterThread(tid, ThreadName(tid));
  return buffer != nullptr ? buffer : BufferOfThisThread();
}

DeviceSink* CollectorHost::NewSink() {
  const uint32_t tid = CurrentTid();
  const ThreadId thread = collector_->threads()->AddThread(tid, ThreadName(tid));
  auto sink = std::make_unique<RecordSink>(collector_->context(), thread);
  const std::lock_guard<std::mutex> lock(mutex_);
  sinks_.push_back(std::move(sink));
  return sinks_.back().get();
}

LabelId CollectorHost::InternLabel(LabelKind kind, std::string_view domain, std::string_view text) {
  return collector_->labels()->Intern(kind, Layer::kUnset, domain, text);
}

LabelId CollectorHost::FindLabel(LabelKind kind, std::string_view domain, std::string_view text) {
  return collector_->labels()->Find(kind, Layer::kUnset, domain, text);
}

WorkId CollectorHost::InternWork(const WorkInfo& info, std::string_view name) {
  return collector_->device_tables()->InternWork(info, name);
}

StreamId CollectorHost::InternStream(DeviceId device, uint32_t context, uint32_t stream) {
  const StreamId id = collector_->device_tables()->InternStream(device, context, stream);
  WriteRowsSoon();
  return id;
}

DeviceId CollectorHost::DefineDevice(const DeviceInfo& info, std::string_view name) {
  DebugLog("device %u is %.*s", info.index, static_cast<int>(name.size()), name.data());
  return collector_->device_tables()->DefineDevice(info, name);
}

void CollectorHost::DefineContext(const ContextInfo& info) {
  collector_->device_tables()->DefineContext(info);
}

void CollectorHost::DefineGraphNode(const GraphNodeInfo& info, std::string_view name) {
  collector_->device_tables()->DefineGraphNode(info, name);
}

LabelId CollectorHost::OpenOperation() {
  const ThreadBuffer* thread = CallingThread();
  LabelId annotation{};
  for (uint32_t i = thread->open_depth(); i-- > 0;) {
    const LabelId open = thread->open_label(i);
    const LabelKind kind = collector_->labels()->KindOf(open);
    if (kind == LabelKind::kOperation) return open;
    if (kind == LabelKind::kAnnotation && annotation == LabelId{}) annotation = open;
  }
  return annotation;
}

LabelId CollectorHost::InternRange(std::string_view domain, std::string_view text) {
  return InternLabel(LabelKind::kAnnotation, domain, text);
}

void CollectorHost::BeginScope(LabelId label) {
  if (collector_->ended()) return;
  CallingThread()->Begin(label, collector_->clock()->Ticks());
}

void CollectorHost::EndScope(LabelId label) {
  if (collector_->ended()) return;
  CallingThread()->End(label, collector_->clock()->Ticks());
}

void CollectorHost::StartRange(LabelId label, uint64_t range) {
  CallingThread()->EmitWithPayload(SlotKind::kRangeStart, label, range,
                                   collector_->clock()->Ticks());
}

void CollectorHost::EndRange(LabelId label, uint64_t range) {
  CallingThread()->EmitWithPayload(SlotKind::kRangeEnd, label, range, collector_->clock()->Ticks());
}

void CollectorHost::Mark(LabelId label) {
  CallingThread()->Emit(SlotKind::kMark, label, collector_->clock()->Ticks());
}

void CollectorHost::AddSample(const UtilizationSample& sample, std::string_view uuid) {
  collector_->device_tables()->AddSample(sample, uuid);
}

void CollectorHost::AddSample(const ProcessTreeSample& sample) {
  collector_->device_tables()->AddSample(sample);
}

void CollectorHost::AddSample(const CounterSample& sample) {
  collector_->device_tables()->AddSample(sample);
}

void CollectorHost::AddClient(const DeviceClient& client, std::string_view uuid,
                              std::string_view name) {
  collector_->device_tables()->AddClient(client, uuid, name);
}

uint64_t CollectorHost::DevicesUsed() { return collector_->device_tables()->DevicesUsed(); }

void CollectorHost::Count(LedgerCounter counter, uint64_t amount) {
  collector_->ledger()->Add(counter, amount);
}

void CollectorHost::MarkUnknown(int64_t from_ns, int64_t to_ns, std::string_view reason) {
  collector_->device_tables()->MarkUnknown(from_ns, to_ns, reason);
}

void CollectorHost::DeliveredUntil(int64_t until_ns) {
  collector_->drain()->SetDeliveredUntil(until_ns);
  WriteRowsSoon();
}

void CollectorHost::Note(std::string_view text) {
  if (!LogOnce("%.*s", static_cast<int>(text.size()), text.data())) return;
  try {
    collector_->device_tables()->AddNote(collector_->clock()->MonotonicNs(), text);
  } catch (const std::exception&) {  // out of memory: it has been said
  }
}

void CollectorHost::EndBeforeHandlersSoFar() { gpubound::EndBeforeHandlersSoFar(); }

void CollectorHost::Fact(std::string_view key, std::string_view value) {
  collector_->device_tables()->AddFact(key, value);
  // That a device records is to be in the trace even of a process that is killed at once.
  WriteRowsSoon();
}

void CollectorHost::WriteRowsSoon() { collector_->context()->pool->Wake(); }

}  // namespace gpubound
