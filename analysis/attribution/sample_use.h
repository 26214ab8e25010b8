// SPDX-License-Identifier: Apache-2.0
//
// What became of the samples of a training: how old the policy was that made them, how many were
// thrown away, and what of the rollout's GPU time was not in vain. Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_SAMPLE_USE_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_SAMPLE_USE_H_

#include <optional>

#include "analysis/processes/clock_align.h"
#include "analysis/report/report.h"
#include "analysis/report/report_training.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Counters with a meaning. consumed_version, where it is known, comes right before consumed_samples
// on the same thread; what follows the colon of discarded_samples:REASON is the reason.
inline constexpr char kPolicyVersionCounter[] = "policy_version";
inline constexpr char kConsumedVersionCounter[] = "consumed_version";
inline constexpr char kConsumedCounter[] = "consumed_samples";
inline constexpr char kDiscardedCounter[] = "discarded_samples";

// Absent where the program says nothing of it. |report| has the processes.
std::optional<ReportSamples> SampleUse(const Run& run, const ClockAlignment& clocks,
                                       const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_SAMPLE_USE_H_
