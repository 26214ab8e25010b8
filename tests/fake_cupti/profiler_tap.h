// SPDX-License-Identifier: Apache-2.0
//
// The seam between the simulated runtime (libcudart.so.13 on libgpubound_sim.so) and the simulated
// profiling library (libcupti.so.13): what the runtime tells whoever watches it. Without a tap the
// runtime records nothing and pays nothing.
//
// Thread rule: every method except Complete is called on the application's thread, inside its CUDA
// call, with no lock of the runtime held. Complete is called with the runtime's lock held, from
// whichever thread noticed the completion; it must not call back into the runtime.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_PROFILER_TAP_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_PROFILER_TAP_H_

#include <cstdint>

#include "tests/sim/sim_device.h"

namespace gpubound::sim {

enum class ApiDomain : uint8_t { kRuntime, kDriver };

// One API call in progress. Lives on the caller's stack from enter to exit.
struct ApiInfo {
  ApiDomain domain = ApiDomain::kRuntime;
  uint32_t cbid = 0;
  uint32_t correlation = 0;
  const char* name = "";
  const void* params = nullptr;         // the call's *_params struct, or null
  const void* driver_params = nullptr;  // likewise, of the driver's function in the runtime's
  const char* symbol = nullptr;         // kernel name of a launch
  bool is_launch = false;
  uint32_t context = 1;  // that is current to the thread
  int32_t result = 0;
  uint64_t correlation_data = 0;         // the subscriber's slot between enter and exit
  uint64_t driver_correlation_data = 0;  // likewise, of the driver's function in the runtime's
  TimeNs entry_ns = 0;                   // to be spent before the driver's function is entered
  uint32_t entry_functions = 0;          // likewise, executed
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
};

// Where an operation runs, in the numbers that records carry.
struct Place {
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
};

// Memory at both ends of a copy: values of CUpti_ActivityMemoryKind.
struct CopyEnds {
  uint8_t source_kind = 0;
  uint8_t destination_kind = 0;
  bool is_async = true;
  bool is_peer = false;
  Place source;
  Place destination;
};

// A node of a graph as it is made. Handles are the runtime's; ids are those of records.
struct GraphNodeBirth {
  void* graph = nullptr;  // CUgraph: the node's
  uint64_t node = 0;
  uint64_t original = 0;  // that it is a clone of; 0 captured
  OpKind kind = OpKind::kKernel;
};

// A node of an executable graph that is made anew after one of another graph. Ids of records.
struct GraphNodeUpdate {
  void* executable = nullptr;  // CUgraphExec
  uint64_t node = 0;           // its own, whose id stays
  uint64_t source = 0;         // the other graph's; 0: it was set by itself
  OpKind kind = OpKind::kKernel;
};

class ProfilerTap {
 public:
  virtual ~ProfilerTap() = default;
  // True when CUPTI records the call or calls back for it (and so it costs what the script says
  // that recording costs).
  virtual bool ApiEnter(ApiInfo* info) = 0;
  virtual void ApiExit(ApiInfo* info) = 0;

  // Makes room for the record of |op|; what it returns is handed to Complete. 0: none was made.
  virtual uint64_t Reserve(const OpSpec& op, const Place& place, const CopyEnds& ends) = 0;
  // Graphs that are instantiated from now on are recorded as a whole; of others nothing is.
  virtual bool RecordsGraphsWhole() = 0;
  // One record for a whole graph launch, if that is what was asked for (then nodes are not
  // reserved); 0 when it was not.
  virtual uint64_t ReserveGraph(uint32_t graph, uint32_t correlation, const Place& place) = 0;
  virtual void Complete(uint64_t token, TimeNs start_ns, TimeNs end_ns) = 0;

  // |type| is CUPTI's CUpti_ActivitySynchronizationType; |event| 0 when not about an event.
  virtual void Synchronized(uint32_t type, TimeNs start_ns, TimeNs end_ns, uint32_t correlation,
                            const Place& place, uint64_t event) = 0;
  // |event| was recorded behind what is in the stream.
  virtual void EventRecorded(uint32_t correlation, const Place& place, uint64_t event) = 0;
  // The launch queue was full from |start_ns| to |end_ns|.
  virtual void QueueFull(TimeNs start_ns, TimeNs end_ns, uint32_t correlation) = 0;

  virtual void ContextCreated(const Place& place) = 0;
  virtual void StreamCreated(const Place& place, void* handle, uint32_t correlation) = 0;
  virtual void GraphNodeMade(const GraphNodeBirth& birth) = 0;
  virtual void GraphInstantiated(void* executable) = 0;
  virtual void GraphNodeUpdated(const GraphNodeUpdate& update) = 0;
};

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_PROFILER_TAP_H_
