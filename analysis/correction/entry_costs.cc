// SPDX-License-Identifier: Apache-2.0
//
// Two times the same: for calls behind calls, and for calls behind other work. No state.
#include "analysis/correction/entry_costs.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace gpubound {
namespace {

using Functions = std::map<std::string, Cost>;

// What entries of one kind say, of all functions together.
struct Factors {
  std::map<std::string, double> of;  // those with enough of them
  uint64_t calls = 0;                // that these rest on
  double longer = 0;                 // sum over calls of their factor

  double any() const { return calls == 0 ? 1 : longer / static_cast<double>(calls); }
};

Factors FactorsOf(const ProcessTrace& process, CallEntries::Timed CallEntries::*kind,
                  const Functions& calibrated) {
  Factors factors;
  for (const CallEntries& entries : process.call_entries) {
    const CallEntries::Timed& timed = entries.*kind;
    const auto cost = calibrated.find(entries.function);
    if (cost == calibrated.end() || cost->second.entry_ns <= 0) continue;
    if (timed.calls < kFewestEntries || timed.mean_ns <= 0) continue;
    const double factor = std::clamp(timed.mean_ns / cost->second.entry_ns, 1 / kLargestEntryFactor,
                                     kLargestEntryFactor);
    factors.of[cost->first] = factor;
    factors.calls += timed.calls;
    factors.longer += factor * static_cast<double>(timed.calls);
  }
  return factors;
}

// Functions that were timed here and not in calibration begin with what one costs that does the
// same.
void AddSimilar(const ProcessTrace& process, Functions* functions) {
  Functions added;
  for (const CallEntries& entries : process.call_entries) {
    const auto found = CostModel::FindCall(*functions, entries.function);
    if (found != functions->end()) added.emplace(entries.function, found->second);
  }
  functions->merge(added);
}

void Apply(const Factors& factors, Functions* functions, Cost* any) {
  *any = any->Times(factors.any());
  for (auto& [name, cost] : *functions) {
    const auto own = factors.of.find(name);
    cost = cost.Times(own == factors.of.end() ? factors.any() : own->second);
  }
}

}  // namespace

EntryCheck FitToEntries(const ProcessTrace& process, CostModel* costs) {
  CostModel fitted = *costs;
  if (fitted.api_after_other_work.empty()) {  // it was calibrated without an interpreter
    fitted.api_after_other_work = fitted.api;
    fitted.AfterOtherWork(CostKind::kApiCall) = fitted.Of(CostKind::kApiCall);
  }
  AddSimilar(process, &fitted.api);
  AddSimilar(process, &fitted.api_after_other_work);
  const Factors behind_call = FactorsOf(process, &CallEntries::behind_call, fitted.api);
  const Factors behind_work =
      FactorsOf(process, &CallEntries::behind_work, fitted.api_after_other_work);
  EntryCheck check;
  check.calls = behind_call.calls + behind_work.calls;
  if (check.calls == 0) return check;
  check.factor = (behind_call.longer + behind_work.longer) / static_cast<double>(check.calls);
  Apply(behind_call, &fitted.api, &fitted.Of(CostKind::kApiCall));
  Apply(behind_work, &fitted.api_after_other_work, &fitted.AfterOtherWork(CostKind::kApiCall));
  fitted.knows_calls_behind_work = behind_work.calls != 0;
  *costs = std::move(fitted);
  return check;
}

}  // namespace gpubound
