// SPDX-License-Identifier: Apache-2.0
//
// How far a program said it had come: the counters progress_done and progress_total that
// gpubound.progress() records. Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_TOLD_PROGRESS_H_
#define GPUBOUND_ANALYSIS_TOLD_PROGRESS_H_

#include <optional>

#include "analysis/event_source.h"
#include "analysis/report.h"
#include "analysis/run.h"

namespace gpubound {

// The last pair; absent where the program told none, or no total above zero. Costs a pass over the
// thread events of a process that has such counters, and nothing otherwise.
std::optional<ReportProgress> ToldProgress(const ProcessTrace& process, const EventSource& source);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TOLD_PROGRESS_H_
