// SPDX-License-Identifier: Apache-2.0
//
// What the profiler itself does on threads of a program, as when it wraps the functions of a
// library that was imported: it puts an annotation of its own around that. Reading, no state.
#ifndef GPUBOUND_ANALYSIS_TRACE_OWN_WORK_H_
#define GPUBOUND_ANALYSIS_TRACE_OWN_WORK_H_

#include <cstdint>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Domain of those annotations.
inline constexpr char kOwnDomain[] = "gpubound";

inline bool IsOwnWork(const Label& label) {
  return label.kind == LabelKind::kAnnotation && label.domain == kOwnDomain;
}

// How much of |frames| (ns of the trace's timeline) such work of |process| covers; what its threads
// do at a time counts once.
int64_t OwnWorkWithin(const ProcessTrace& process, const std::vector<Interval>& frames);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_OWN_WORK_H_
