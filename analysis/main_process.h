// SPDX-License-Identifier: Apache-2.0
//
// Which process of a run tells its story where only one can. Pure.
#ifndef GPUBOUND_ANALYSIS_MAIN_PROCESS_H_
#define GPUBOUND_ANALYSIS_MAIN_PROCESS_H_

#include "analysis/report.h"

namespace gpubound {

// The root of the run where it was recorded, else the first process; where nothing says which the
// root is, the first of those with the longest span. Null without any. It points into |report|.
const ReportProcess* MainProcess(const Report& report);

// The process whose iterations are the run's: the main process, else the one with the most of them;
// null where no process steps.
const ReportProcess* SteppingProcess(const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_MAIN_PROCESS_H_
