// SPDX-License-Identifier: Apache-2.0
//
// What the name of a CUDA API call says: about an idle device (idle_cause.h), and about the work
// that it launches. Pure.
#ifndef GPUBOUND_ANALYSIS_TRACE_CALL_CAUSES_H_
#define GPUBOUND_ANALYSIS_TRACE_CALL_CAUSES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/trace/idle_cause.h"
#include "proto/event_model.h"

namespace gpubound {

enum class CaptureEdge : uint8_t { kNone = 0, kBegins, kEnds };

// kCopy, kCompile or kLaunch; versioned suffixes and the cuda, cu or hip prefix do not matter.
IdleCause CauseOfCall(std::string_view name);

// How much device work a call launches. One copy may be recorded in several pieces, which begin
// before the call ends.
enum class Launches : uint8_t { kNothing = 0, kOne, kMany };
inline constexpr size_t kLaunches = 3;

// kNothing only where that is certain; kMany of graphs and batches, whose pieces of work may begin
// long after each other.
Launches LaunchesOf(std::string_view name);

// The kind of work that the call launches; kNone where it launches none or its name says nothing of
// the kind. A call that is part of a capture launches nothing itself.
WorkKind WorkLaunchedBy(std::string_view name);

// Whether the call launches one kernel and nothing else.
bool LaunchesOneKernel(std::string_view name);

// Whether the call switches stream capture on or off in its thread.
CaptureEdge CaptureEdgeOf(std::string_view name);

// Whether a CUPTI overhead of this name is the program's own compilation or lazy loading.
bool IsCompileOverhead(std::string_view name);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_CALL_CAUSES_H_
