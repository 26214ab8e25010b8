// SPDX-License-Identifier: Apache-2.0
//
// When work could have run unrecorded, and for what share of a run's device time, over all
// processes. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_UNKNOWN_TIME_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_UNKNOWN_TIME_H_

#include <vector>

#include "analysis/attribution/run_headline.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/device_usage.h"
#include "analysis/report/report.h"

namespace gpubound {

// |pauses|: of each process, when its recording was off; of a run with sums, since those. Times are
// those of the processes and |offset_ns|, by process.
RunUnknown UnknownOf(const Run& run, const std::vector<std::vector<Interval>>& pauses,
                     const std::vector<int64_t>& offset_ns);

// Where only some iterations of a run were recorded, on several hosts, what lies outside of a
// process's own, on its clock, and within those of others, in |span| of the run, is unknown too.
void AddUnknownOutside(const Run& run, const ClockAlignment& clocks, const Interval& span,
                       RunUnknown* unknown);

// Fills ReportRun::unknown and whole_unknown of a |report| that has its processes and devices, with
// |unknown| on the clocks of the processes. A
// device's time is unknown where that of a process is that sees it, or that says of no device
// whether it does, unless recorded work ran. Known exactly where one process alone uses one device;
// else it is told by how long either was, and an upper bound. Of a run with sums not all of
// |unknown| is there, and unknown times of its processes are taken to be different ones. Devices of
// processes with time outside of their own are marked.
void AddUnknownTime(const Run& run, const RunUnknown& unknown, const ClockAlignment& clocks,
                    const std::vector<DeviceUsage>& devices, const RunWindows& cut, size_t headline,
                    Report* report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_UNKNOWN_TIME_H_
