// SPDX-License-Identifier: Apache-2.0
//
// What a CUDA API call says about an idle device (idle_cause.h), by its name. Pure.
#ifndef GPUBOUND_ANALYSIS_CALL_CAUSES_H_
#define GPUBOUND_ANALYSIS_CALL_CAUSES_H_

#include <string_view>

#include "analysis/idle_cause.h"

namespace gpubound {

enum class CaptureEdge : uint8_t { kNone = 0, kBegins, kEnds };

// kCopy, kCompile or kLaunch; versioned suffixes and the cuda, cu or hip prefix do not matter.
IdleCause CauseOfCall(std::string_view name);

// Whether the call switches stream capture on or off in its thread.
CaptureEdge CaptureEdgeOf(std::string_view name);

// Whether a CUPTI overhead of this name is the program's own compilation or lazy loading.
bool IsCompileOverhead(std::string_view name);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CALL_CAUSES_H_
