// SPDX-License-Identifier: Apache-2.0
//
// What a report says of the training itself (report_training.h), from counters that the program
// records of it. Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_TRAINING_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_TRAINING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/base/interval.h"
#include "analysis/base/status.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/device_usage.h"
#include "analysis/processes/known_waits.h"
#include "analysis/report/report.h"
#include "analysis/sweep/iteration_book.h"
#include "analysis/trace/run.h"

namespace gpubound {

// The primary thread of a process by its place in ProcessTrace::threads, beyond them: none; and its
// iterations after warm-up.
struct SteppingThread {
  size_t thread = SIZE_MAX;
  std::vector<Iteration> steady;
};

// What is known of processes whose events are there, by process and on their own clocks; all of it
// outlives the object.
struct RecordedProcesses {
  const std::vector<SteppingThread>& threads;
  const KnownWaits& waits;
  const RunActivity& activity;
};

// |span|: the run's; |window|: of the headline. |report| has everything else but what is said about
// it. An error is internal.
Status AddTraining(const Run& run, const RecordedProcesses& recorded, const RunUnknown& unknown,
                   const ClockAlignment& clocks, const Interval& span, const Interval& window,
                   const BreakdownOptions& options, Report* report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_TRAINING_H_
