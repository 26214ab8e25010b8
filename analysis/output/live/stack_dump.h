// SPDX-License-Identifier: Apache-2.0
//
// The Python stack of each thread of a run as it was last looked at. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_LIVE_STACK_DUMP_H_
#define GPUBOUND_ANALYSIS_OUTPUT_LIVE_STACK_DUMP_H_

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/trace/run.h"

namespace gpubound {

// Of all processes, or of the one with |pid|: innermost frames first, main threads before others.
// |now_ns|: the trace time on this machine, to say how old a look is; absent: the run is over, or
// was made on another. Empty: no stack of it was looked at.
std::string RenderStacks(const Run& run, std::optional<int64_t> pid, std::optional<int64_t> now_ns);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_LIVE_STACK_DUMP_H_
