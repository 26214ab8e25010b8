// SPDX-License-Identifier: Apache-2.0
//
// Keys of machines, and the step from measurements to a model. No state.
#include "analysis/calibration.h"

#include <array>
#include <cmath>

#include "analysis/estimate.h"

namespace gpubound {
namespace {

std::string Differs(const char* what, const std::string& measured, const std::string& run) {
  const auto shown = [](const std::string& text) { return text.empty() ? "none" : text; };
  return std::string(what) + " " + shown(measured) + ", and the run has " + shown(run);
}

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

MachineKey KeyOf(const Run& run) {
  MachineKey key;
  key.device_kind = "none";
  for (const ProcessTrace& process : run.processes) {
    if (process.identity.host != run.processes.front().identity.host) continue;
    if (key.cpu_model.empty()) key.cpu_model = process.cpu_model;
    if (key.gpubound.empty()) key.gpubound = process.version;
    if (key.python.empty()) key.python = process.python_version;
    if (process.device_kind == "none" || key.device_kind != "none") continue;
    key.device_kind = process.device_kind;
    key.driver = process.driver_version;
    key.cupti = process.cupti_version;
  }
  return key;
}

std::string WhyNotServing(const MachineKey& measured, const MachineKey& run) {
  if (measured.cpu_model != run.cpu_model) {
    return Differs("measured on CPU", measured.cpu_model, run.cpu_model);
  }
  if (measured.gpubound != run.gpubound) {
    return Differs("measured with gpubound", measured.gpubound, run.gpubound);
  }
  if (!run.python.empty() && measured.python != run.python) {
    return Differs("measured with Python", measured.python, run.python);
  }
  if (run.device_kind == "none") return {};
  if (measured.device_kind != run.device_kind) {
    return Differs("measured with device kind", measured.device_kind, run.device_kind);
  }
  if (measured.driver != run.driver) {
    return Differs("measured with driver", measured.driver, run.driver);
  }
  if (measured.cupti != run.cupti) return Differs("measured with CUPTI", measured.cupti, run.cupti);
  return {};
}

std::string_view CostKindName(CostKind kind) {
  static constexpr std::array<std::string_view, kCostKindCount> kNames = {
      "native_scope", "python_scope", "intercepted_call", "instant", "api_call"};
  return kNames[static_cast<size_t>(kind)];
}

CostModel ModelOf(const Calibration& calibration) {
  CostModel model;
  for (const MeasuredCost& measured : calibration.costs) {
    if (!measured.condition.empty()) continue;
    if (measured.kind == CostKind::kApiCall) {
      model.api[measured.api] = measured.cost;
    } else {
      model.Of(measured.kind) = measured.cost;
    }
  }
  if (!model.api.empty()) model.Of(CostKind::kApiCall) = CostOfAnyCall(model.api);
  return model;
}

}  // namespace gpubound
