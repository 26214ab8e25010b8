// SPDX-License-Identifier: Apache-2.0
//
// What a report says of the roles of a run's processes (ReportRoles): what each did, why devices that it
// held were idle, how they overlapped, and how rollouts ended. Worked out where there are two roles or
// more, by going once more through the events of all processes. Pure but for that.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_ROLES_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_ROLES_H_

#include <optional>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/base/interval.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/device_usage.h"
#include "analysis/processes/known_waits.h"
#include "analysis/report/report.h"
#include "analysis/report/report_training.h"
#include "analysis/trace/run.h"

namespace gpubound {

// |window|: of the headline, on the clock of the run. |waits|, |activity|, |unknown|: of the processes,
// on their own clocks. |report| has its processes. Absent where there are fewer than two roles in the
// window. A log of devices that cannot be read has an error, which the caller looks for.
std::optional<ReportRoles> RolesAtWork(const Run& run, const KnownWaits& waits,
                                       const RunActivity& activity, const RunUnknown& unknown,
                                       const ClockAlignment& clocks, const Interval& window,
                                       const BreakdownOptions& options, const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_ROLES_H_
