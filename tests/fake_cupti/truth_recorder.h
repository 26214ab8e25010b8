// SPDX-License-Identifier: Apache-2.0
//
// The ground truth of a run on the simulated device: every API call and every piece of device work
// as it really happened, whatever the profiler was told. Written to $GPUBOUND_SIM_TRUTH ("%p" in it
// becomes the process id):
//   * NAME.jsonl: one JSON object per line, appended as things complete, so that it is there after
//     kill -9 too: {"op": {...}} and {"api": {...}};
//   * any other name: one JSON object at exit, {"format", "pid", "initialised_ns", "clock", "ops",
//     "api", "busy_ns", "busy_by_device_ns", "incomplete"}; busy_ns is the sum over devices of the
//     union of what ran on each.
// All times are CLOCK_REALTIME in ns without the knobs' steps and shifts; "clock" holds
// (realtime, monotonic) pairs of the first CUDA call and of the dump.
//
// Thread safe. Costs one branch when no path is given.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_TRUTH_RECORDER_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_TRUTH_RECORDER_H_

#include <sys/types.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/fake_cupti/profiler_tap.h"
#include "tests/sim/sim_device.h"

namespace gpubound::sim {

class TruthRecorder {
 public:
  static TruthRecorder& Get();

  bool enabled() const { return enabled_; }
  void DumpAtExit();
  void AddOp(const Op& op);
  void AddApi(const ApiInfo& call, uint32_t tid, TimeNs injected_overhead_ns);
  void Dump();

 private:
  struct OpTruth {
    OpKind kind;
    std::string name;
    uint32_t device, stream, correlation, tid, graph;
    uint64_t bytes;
    TimeNs submit_ns, start_ns, end_ns;
  };
  struct ApiTruth {
    std::string name;
    uint32_t tid, correlation;
    TimeNs start_ns, end_ns, injected_overhead_ns;
  };

  TruthRecorder();
  void AppendLine(const std::string& line);

  bool enabled_ = false;
  bool streaming_ = false;
  std::string path_;
  int descriptor_ = -1;
  pid_t pid_ = 0;
  std::mutex mutex_;
  std::vector<OpTruth> ops_;
  std::vector<ApiTruth> api_;
  std::vector<std::pair<TimeNs, TimeNs>> clock_;
};

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_TRUTH_RECORDER_H_
