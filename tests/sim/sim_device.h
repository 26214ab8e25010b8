// SPDX-License-Identifier: Apache-2.0
//
// The one model of a GPU that the tests use: streams, kernels, copy engines, events, graphs and the
// host's waits, as a discrete-event state machine. It has no clock and no thread of its own: the
// caller says what time it is. On virtual time (tests/sim/virtual_program.h) every start and end is
// exact; in real time (tests/fake_cupti) the same rules run against CLOCK_REALTIME.
//
// Rules, deliberately few:
//   * Operations of a stream run in submission order, one at a time.
//   * Stream 0 of each device is the legacy default stream: its operations wait for everything
//     submitted earlier to the device's blocking streams, which wait for it in turn. Streams made
//     as non-blocking ignore it.
//   * A kernel or memset takes one of the device's compute slots, a copy one of its copy engines
//     (chosen by direction). Whoever became ready first is served first; ties go to the operation
//     submitted first.
//   * An operation starts at the latest of: submission + launch latency, the end of what it depends
//     on, a free slot. Events, waits and joins take no time and no slot.
//   * A stream accepts `queue_depth` operations that have not completed; the host waits for room.
//
// Not thread safe; the owner holds a lock.
#ifndef GPUBOUND_TESTS_SIM_SIM_DEVICE_H_
#define GPUBOUND_TESTS_SIM_SIM_DEVICE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "proto/event_model.h"

namespace gpubound::sim {

using TimeNs = int64_t;
using OpId = uint64_t;  // 0 is none; increases in order of submission
using StreamIndex = uint32_t;
using EventIndex = uint32_t;

struct DeviceModelConfig {
  uint32_t devices = 1;
  uint32_t compute_slots = 16;  // kernels that run at the same time on one device
  uint32_t copy_engines = 2;
  uint32_t queue_depth = 1024;
  uint32_t body_slots = 2;  // host bodies that run at the same time, over all devices
  TimeNs launch_latency_ns = 2000;
  TimeNs kernel_ns = 5000;  // of a kernel without a script and without a body
  TimeNs copy_fixed_ns = 1000;
  double copy_bytes_per_ns = 12.0;
  TimeNs memset_fixed_ns = 1000;
  double memset_bytes_per_ns = 400.0;
  std::map<std::string, TimeNs> kernel_duration_ns;  // by exact name
};

enum class OpKind : uint8_t { kKernel, kMemcpy, kMemset, kHostFunction, kEventRecord, kJoin };

const char* OpKindName(OpKind kind);

// True for the kinds that occupy the device and that a profiler is told about.
constexpr bool IsDeviceWork(OpKind kind) {
  return kind == OpKind::kKernel || kind == OpKind::kMemcpy || kind == OpKind::kMemset;
}

// What to run. `user` is the owner's and means nothing to the model.
struct OpSpec {
  OpKind kind = OpKind::kKernel;
  std::string name;
  WorkInfo work;
  TimeNs duration_ns = -1;  // -1: as the configuration says
  uint64_t bytes = 0;
  uint32_t correlation = 0;
  uint32_t tid = 0;
  uint32_t graph = 0;
  uint64_t graph_node = 0;
  uint64_t user = 0;
  bool external_body = false;    // the owner runs it: see SimDevice::TakeDispatched
  std::function<void()> body;    // external: kept for the owner; else run at the start, at no cost
  std::function<void()> at_end;  // run at completion, before anything that depends on it
};

struct Op : OpSpec {
  OpId id = 0;
  uint32_t device = 0;
  StreamIndex stream = 0;
  TimeNs submit_ns = 0;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  // Scheduling state, the model's own.
  EventIndex event = 0;
  OpId graph_join = 0;  // of a graph's node: the operation that stands for the whole launch
  uint32_t waiting_for = 0;
  TimeNs ready_ns = 0;
  std::vector<OpId> dependents;
};

// One node of a graph: what to run and which earlier nodes (by index) it waits for.
struct GraphNode {
  OpSpec spec;
  std::vector<uint32_t> after;
};

class SimDevice {
 public:
  explicit SimDevice(const DeviceModelConfig& config);

  // Called for each operation when it completes, in order of completion time. Must not submit.
  void set_on_complete(std::function<void(const Op&)> on_complete);

  // Streams 0 .. devices-1 exist from the start: the legacy default stream of each device.
  StreamIndex CreateStream(uint32_t device, bool blocking);
  uint32_t DeviceOf(StreamIndex stream) const { return streams_[stream].device; }

  // True when |stream| takes another operation; else the host must wait (see RunUntil).
  bool HasRoom(StreamIndex stream) const;

  // Puts an operation at the end of |stream| at time |now|, which never decreases between calls.
  OpId Submit(StreamIndex stream, OpSpec spec, TimeNs now);

  // Runs |nodes| after everything in |stream|; what follows in the stream waits for all of them.
  // Returns the join operation, which carries |user|, starts with the first node to start and ends
  // with the last one to end.
  OpId SubmitGraph(StreamIndex stream, const std::vector<GraphNode>& nodes, uint64_t user,
                   TimeNs now);

  EventIndex CreateEvent();
  OpId RecordEvent(EventIndex event, StreamIndex stream, TimeNs now);
  void WaitEvent(StreamIndex stream, EventIndex event, TimeNs now);
  OpId EventOp(EventIndex event) const { return events_[event].op; }
  // When the last record of |event| completed; none while it is pending or was never recorded.
  std::optional<TimeNs> EventTime(EventIndex event) const { return events_[event].time_ns; }

  // The last operation of |stream|; it may have completed. 0 when nothing was ever submitted.
  OpId Tail(StreamIndex stream) const { return streams_[stream].tail; }
  // The incomplete tails of every stream of |device|.
  std::vector<OpId> Tails(uint32_t device) const;
  bool IsComplete(OpId op) const { return ops_.find(op) == ops_.end(); }
  bool Idle() const { return ops_.empty(); }

  // The next instant at which something happens by itself; none when everything is done or waits
  // for an external body.
  std::optional<TimeNs> NextEventNs() const;
  // Processes everything that happens up to and including |now|, in order.
  void Advance(TimeNs now);
  TimeNs now() const { return now_; }

  // External bodies. Dispatched operations hold their slot; the owner runs the body, reports when
  // it began and ended, and the operation completes at the later of |end| and start + duration.
  std::vector<OpId> TakeDispatched();
  const Op* Find(OpId op) const;
  void FinishBody(OpId op, TimeNs start, TimeNs end);

 private:
  struct Stream {
    uint32_t device = 0;
    bool blocking = true;
    uint32_t incomplete = 0;
    OpId tail = 0;
  };
  struct Event {
    OpId op = 0;
    std::optional<TimeNs> time_ns;
  };
  struct Resource {
    uint32_t free = 0;
    std::deque<OpId> queue;
  };
  enum class Happening : uint8_t { kReady, kEnd };
  struct Entry {
    TimeNs time_ns;
    uint64_t sequence;
    Happening what;
    OpId op;
    bool operator>(const Entry& other) const {
      return time_ns != other.time_ns ? time_ns > other.time_ns : sequence > other.sequence;
    }
  };

  OpId Enqueue(StreamIndex stream, OpSpec spec, TimeNs now, const std::vector<OpId>& after,
               bool becomes_tail);
  std::vector<OpId> Predecessors(StreamIndex stream) const;
  TimeNs DurationOf(const OpSpec& spec) const;
  Resource* ResourceOf(const Op& op);
  void Schedule(TimeNs time, Happening what, OpId op);
  void BecomeReady(Op* op, TimeNs now);
  void StartQueued(Resource* resource, TimeNs now);
  void Complete(OpId id, TimeNs now);

  DeviceModelConfig config_;
  std::function<void(const Op&)> on_complete_;
  std::vector<Stream> streams_;
  std::vector<Event> events_;
  std::vector<Resource> resources_;  // per device: compute, then its copy engines; last: bodies
  std::unordered_map<OpId, std::unique_ptr<Op>> ops_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> agenda_;
  std::vector<OpId> dispatched_;
  OpId next_op_ = 1;
  uint64_t next_sequence_ = 1;
  TimeNs now_ = INT64_MIN;
};

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_SIM_DEVICE_H_
