// SPDX-License-Identifier: Apache-2.0
//
// Collective kernels of all ranks, split into waiting for the rank that entered last and moving
// data; which rank that was, and what its CPU did meanwhile. A rank is a process on one of its
// devices. Two passes, over the work of all processes and over the reporting threads of late ones;
// memory is what runs at one instant and one interval for each stretch of lateness. Pure but for
// reading the sources.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_COMMUNICATION_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_COMMUNICATION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/attribution/run_share.h"
#include "analysis/base/interval.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/known_waits.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct SplitRanks {
  std::vector<ReportRank> ranks;
  std::vector<LateRank> late;  // of each of these; on the clock of its process
};

// Of the collective kernels of |run| within |window| (trace time of the reference host of
// |clocks|), in order of process and device. Empty where no rank ran any.
SplitRanks SplitCommunication(const Run& run, const ClockAlignment& clocks, const Interval& window);

// Fills LateRank::meanwhile. |waits|: of all processes of |run|, whose events are there.
void ExplainLateRanks(const Run& run, const KnownWaits& waits, const BreakdownOptions& options,
                      std::vector<LateRank>* late);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_COMMUNICATION_H_
