// SPDX-License-Identifier: Apache-2.0
//
// The headline of a run (SPEC section 2): how busy its devices were, over the iterations after
// warm-up where the program says what an iteration is, else over the whole span. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_HEADLINE_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_HEADLINE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/attribution/process_report.h"
#include "analysis/base/interval.h"
#include "analysis/processes/device_usage.h"
#include "analysis/report/report.h"

namespace gpubound {

// Windows in which devices are measured: the whole span first, then its parts in order of time,
// then that of all work.
struct RunWindows {
  std::vector<Interval> windows;
  std::vector<std::string> parts;  // names of windows[1..]
  size_t headline = 0;             // index into |windows|
  size_t work = 0;                 // likewise, the last one; 0: there is none
};

// |stepping|: the process whose iterations count, null when no process has any; |offset_ns|: trace
// time of the reference host less its own. |work|: from the first to the last work of devices,
// empty where that is not known. |wanted|: the headline, where it can be.
RunWindows CutRun(const Interval& span, const ProcessAnalysis* stepping, int64_t offset_ns,
                  const Interval& work, ReportWindow wanted);

// From the first to the last work that |activity|, by process, has; empty where it has none.
Interval WorkTime(const RunActivity& activity, const std::vector<int64_t>& offset_ns);

// Fills devices and everything of ReportRun that follows from them.
void AddDevices(const Run& run, const std::vector<DeviceUsage>& devices, const RunWindows& cut,
                Report* report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_HEADLINE_H_
