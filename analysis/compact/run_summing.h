// SPDX-License-Identifier: Apache-2.0
//
// Sums a run until an instant (docs/long_runs.md). Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_COMPACT_RUN_SUMMING_H_
#define GPUBOUND_ANALYSIS_COMPACT_RUN_SUMMING_H_

#include <cstdint>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/base/status.h"
#include "analysis/report/report.h"
#include "analysis/segments/run_sums.h"
#include "analysis/sweep/iteration_book.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct SummedRun {
  RunSums sums;  // but for |kept| and ProcessSums::writers
  // After warm-up, of the process whose steps are the run's.
  std::vector<Iteration> iterations;
};

// |run| with its sums, if it has any, until |until_ns|, which they do not lie behind. Every event
// that begins before it has to be in the run. An error where the run is of several hosts.
Result<SummedRun> SumRun(const Run& run, const BreakdownOptions& options, int64_t until_ns);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_COMPACT_RUN_SUMMING_H_
