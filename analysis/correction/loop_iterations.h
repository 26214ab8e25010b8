// SPDX-License-Identifier: Apache-2.0
//
// The iterations of a training loop in which some ran without their scopes being recorded
// (suspension_plan.h), and which of the others are their like. Pure.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_LOOP_ITERATIONS_H_
#define GPUBOUND_ANALYSIS_CORRECTION_LOOP_ITERATIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/trace/event_source.h"

namespace gpubound {

struct LoopIteration {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t scopes = 0;  // opened on the thread of the loop
  bool suspended = false;
  bool whole = true;  // false: suspended for a part, or nobody counted its scopes
  int64_t length_ns() const { return end_ns - begin_ns; }
};

// In order of time, those of the thread that marked suspensions; none where no thread did.
std::vector<LoopIteration> LoopIterations(const ProcessTrace& process, const EventSource& source);

// A suspended iteration and its like: recorded ones not far from it, on both sides, since training
// drifts, that opened as many scopes, since loops have iterations of several kinds. Not the one
// right behind it, which finds the caches as the suspended one left them.
struct LikeIterations {
  size_t suspended = 0;
  std::vector<size_t> recorded;  // never empty
};
std::vector<LikeIterations> MatchSuspended(const std::vector<LoopIteration>& iterations);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_LOOP_ITERATIONS_H_
