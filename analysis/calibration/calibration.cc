// SPDX-License-Identifier: Apache-2.0
//
// The step from measurements to a model. No state.
#include "analysis/calibration/calibration.h"

#include <array>
#include <cmath>

#include "analysis/base/estimate.h"

namespace gpubound {
namespace {

// A function that was not measured may differ from the mean as much as those that were do.
Cost CostOfAnyCall(const std::map<std::string, Cost>& functions) {
  Cost any;
  std::vector<double> totals;
  double squared_errors = 0;
  const auto count = static_cast<double>(functions.size());
  for (const auto& [name, cost] : functions) {
    any.inside_ns += cost.inside_ns / count;
    any.outside_ns += cost.outside_ns / count;
    any.variance_ns2 += cost.variance_ns2 / count;
    any.samples += cost.samples;
    squared_errors += cost.standard_error_ns * cost.standard_error_ns;
    totals.push_back(cost.total_ns());
  }
  double spread = 0;
  for (const double total : totals) spread += (total - any.total_ns()) * (total - any.total_ns());
  if (totals.size() > 1) spread /= count - 1;
  any.standard_error_ns = std::sqrt(squared_errors / (count * count) + spread);
  return any;
}

}  // namespace

std::string_view CostKindName(CostKind kind) {
  static constexpr std::array<std::string_view, kCostKindCount> kNames = {
      "native_scope", "python_scope", "intercepted_call", "instant", "api_call"};
  return kNames[static_cast<size_t>(kind)];
}

CostModel ModelOf(const Calibration& calibration) {
  CostModel model;
  model.measured_on = calibration.machine;
  model.of_other_programs = true;
  for (const MeasuredCost& measured : calibration.costs) {
    if (measured.kind == CostKind::kInstant && measured.condition == kFromPython) {
      model.python_instant = measured.cost;
    }
    if (measured.condition == kAfterOtherWork) {
      if (measured.kind == CostKind::kApiCall) {
        model.api_after_other_work[measured.api] = measured.cost;
      } else {
        model.AfterOtherWork(measured.kind) = measured.cost;
      }
    }
    if (!measured.condition.empty()) continue;
    if (measured.kind == CostKind::kApiCall) {
      model.api[measured.api] = measured.cost;
    } else {
      model.Of(measured.kind) = measured.cost;
    }
  }
  if (!model.api.empty()) model.Of(CostKind::kApiCall) = CostOfAnyCall(model.api);
  if (!model.api_after_other_work.empty()) {
    model.AfterOtherWork(CostKind::kApiCall) = CostOfAnyCall(model.api_after_other_work);
  }
  return model;
}

}  // namespace gpubound
