// SPDX-License-Identifier: Apache-2.0
//
// What a report must say of a virtual program, computed from its facts by the plainest method there
// is: time is cut at every instant at which anything begins or ends, and for each piece every
// question is answered by looking through all facts (virtual_facts.h). Nothing is shared with
// analysis/. Quadratic, and meant to be.
//
// Pure.
#ifndef GPUBOUND_TESTS_SIM_VIRTUAL_TRUTH_H_
#define GPUBOUND_TESTS_SIM_VIRTUAL_TRUTH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "tests/sim/naive_fill.h"
#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

struct OperationTruth {
  TimeNs wall_ns = 0;
  TimeNs cpu_only_ns = 0;
  TimeNs cpu_gpu_ns = 0;
  TimeNs gpu_only_ns = 0;
  TimeNs idle_ns = 0;  // no program here waits for another process
  TimeNs unknown_ns = 0;
  TimeNs gpu_busy_ns = 0;
  TimeNs gpu_compute_ns = 0;
  TimeNs gpu_comm_ns = 0;
  TimeNs gpu_copy_ns = 0;
  TimeNs really_busy_ns = 0;  // lost work counted too
  FilledSum filled = 0;       // over Truth::fill_unit
  TimeNs gpu_wait_ns = 0;
  TimeNs gpu_caused_ns = 0;
  TimeNs gpu_sum_ns = 0;
  TimeNs inclusive_wall_ns = 0;  // 0 for (no operation): nothing encloses it
  uint64_t count = 0;
  std::map<std::string, uint64_t> transitions;  // "python->backend": n
};

struct Truth {
  using CellKey = std::tuple<std::string, std::string, std::string, std::string>;
  TimeNs span_ns = 0;
  TimeNs uninstrumented_span_ns = 0;  // of the same program without the profiler's cost
  std::map<CellKey, TimeNs> cells;    // (phase, operation, layer, gpu); none is empty
  std::map<std::string, OperationTruth> operations;
  OperationTruth whole;  // the sums over all operations
  int64_t fill_unit = 1;
  bool fill_is_upper_bound = false;
  TimeNs smi_touched_ns = 0;  // of the windows in which any kernel ran
  TimeNs smi_most_ns = 0;     // likewise, or may have run unrecorded
  uint64_t work_without_call = 0;

  double smi_model() const;
  double most_smi_model() const;
  std::optional<double> inflation() const;  // none at zero busy
};

// |history| is of |program|.
Truth ComputeTruth(const VirtualProgram& program, const History& history);

// The truth as JSON, with the field names of gpubound.report.v1 where there is one.
std::string TruthJson(const Truth& truth);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_VIRTUAL_TRUTH_H_
