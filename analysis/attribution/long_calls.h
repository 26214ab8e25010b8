// SPDX-License-Identifier: Apache-2.0
//
// Names the CUDA calls that make up long idle stretches: the one that creates a context may take
// longer than all launches of a run. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_LONG_CALLS_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_LONG_CALLS_H_

#include <vector>

#include "analysis/report/report.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Fills in `call` and `call_ns` of those |gaps| of |process| that the CPU's own work made and that
// are at least a twentieth of its span. A pass over all calls where there is such a gap, none
// otherwise. Calls whose detail is gone have no name any more.
void NameLongCalls(const ProcessTrace& process, const EventSource& source,
                   std::vector<ReportGap>* gaps);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_LONG_CALLS_H_
