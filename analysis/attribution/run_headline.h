// SPDX-License-Identifier: Apache-2.0
//
// The headline of a run (SPEC section 2): how busy its devices were, over the iterations after
// warm-up where the program says what an iteration is, else over the whole span. The devices of a
// machine are measured over the iterations of its own processes where those step, so that no clock
// of another machine matters. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_HEADLINE_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_HEADLINE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/attribution/run_share.h"
#include "analysis/base/interval.h"
#include "analysis/processes/device_usage.h"
#include "analysis/report/report.h"

namespace gpubound {

// |stepping|: of the process whose iterations count, null when no process has any; |offset_ns|: what
// brings its times to the clock of the others. |work|: from the first to the last work of devices,
// empty where that is not known.
RunWindows CutRun(const Interval& span, const Steps* stepping, int64_t offset_ns,
                  const Interval& work);

// From the first to the last work that |activity|, by process, has; empty where it has none.
Interval WorkTime(const std::vector<size_t>& processes, const RunActivity& activity,
                  const std::vector<int64_t>& offset_ns);

// The devices of all machines, each with the windows of |cut|, the run's: those of its machine that
// are called so. Of a machine that has no iterations all time counts as such.
std::vector<DeviceUsage> DevicesOf(const RunWindows& cut,
                                   const std::vector<MachineShare>& machines);

// For how long |device|, one of those, is measured in window |index|: for as long as its machine was in
// that part of the run; in the whole, and from the first to the last work, no less than the run.
int64_t LengthIn(const RunWindows& cut, size_t index, const DeviceUsage& device);

// Which of the windows the headline is about, where it can be |wanted|.
size_t HeadlineOf(const RunWindows& cut, ReportWindow wanted);

// Fills devices and everything of ReportRun that follows from them.
void AddDevices(const Run& run, const std::vector<DeviceUsage>& devices, const RunWindows& cut,
                size_t headline, Report* report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_RUN_HEADLINE_H_
