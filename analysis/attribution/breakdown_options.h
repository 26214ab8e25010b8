// SPDX-License-Identifier: Apache-2.0
//
// What the breakdown of a run is asked for. Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_BREAKDOWN_OPTIONS_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_BREAKDOWN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/target.h"

namespace gpubound {

// How much is worked out.
enum class ReportDetail : uint8_t {
  // The breakdown of every process and of the run by phase, operation, layer, GPU state, device and
  // iteration, and the ledger. There are no lanes, kernels, gaps, awaited processes and ranks.
  kBreakdown,
  kAll,
};

// What the headline is about: the iterations after warm-up where there are any, else the span; the
// time from the first to the last work of the run's devices; the span.
enum class ReportWindow : uint8_t { kStep, kWork, kWhole };

struct BreakdownOptions {
  ReportWindow window = ReportWindow::kStep;
  ReportDetail detail = ReportDetail::kAll;
  // Foreign ranges that serve as operations beside the usual rule: "nvtx:DOMAIN", or "all".
  std::vector<std::string> operations;
  std::vector<Target> targets;  // whose times are to be found
  // Looks for kernels that were lost without a word (lost_kernels.h): of a run that was recorded.
  bool finds_lost_kernels = false;
  // What a report says in place of corrected values, until a replay adds them.
  std::string why_not_replayed = "the replay was left out";
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_BREAKDOWN_OPTIONS_H_
