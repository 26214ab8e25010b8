// SPDX-License-Identifier: Apache-2.0
//
// Executes a recorded run again, as a graph of dependencies, without what profiling cost or with
// parts of the program made faster (SPEC section 3). Processes are advanced in step, so that one
// that waits for another goes on when that one has come to where it was. The result is a run like
// any other, whose events have other times; the engine reports on it as on a recorded one.
//
// With no costs and no changes every event comes out at the time at which it was recorded.
// docs/overhead_model.md says what is assumed. Pure but for a temporary file.
#ifndef GPUBOUND_ANALYSIS_REPLAY_REPLAY_H_
#define GPUBOUND_ANALYSIS_REPLAY_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/calibration/cost_model.h"
#include "analysis/replay/replay_facts.h"
#include "analysis/replay/what_if.h"
#include "analysis/trace/run.h"

namespace gpubound {

class SharedDevices;

struct ReplayOptions {
  CostModel costs;                       // as default: nothing is removed
  std::vector<CostModel> process_costs;  // where processes differ: of each; empty: |costs| of all
  WhatIf changes;
  std::vector<WhatIf> process_changes;  // where processes differ: of each; empty: |changes| of all
  std::vector<std::string> operations;  // promoted foreign ranges, as in BreakdownOptions
  bool keep_events = true;              // false: only the facts are wanted
  // The process whose critical path is wanted, by its place in the run.
  std::optional<size_t> critical_path_of = {};
  // The processes are those of so many copies of a run, one after another, which wait for each
  // other's work on |shared|; null: they do not.
  size_t copies = 1;
  SharedDevices* shared = nullptr;
};

struct CriticalPart {
  size_t process = 0;
  std::string operation;
  std::string column;  // a layer, or "gpu" and a class of work
  int64_t ns = 0;
  int64_t loop_ns = 0;  // of it, between the ends of the first iteration and the last
};

struct ReplayedRun {
  Run run;                          // its processes own the retimed events
  std::vector<ReplayFacts> facts;   // by process
  std::vector<CriticalPart> parts;  // of the critical path, longest first; sum to the span
  int64_t path_loop_ns = 0;         // to which their loop_ns sum
};

// Errors: temporary data cannot be written. What |run| streams must not have failed, which is seen
// afterwards, as for a report.
Result<ReplayedRun> ReplayRun(const Run& run, const ReplayOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_REPLAY_H_
