// SPDX-License-Identifier: Apache-2.0
//
// Where a process's span ends and how that is known, in words. Pure.
#ifndef GPUBOUND_ANALYSIS_TRACE_SPAN_END_H_
#define GPUBOUND_ANALYSIS_TRACE_SPAN_END_H_

#include <string>

#include "analysis/base/interval.h"
#include "analysis/trace/run.h"

namespace gpubound {

// From the first event of |process|, kOpenEnded where there is none, to the last event or sample
// that its recorder took: a process may wait for the GPU for long and be killed meanwhile.
Interval KnownLifeOf(const ProcessTrace& process);

// The value in tables: part of their format.
const char* SpanEndName(SpanEnd end);

// For people.
std::string SpanEndText(SpanEnd end);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_SPAN_END_H_
