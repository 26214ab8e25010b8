// SPDX-License-Identifier: Apache-2.0
//
// What the report of a run is asked for: the breakdown, and what replays add to it. Plain values
// without a thread rule.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_REPORT_OPTIONS_H_
#define GPUBOUND_ANALYSIS_CORRECTION_REPORT_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/calibration/calibration.h"
#include "analysis/calibration/cost_model.h"

namespace gpubound {

struct ReportOptions : BreakdownOptions {
  // Runs the replays: the corrected values, if |costs| are known, and the GPU-limited share. They
  // take several times as long as the recorded values, and all processors.
  bool replays = false;
  // With |replays|: also what parts infinitely fast would buy, a pass over the events for each.
  bool savings = true;
  bool what_if = false;  // with |savings|: of what they find also other factors than a half
  std::optional<CostModel> costs;          // absent: those of the run's calibration (run_costs.h)
  std::vector<ProcessCost> process_costs;  // likewise; of a process once, beside its events
  std::string calibration_folder;          // where the run's directory holds none; empty: nowhere
  std::string why_no_costs = "not calibrated";
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_REPORT_OPTIONS_H_
