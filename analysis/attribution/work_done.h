// SPDX-License-Identifier: Apache-2.0
//
// What a run did of the work that it counts (env_steps, samples, tokens), and per second of what.
// Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_WORK_DONE_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_WORK_DONE_H_

#include <cstddef>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/processes/clock_align.h"
#include "analysis/report/report.h"
#include "analysis/report/report_training.h"
#include "analysis/trace/run.h"

namespace gpubound {

// One row for each counter that some process has in |window|, which are the iterations after warm-up
// of process |stepping| of |run|, by the reference clock. |report| has the processes and the
// headline.
std::vector<ReportWork> WorkDone(const Run& run, const ClockAlignment& clocks, size_t stepping,
                                 const Interval& window, const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_WORK_DONE_H_
