// SPDX-License-Identifier: Apache-2.0
//
// Goes through the sources, from the least sure to the surest. No state.
#include "analysis/correction/in_run_costs.h"

#include <cmath>
#include <string>

#include "analysis/base/text_table.h"
#include "analysis/correction/entry_costs.h"
#include "analysis/correction/later_costs.h"
#include "analysis/correction/lost_costs.h"

namespace gpubound {
namespace {

constexpr char kMeasuredElsewhere[] = "calibration measured it in other programs";

void Widen(Cost* cost) {
  cost->standard_error_ns = std::hypot(cost->standard_error_ns, kTransferError * cost->total_ns());
}

// Until something of the run itself says more.
void TakeFromElsewhere(const ProcessTrace& process, CostModel* costs, InRunCheck* check) {
  costs->ForScopes(Widen);
  costs->ForInstants(Widen);
  check->unchecked.push_back({kScopes, kMeasuredElsewhere});
  if (!process.MakesCalls()) return;
  costs->ForCalls(Widen);
  check->unchecked.push_back({kCudaCalls, kMeasuredElsewhere});
}

// What of |process| could have been compared, and was not.
void NoteWhyNothingCameLater(const ProcessTrace& process, InRunCheck* check) {
  LaterCheck& later = check->later;
  if (later.iterations != 0) return;
  if (later.why_none.empty() && process.span_end == SpanEnd::kAsked) {
    const size_t known = process.later_iterations.size();
    later.why_none = Counted(known, "iteration") + (known == 1 ? " is" : " are") +
                     " known after the recording, and " + std::to_string(kFewestLater) +
                     " are needed, there and in it";
  }
  if (later.why_none.empty() || check->unchecked.empty()) return;
  check->unchecked.back().why += "; " + later.why_none;
}

}  // namespace

Result<InRunCosts> CheckCosts(const Run& run, const CostModel& calibrated,
                              const std::vector<std::string>& operations) {
  InRunCosts checked;
  checked.costs.assign(run.processes.size(), calibrated);
  checked.checks.resize(run.processes.size());
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    CostModel* const costs = &checked.costs[p];
    if (!WhyNoCostsOf(process, calibrated).empty()) {
      *costs = {};
      continue;
    }
    checked.checks[p].entries = FitToEntries(process, costs);
    if (calibrated.of_other_programs) TakeFromElsewhere(process, costs, &checked.checks[p]);
  }
  const Status later = CheckLater(run, operations, &checked);
  if (!later.ok()) return later.error();
  for (size_t p = 0; p < run.processes.size(); ++p) {
    NoteWhyNothingCameLater(run.processes[p], &checked.checks[p]);
  }
  return checked;
}

}  // namespace gpubound
