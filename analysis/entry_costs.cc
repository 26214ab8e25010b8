// SPDX-License-Identifier: Apache-2.0
//
// Two times the same: for calls behind calls, and for calls behind other work. No state.
#include "analysis/entry_costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

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
                  const Functions& calibrated, double growth) {
  Factors factors;
  for (const CallEntries& entries : process.call_entries) {
    const CallEntries::Timed& timed = entries.*kind;
    const auto cost = calibrated.find(entries.function);
    if (cost == calibrated.end() || cost->second.entry_ns <= 0) continue;
    if (timed.calls < kFewestEntries || timed.mean_ns <= 0) continue;
    const double longer = timed.mean_ns / cost->second.entry_ns;
    const double factor =
        std::clamp(std::pow(longer, growth), 1 / kLargestEntryFactor, kLargestEntryFactor);
    factors.of[cost->first] = factor;
    factors.calls += timed.calls;
    factors.longer += factor * static_cast<double>(timed.calls);
  }
  return factors;
}

void Apply(const Factors& factors, Functions* functions, Cost* any) {
  *any = any->Times(factors.any());
  for (auto& [name, cost] : *functions) {
    const auto own = factors.of.find(name);
    cost = cost.Times(own == factors.of.end() ? factors.any() : own->second);
  }
}

}  // namespace

double GrowthWithEntry(const CostModel& costs) {
  double cost_ns[] = {0, 0};
  double entry_ns[] = {0, 0};
  for (const auto& [name, usual] : costs.api) {
    const auto late = costs.api_after_other_work.find(name);
    if (late == costs.api_after_other_work.end()) continue;
    if (usual.entry_ns <= 0 || late->second.entry_ns <= 0) continue;
    cost_ns[0] += usual.total_ns();
    cost_ns[1] += late->second.total_ns();
    entry_ns[0] += usual.entry_ns;
    entry_ns[1] += late->second.entry_ns;
  }
  if (entry_ns[1] < kFewestTimesLonger * entry_ns[0] || cost_ns[0] <= 0) return 1;
  const double dearer = std::max(1.0, cost_ns[1] / cost_ns[0]);
  return std::min(1.0, std::log(dearer) / std::log(entry_ns[1] / entry_ns[0]));
}

EntryCheck FitToEntries(const ProcessTrace& process, CostModel* costs) {
  const double growth = GrowthWithEntry(*costs);
  const Factors behind_call = FactorsOf(process, &CallEntries::behind_call, costs->api, growth);
  const Factors behind_work =
      FactorsOf(process, &CallEntries::behind_work, costs->api_after_other_work, growth);
  EntryCheck check;
  check.calls = behind_call.calls + behind_work.calls;
  if (check.calls == 0) return check;
  check.factor = (behind_call.longer + behind_work.longer) / static_cast<double>(check.calls);
  Apply(behind_call, &costs->api, &costs->Of(CostKind::kApiCall));
  Apply(behind_work, &costs->api_after_other_work, &costs->AfterOtherWork(CostKind::kApiCall));
  costs->knows_calls_behind_work = behind_work.calls != 0;
  return check;
}

}  // namespace gpubound
