// SPDX-License-Identifier: Apache-2.0
//
// Adds up conditions. No state.
#include "analysis/correction/start_and_end.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analysis/base/estimate.h"

namespace gpubound {
namespace {

// One that was measured on a machine too busy to know it better than its own size is left out; then
// it may be anything up to its upper bound.
StartAndEndCost CostUnder(std::string_view condition, const std::vector<ProcessCost>& measured) {
  const auto found =
      std::find_if(measured.begin(), measured.end(),
                   [&](const ProcessCost& process) { return process.condition == condition; });
  if (found == measured.end()) return {};
  const StartAndEndCost cost = {found->cost.total_ns(), found->cost.standard_error_ns};
  if (kNormal975 * cost.error_ns < cost.ns) return cost;
  return {0, cost.ns / kNormal975 + cost.error_ns};
}

}  // namespace

// Loading CUDA's part is the same whatever loads it.
StartAndEndCost StartAndEndOf(const ProcessTrace& process,
                              const std::vector<ProcessCost>& measured) {
  const StartAndEndCost native = CostUnder("", measured);
  StartAndEndCost total = process.python ? CostUnder("Python", measured) : native;
  if (process.device_kind == "none") return total;
  const StartAndEndCost cuda = CostUnder("CUDA", measured);
  total.ns += std::max(0.0, cuda.ns - native.ns);
  total.error_ns = process.python ? std::hypot(total.error_ns, cuda.error_ns, native.error_ns)
                                  : std::max(total.error_ns, cuda.error_ns);
  return total;
}

}  // namespace gpubound
