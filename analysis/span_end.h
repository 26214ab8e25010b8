// SPDX-License-Identifier: Apache-2.0
//
// How the end of a process's span is known, in words. Pure.
#ifndef GPUBOUND_ANALYSIS_SPAN_END_H_
#define GPUBOUND_ANALYSIS_SPAN_END_H_

#include <string>

#include "analysis/run.h"

namespace gpubound {

// The value in tables: part of their format.
const char* SpanEndName(SpanEnd end);

// For people.
std::string SpanEndText(SpanEnd end);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SPAN_END_H_
