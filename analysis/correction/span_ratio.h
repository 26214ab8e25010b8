// SPDX-License-Identifier: Apache-2.0
//
// The span of a run with changes as a part of that of the same run without, and how sure that is.
// Pure functions.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_SPAN_RATIO_H_
#define GPUBOUND_ANALYSIS_CORRECTION_SPAN_RATIO_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/replay/replay.h"
#include "analysis/replay/replay_facts.h"
#include "analysis/report/main_process.h"
#include "analysis/report/what_if_result.h"

namespace gpubound {

// Of a replayed run, and of one process of it.
struct ReplayedSpan {
  int64_t run_ns = 0;
  CostNoise noise;     // of the run's
  UnknownWaits waits;  // of the process that ends last
  int64_t process_ns = 0;
  std::vector<double> steps_ns;  // when its iterations ended (step_times.h)
  uint64_t iterations = 0;       // that these span
  UnknownWaits iteration_waits;  // in these
};
ReplayedSpan SpanOf(const ReplayedRun& replayed, LeadingProcess leading);

// |low| to |high| is where it lies with 95 % probability in a run of the same program that is as
// long: what costs are uncertain by, what the replay is off by, and what iterations gain more or
// less than others; and so much further away as waits for nobody known could have become shorter
// or longer (docs/overhead_model.md).
SpanRatio RatioOf(const ReplayedSpan& changed, const ReplayedSpan& as_is);

// The same of the mean iteration, for which all that costs make uncertain of the span counts: at
// most so much of it lies in the iterations. |part| is 0 where there is no iteration.
SpanRatio IterationRatioOf(const ReplayedSpan& changed, const ReplayedSpan& as_is);

// Of those that IterationRatioOf() is about; 0 where there is none.
int64_t MeanIterationOf(const ReplayedSpan& span);

// The standard error of the sum of |changed| lengths over that of |as_is|, as an estimate from a
// sample of iterations; 0 of fewer than kFewIterations. |*degrees|: of freedom.
inline constexpr size_t kFewIterations = 5;
double SamplingError(const std::vector<double>& changed_steps_ns,
                     const std::vector<double>& as_is_steps_ns, uint64_t* degrees);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_SPAN_RATIO_H_
