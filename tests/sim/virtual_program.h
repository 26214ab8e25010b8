// SPDX-License-Identifier: Apache-2.0
//
// A host program on virtual time: threads that open scopes, compute, launch work on a SimDevice and
// wait for it, executed as discrete events, so that every time is exact and every run the same.
// What happened is returned as a History, the raw facts from which the truth is computed
// (tests/sim/virtual_truth.h), and told as it happens to an EventSink, through which a recorder
// under test sees it.
//
// One thread of execution; the virtual threads are data.
#ifndef GPUBOUND_TESTS_SIM_VIRTUAL_PROGRAM_H_
#define GPUBOUND_TESTS_SIM_VIRTUAL_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/event_model.h"
#include "tests/sim/sim_device.h"

namespace gpubound::sim {

// What a scope names: an operation, a foreign range (annotation), or a switch of the layer.
struct ScopeName {
  LabelKind kind = LabelKind::kOperation;
  Layer layer = Layer::kUnset;  // of LabelKind::kLayer
  std::string text;
  std::string domain = {};  // of the label
};

enum class Action : uint8_t {
  kCompute,       // `cost_ns` of CPU
  kOpen,          // opens `scope` under the handle `slot` of this thread
  kClose,         // closes the scope under handle `slot`, innermost or not
  kPhase,         // process-wide phase `scope.text`
  kStep,          // iteration `slot` ends
  kLaunch,        // cudaLaunchKernel of `name` for `device_ns` on `slot`
  kCopyAsync,     // cudaMemcpyAsync, pinned: returns at once
  kCopyPageable,  // cudaMemcpyAsync, pageable: returns when the copy is done
  kCopy,          // cudaMemcpy: likewise, and a wait throughout
  kSet,           // cudaMemsetAsync
  kGraph,         // cudaGraphLaunch: kernels `name` of `nodes`, one after the other; without
                  // `nodes` three of `device_ns`, the last two side by side
  kRecordEvent,   // cudaEventRecord of event `event` on stream `slot`
  kStreamWait,    // cudaStreamWaitEvent
  kSyncStream,    // cudaStreamSynchronize
  kSyncEvent,     // cudaEventSynchronize
  kSyncDevice,    // cudaDeviceSynchronize
  kStartRange,    // as nvtxRangeStart: opens `scope` under the handle `slot` of all threads
  kEndRange,      // as nvtxRangeEnd, by any thread: closes what that handle holds, if anything
  kPause,         // from here on GPU time is not to be known
  kResume,        // ... and is again
  kSignal,        // another thread that awaits semaphore `slot` goes on
  kAwait,         // goes on when semaphore `slot` was signalled once more than it was awaited
  kSetTime,       // time `slot` is `delay_ns` from now; recorded, as of a timer, if `told`
  kAwaitTime,     // goes on when time `slot` has come
};

// One statement. API calls take `cost_ns` of CPU before what they submit reaches the device.
struct Statement {
  Action action = Action::kCompute;
  TimeNs cost_ns = 1;
  uint32_t slot = 0;
  uint32_t event = 0;
  TimeNs device_ns = 0;
  std::string name = {};
  ScopeName scope = {};
  std::vector<TimeNs> nodes = {};
  WorkInfo geometry = {};  // of kernels
  TimeNs wake_up_ns = 0;   // of what waits: how long after its end, or a signal, it goes on
  TimeNs delay_ns = 0;
  bool told = true;
};

struct VirtualThread {
  uint32_t tid = 0;
  TimeNs start_ns = 0;
  std::vector<Statement> statements;
  uint32_t process = 0;  // that it belongs to; all share the device
};

// What the profiler itself costs, in host time of the thread that pays it. Means; an occurrence
// costs more or less with a heavy tail (lognormal).
struct ProfilerCost {
  TimeNs scope_ns = 0;  // after each begin and each end
  TimeNs api_ns = 0;    // inside each API call
  // ... and so much more where the thread's last call ended |cold_after_ns| before or earlier.
  TimeNs cold_api_ns = 0;
  TimeNs cold_after_ns = 3'000;
  double deviation = 0;  // standard deviation of an occurrence, over the mean
  uint64_t seed = 1;     // of what each occurrence costs
};

// The source is deaf: records of work that begins meanwhile never come; with |calls| neither do
// those of calls.
struct Outage {
  TimeNs from_ns = 0;  // no two begin at once
  TimeNs to_ns = 0;
  bool calls = false;
};

struct VirtualProgram {
  DeviceModelConfig device;
  DeviceInfo limits = {};  // of the device, as its record tells them; zero where it does not
  uint32_t streams = 1;    // made by the program, numbered from 1; 0 is the legacy stream
  uint32_t events = 0;
  bool python = false;                 // an interpreter runs: base layer python
  std::vector<VirtualThread> threads;  // the first one opens the first operation, at time 0
  ProfilerCost cost;
  std::vector<Outage> outages = {};
  // Bit i: whom semaphore i lets go on is recorded, as gpubound_wake and gpubound_woken do.
  uint64_t told_semaphores = 0;
  // ... and of each time that it is awaited, which signal that was for, also where that had come
  // before: as of the items of a queue.
  uint64_t told_items = 0;
};

// --- Facts

struct ScopeFact {
  uint32_t thread;
  ScopeName name;
  TimeNs begin_ns;
  TimeNs end_ns;            // the end of the span when it was never closed
  uint64_t sequence;        // order of opening over the whole program
  uint64_t range = 0;       // of one that any thread may close: its id
  uint32_t end_thread = 0;  // then: which thread did
};

struct ApiFact {
  uint32_t thread;
  std::string name;
  TimeNs begin_ns;
  TimeNs end_ns;
  uint32_t correlation;
  uint64_t sequence;
  TimeNs queue_full_from_ns = 0;  // equal: the launch queue had room
  TimeNs queue_full_to_ns = 0;
  uint32_t stream = 0;  // of calls that name one
  uint32_t event = 0;   // likewise
};

struct WorkFact {
  OpKind kind;
  std::string name;
  uint32_t stream;
  uint32_t correlation;
  TimeNs begin_ns;
  TimeNs end_ns;
  uint64_t bytes;
  WorkInfo geometry = {};  // of kernels
};

struct PhaseFact {
  uint32_t thread;
  TimeNs time_ns;
  std::string name;
};

struct StepFact {
  uint32_t thread;
  TimeNs time_ns;
  uint64_t number;
};

// A thread lets those go on that await a semaphore, or one of them does; or a time is set or comes.
struct WakeFact {
  uint32_t thread;
  TimeNs time_ns;
  uint64_t what;
  SlotKind kind;  // kHandOver, kWoken or, where it was there already, kAdopt
};

struct PauseFact {
  uint32_t thread;
  TimeNs time_ns;
  bool pauses;  // else it resumes
};

// What the source says of an outage: to its end, or that of the last work lost in it.
struct UnknownFact {
  TimeNs from_ns;
  TimeNs to_ns;
};

struct History {
  bool python = false;
  DeviceInfo limits;
  TimeNs span_ns = 0;  // from 0 to when every thread has ended
  std::vector<uint32_t> tids;
  std::vector<uint32_t> processes;  // of the threads
  std::vector<TimeNs> ends;         // ... and when they ended
  std::vector<ScopeFact> scopes;
  std::vector<ApiFact> calls;  // without those lost in an outage
  std::vector<WorkFact> work;  // likewise; as it completed; may end after the span
  std::vector<WorkFact> lost_work;
  std::vector<UnknownFact> unknown;
  std::vector<PauseFact> pauses;
  std::vector<PhaseFact> phases;
  std::vector<StepFact> steps;
  std::vector<WakeFact> wakes;
};

inline constexpr TimeNs kStillUnknown = INT64_MAX;  // as DeviceHost::MarkUnknown has it

// Hears of each event when it happens, in order of time. `thread` is an index into
// VirtualProgram::threads.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // The virtual clock now shows |now_ns|; called before the events of that time, until the last
  // thread has ended. Work that ends later is still told of.
  virtual void OnTime(TimeNs) {}
  virtual void OnBegin(uint32_t /*thread*/, const ScopeName&, TimeNs) {}
  virtual void OnEnd(uint32_t /*thread*/, const ScopeName&, TimeNs) {}
  virtual void OnRangeStart(uint32_t /*thread*/, const ScopeName&, uint64_t /*range*/, TimeNs) {}
  virtual void OnRangeEnd(uint32_t /*thread*/, uint64_t /*range*/, TimeNs) {}
  virtual void OnPause(const PauseFact&) {}
  virtual void OnPhase(uint32_t /*thread*/, const std::string&, TimeNs) {}
  virtual void OnStep(uint32_t /*thread*/, uint64_t, TimeNs) {}
  virtual void OnCall(const ApiFact&) {}   // when it returns
  virtual void OnWork(const WorkFact&) {}  // when it completes
  // When an outage begins, with an end that is kStillUnknown, and once more at the program's end.
  virtual void OnUnknown(const UnknownFact&) {}
};

// Runs |program| to its end, the device's work included. |sink| may be null.
History Execute(const VirtualProgram& program, EventSink* sink);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_VIRTUAL_PROGRAM_H_
