// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sim_device.h"

#include <algorithm>
#include <utility>

namespace gpubound::sim {
namespace {

// Values of CUpti_ActivityMemcpyKind that go towards the device: engine 0. All others: engine 1.
constexpr uint8_t kCopyHostToDevice = 1;
constexpr TimeNs kNotStarted = INT64_MAX;

}  // namespace

const char* OpKindName(OpKind kind) {
  switch (kind) {
    case OpKind::kKernel:
      return "kernel";
    case OpKind::kMemcpy:
      return "memcpy";
    case OpKind::kMemset:
      return "memset";
    case OpKind::kHostFunction:
      return "host_function";
    case OpKind::kEventRecord:
      return "event_record";
    case OpKind::kJoin:
      return "join";
  }
  return "?";
}

SimDevice::SimDevice(const DeviceModelConfig& config) : config_(config) {
  config_.copy_engines = std::max(1u, config_.copy_engines);
  for (uint32_t device = 0; device < config_.devices; ++device) {
    streams_.push_back({.device = device});
    resources_.push_back({.free = std::max(1u, config_.compute_slots), .queue = {}});
    for (uint32_t engine = 0; engine < config_.copy_engines; ++engine) {
      resources_.push_back({.free = 1, .queue = {}});
    }
  }
  resources_.push_back({.free = std::max(1u, config_.body_slots), .queue = {}});
}

void SimDevice::set_on_complete(std::function<void(const Op&)> on_complete) {
  on_complete_ = std::move(on_complete);
}

StreamIndex SimDevice::CreateStream(uint32_t device, bool blocking) {
  streams_.push_back({.device = device, .blocking = blocking});
  return static_cast<StreamIndex>(streams_.size() - 1);
}

bool SimDevice::HasRoom(StreamIndex stream) const {
  return streams_[stream].incomplete < config_.queue_depth;
}

// What an operation that is put at the end of |stream| now has to wait for.
std::vector<OpId> SimDevice::Predecessors(StreamIndex stream) const {
  const Stream& own = streams_[stream];
  std::vector<OpId> after{own.tail};
  const bool legacy = stream < config_.devices;
  if (legacy) {
    for (const Stream& other : streams_) {
      if (other.device == own.device && other.blocking) after.push_back(other.tail);
    }
  } else if (own.blocking) {
    after.push_back(streams_[own.device].tail);
  }
  return after;
}

OpId SimDevice::Submit(StreamIndex stream, OpSpec spec, TimeNs now) {
  Advance(now);
  return Enqueue(stream, std::move(spec), now, Predecessors(stream), true);
}

OpId SimDevice::SubmitGraph(StreamIndex stream, const std::vector<GraphNode>& nodes, uint64_t user,
                            TimeNs now) {
  Advance(now);
  const std::vector<OpId> before = Predecessors(stream);
  std::vector<OpId> submitted;
  for (const GraphNode& node : nodes) {
    std::vector<OpId> after;
    for (uint32_t earlier : node.after) after.push_back(submitted[earlier]);
    if (after.empty()) after = before;
    submitted.push_back(Enqueue(stream, node.spec, now, after, false));
  }
  OpSpec join;
  join.kind = OpKind::kJoin;
  join.user = user;
  std::vector<OpId> all = submitted;
  all.insert(all.end(), before.begin(), before.end());
  const OpId id = Enqueue(stream, std::move(join), now, all, true);
  for (OpId node : submitted) ops_.at(node)->graph_join = id;
  return id;
}

EventIndex SimDevice::CreateEvent() {
  events_.emplace_back();
  return static_cast<EventIndex>(events_.size() - 1);
}

OpId SimDevice::RecordEvent(EventIndex event, StreamIndex stream, TimeNs now) {
  OpSpec spec;
  spec.kind = OpKind::kEventRecord;
  const OpId id = Submit(stream, std::move(spec), now);
  ops_.at(id)->event = event;
  events_[event] = {.op = id, .time_ns = std::nullopt};
  return id;
}

void SimDevice::WaitEvent(StreamIndex stream, EventIndex event, TimeNs now) {
  Advance(now);
  OpSpec spec;
  spec.kind = OpKind::kJoin;
  std::vector<OpId> after = Predecessors(stream);
  after.push_back(events_[event].op);
  Enqueue(stream, std::move(spec), now, after, true);
}

std::vector<OpId> SimDevice::Tails(uint32_t device) const {
  std::vector<OpId> tails;
  for (const Stream& stream : streams_) {
    if (stream.device == device && !IsComplete(stream.tail)) tails.push_back(stream.tail);
  }
  return tails;
}

OpId SimDevice::Enqueue(StreamIndex stream, OpSpec spec, TimeNs now, const std::vector<OpId>& after,
                        bool becomes_tail) {
  auto op = std::make_unique<Op>();
  static_cast<OpSpec&>(*op) = std::move(spec);
  op->id = next_op_++;
  op->stream = stream;
  op->device = streams_[stream].device;
  op->submit_ns = now;
  op->start_ns = kNotStarted;
  op->ready_ns = now + (IsDeviceWork(op->kind) ? config_.launch_latency_ns : 0);
  for (OpId earlier : after) {
    const auto found = ops_.find(earlier);
    if (found == ops_.end()) continue;
    std::vector<OpId>& dependents = found->second->dependents;
    if (!dependents.empty() && dependents.back() == op->id) continue;  // named twice in |after|
    dependents.push_back(op->id);
    ++op->waiting_for;
  }
  const OpId id = op->id;
  if (op->waiting_for == 0) Schedule(op->ready_ns, Happening::kReady, id);
  ops_.emplace(id, std::move(op));
  ++streams_[stream].incomplete;
  if (becomes_tail) streams_[stream].tail = id;
  return id;
}

TimeNs SimDevice::DurationOf(const OpSpec& spec) const {
  if (spec.duration_ns >= 0) return spec.duration_ns;
  const auto bytes = static_cast<double>(spec.bytes);
  switch (spec.kind) {
    case OpKind::kKernel: {
      const auto scripted = config_.kernel_duration_ns.find(spec.name);
      if (scripted != config_.kernel_duration_ns.end()) return scripted->second;
      return spec.external_body ? 0 : config_.kernel_ns;
    }
    case OpKind::kMemcpy:
      return config_.copy_fixed_ns + static_cast<TimeNs>(bytes / config_.copy_bytes_per_ns);
    case OpKind::kMemset:
      return config_.memset_fixed_ns + static_cast<TimeNs>(bytes / config_.memset_bytes_per_ns);
    default:
      return 0;
  }
}

// Bodies that the owner runs compete for its executors, whatever they stand for.
SimDevice::Resource* SimDevice::ResourceOf(const Op& op) {
  if (op.external_body) return &resources_.back();
  const uint32_t base = op.device * (1 + config_.copy_engines);
  if (op.kind == OpKind::kMemcpy) {
    const uint32_t engine = op.work.copy_kind == kCopyHostToDevice ? 0 : 1;
    return &resources_[base + 1 + engine % config_.copy_engines];
  }
  if (IsDeviceWork(op.kind)) return &resources_[base];
  return nullptr;
}

void SimDevice::Schedule(TimeNs time, Happening what, OpId op) {
  agenda_.push({.time_ns = time, .sequence = next_sequence_++, .what = what, .op = op});
}

std::optional<TimeNs> SimDevice::NextEventNs() const {
  if (agenda_.empty()) return std::nullopt;
  return agenda_.top().time_ns;
}

void SimDevice::Advance(TimeNs now) {
  while (!agenda_.empty() && agenda_.top().time_ns <= now) {
    const Entry entry = agenda_.top();
    agenda_.pop();
    now_ = std::max(now_, entry.time_ns);
    if (entry.what == Happening::kReady) {
      BecomeReady(ops_.at(entry.op).get(), entry.time_ns);
    } else {
      Complete(entry.op, entry.time_ns);
    }
  }
  now_ = std::max(now_, now);
}

void SimDevice::BecomeReady(Op* op, TimeNs now) {
  Resource* resource = ResourceOf(*op);
  if (resource == nullptr) {  // takes no slot: runs now
    if (op->start_ns == kNotStarted) op->start_ns = now;
    op->end_ns = now + DurationOf(*op);
    Schedule(op->end_ns, Happening::kEnd, op->id);
    return;
  }
  resource->queue.push_back(op->id);
  StartQueued(resource, now);
}

void SimDevice::StartQueued(Resource* resource, TimeNs now) {
  while (resource->free > 0 && !resource->queue.empty()) {
    Op* op = ops_.at(resource->queue.front()).get();
    resource->queue.pop_front();
    --resource->free;
    op->start_ns = now;
    if (op->external_body) {
      dispatched_.push_back(op->id);
      continue;
    }
    if (op->body) op->body();
    op->end_ns = now + DurationOf(*op);
    Schedule(op->end_ns, Happening::kEnd, op->id);
  }
}

std::vector<OpId> SimDevice::TakeDispatched() { return std::exchange(dispatched_, {}); }

const Op* SimDevice::Find(OpId op) const {
  const auto found = ops_.find(op);
  return found == ops_.end() ? nullptr : found->second.get();
}

void SimDevice::FinishBody(OpId id, TimeNs start, TimeNs end) {
  Op* op = ops_.at(id).get();
  op->start_ns = start;
  op->end_ns = std::max(end, start + DurationOf(*op));
  Schedule(op->end_ns, Happening::kEnd, id);
}

void SimDevice::Complete(OpId id, TimeNs now) {
  const auto found = ops_.find(id);
  const std::unique_ptr<Op> op = std::move(found->second);
  ops_.erase(found);
  --streams_[op->stream].incomplete;
  if (op->at_end) op->at_end();
  if (op->kind == OpKind::kEventRecord && events_[op->event].op == id) {
    events_[op->event].time_ns = now;
  }
  if (on_complete_) on_complete_(*op);
  if (op->graph_join != 0) {
    Op* join = ops_.at(op->graph_join).get();
    join->start_ns = std::min(join->start_ns, op->start_ns);
  }
  for (OpId dependent : op->dependents) {
    Op* later = ops_.at(dependent).get();
    later->ready_ns = std::max(later->ready_ns, now);
    if (--later->waiting_for == 0) Schedule(later->ready_ns, Happening::kReady, dependent);
  }
  if (Resource* resource = ResourceOf(*op)) {
    ++resource->free;
    StartQueued(resource, now);
  }
}

}  // namespace gpubound::sim
