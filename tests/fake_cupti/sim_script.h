// SPDX-License-Identifier: Apache-2.0
//
// What a test can ask of the stand-in libraries: the device model's figures, which CUPTI they
// pretend to be, and one knob for each trap that real CUPTI is known to hold. Read once, at the
// first use, from the environment variable GPUBOUND_SIM_SCRIPT: a path to a JSON file, or the JSON
// text itself when it begins with '{'. An unknown key or a wrong type ends the process with a
// message: a knob that is silently ignored would make a test pass for the wrong reason.
//
// Immutable once loaded; readable from any thread.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_SIM_SCRIPT_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_SIM_SCRIPT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/sim/sim_device.h"

namespace gpubound::sim {

struct CuptiFaults {
  uint32_t subscribe_error = 0;        // returned by every cuptiSubscribe (39, 2, 15, 35, 999, ...)
  std::string subscribe_error_in;      // only of a libcupti with this in its path; empty: of any
  std::string held_by;                 // with 39: the name that cuptiSubscribe_v2 tells
  std::string shared_by;               // another tool has opened CUPTI to several; its name
  bool shared_graphs_whole = false;    // ... and chose that graphs are recorded whole
  uint32_t drop_every = 0;             // every nth record is lost and counted as dropped
  uint32_t zero_timestamps_every = 0;  // every nth device record has start == end == 0
  uint32_t inverted_timestamps_every = 0;  // every nth device record ends 1000 ns before it starts
  uint32_t unknown_kind_every = 0;  // after every nth record comes one of a kind nobody knows
  uint32_t hidden_kind = 0;         // records of this kind are never made, and nothing says so
  uint32_t hidden_after = 0;        // ... but the first so many of them
  uint32_t invalid_kind_every = 0;  // every nth GetNextRecord fails with INVALID_KIND
  bool shuffle_records = false;     // records of a buffer are delivered in reversed order
  bool separate_graph_correlations = false;  // nodes of one graph launch: own ids, not the launch's
  bool truncated_thread_ids = false;  // pthread_self() whatever cuptiSetThreadIdType was told
  int64_t kernel_start_shift_ns = 0;  // added to device times: negative puts starts before launches
  int64_t device_skew_ppm = 0;        // drift of device times against the host's clock
  int64_t realtime_step_ns = 0;       // CUPTI's clock jumps by this ...
  int64_t realtime_step_after_ns = 0;  // ... so long after the first CUDA call
  uint32_t completion_delay_ms = 0;  // buffers come so long after FlushAll returned, by the worker
  uint32_t fatal_error_after = 0;    // so many records later CUPTI says that it has ended itself
  bool empty_flush_hangs = false;    // so does FlushAll, as long as no record was made
};

// Time that the simulated profiler itself costs, spent by spinning, so that a test knows it.
struct InjectedOverhead {
  int64_t api_ns = 0;     // each API call that is recorded or called back for
  int64_t launch_ns = 0;  // each such launch, instead of api_ns
  int64_t cold_ns = 0;    // more of either, kColdNs or more after the thread's last call
  // The part of these that lies between the callback of the runtime's function and the driver's.
  int64_t entry_percent = 0;
  // The same as code, which takes as long as it is far away from the processor: so many functions
  // (profiler_code.h) of each recorded call. In no truth of it, since nobody knows.
  uint32_t functions = 0;
  int64_t flush_ns = 0;  // each FlushAll
  // Each API call of a process that has CUPTI, recorded or not: what it takes longer than another
  // by chance. No overhead of recording, and in no truth of it.
  int64_t process_ns = 0;
  static constexpr int64_t kColdNs = 5'000;
};

// What the stand-in libnvidia-ml answers; negative: not supported.
struct NvmlFigures {
  int32_t init_error = 0;  // nvmlReturn_t of nvmlInit
  int64_t gpu_percent = 50;
  int64_t memory_percent = 10;
  int64_t memory_used_bytes = 1 << 30;
  int64_t power_mw = 100'000;
  int64_t sm_mhz = 1000;
  int64_t memory_mhz = 2000;
  // Processes on every device: the one that asks, as long as it is visible, and these, each if not
  // zero; the second one through MPS.
  bool lists_itself = true;
  uint32_t other_pid = 0;
  uint32_t mps_client_pid = 0;
};

// What the stand-in's hardware counters say, in percent.
struct CounterFigures {
  double sm_active = 50;
  double warps_active = 25;
  double dram_throughput = 10;
  std::string error_in;                      // this function ...
  uint32_t error = 0;                        // ... fails with that
  std::vector<std::string> unknown_metrics;  // beginnings of names that the chip does not know
  std::string own_pass;                      // the beginning of a name that needs a pass of its own
  std::string infinite;                      // likewise of one whose value is
  bool has_timer = true;  // false: samples can be had by cycles only, as on GA100
  bool overflow = false;  // the hardware's buffer always says that it ran over
};

struct SimScript {
  DeviceModelConfig device;
  uint32_t contexts = 1;  // of each device; the streams of a program are in one after the other
  // Every context is a green one, with so many, but the first of several; 0: none is.
  uint32_t green_multiprocessors = 0;
  bool mig = false;                 // every device is a slice of one
  uint32_t cupti_version = 130001;  // as cuptiGetVersion; a script may say "11.8" to "13.5"
  uint32_t correlation_start = 1;
  int64_t api_ns = 0;       // least duration of every API call, spent by spinning
  bool driver_api = false;  // calls that have a twin in the driver are said to be that one's
  CuptiFaults faults;
  InjectedOverhead overhead;
  NvmlFigures nvml;
  CounterFigures counters;
};

// CUPTI's number of a context, from the device's |number|th; the first is the one that its own
// streams are in.
inline uint32_t ContextOf(const SimScript& script, uint32_t device, uint32_t number) {
  return number * script.device.devices + device + 1;
}
inline uint32_t NumberOfContext(const SimScript& script, uint32_t context) {
  return (context - 1) / script.device.devices;
}

// The script of this process.
const SimScript& Script();

// Parses |json|; on failure returns false and says why in |error|.
bool ParseScript(const std::string& json, SimScript* script, std::string* error);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_SIM_SCRIPT_H_
