// SPDX-License-Identifier: Apache-2.0
//
// Reads keys off what was recorded. No state.
#include "analysis/calibration/machine_key.h"

namespace gpubound {
namespace {

std::string Differs(const char* what, const std::string& measured, const std::string& run) {
  const auto shown = [](const std::string& text) { return text.empty() ? "none" : text; };
  return std::string(what) + " " + shown(measured) + ", and the run has " + shown(run);
}

}  // namespace

MachineKey KeyOf(const ProcessTrace& process) {
  return {.cpu_model = process.cpu_model,
          .device_kind = process.device_kind,
          .driver = process.driver_version,
          .cupti = process.cupti_version,
          .python = process.python_version,
          .gpubound = process.version};
}

MachineKey KeyOf(const Run& run) {
  MachineKey key;
  key.device_kind = "none";
  for (const ProcessTrace& process : run.processes) {
    if (process.identity.host != run.processes.front().identity.host) continue;
    const MachineKey own = KeyOf(process);
    if (key.cpu_model.empty()) key.cpu_model = own.cpu_model;
    if (key.gpubound.empty()) key.gpubound = own.gpubound;
    if (key.python.empty()) key.python = own.python;
    if (own.device_kind == "none" || key.device_kind != "none") continue;
    key.device_kind = own.device_kind;
    key.driver = own.driver;
    key.cupti = own.cupti;
  }
  return key;
}

std::string WhyNotServing(const MachineKey& measured, const MachineKey& recorded) {
  if (measured.cpu_model != recorded.cpu_model) {
    return Differs("measured on CPU", measured.cpu_model, recorded.cpu_model);
  }
  if (measured.gpubound != recorded.gpubound) {
    return Differs("measured with gpubound", measured.gpubound, recorded.gpubound);
  }
  if (!recorded.python.empty() && measured.python != recorded.python) {
    return Differs("measured with Python", measured.python, recorded.python);
  }
  if (recorded.device_kind == "none") return {};
  if (measured.device_kind != recorded.device_kind) {
    return Differs("measured with device kind", measured.device_kind, recorded.device_kind);
  }
  if (measured.driver != recorded.driver) {
    return Differs("measured with driver", measured.driver, recorded.driver);
  }
  if (measured.cupti != recorded.cupti)
    return Differs("measured with CUPTI", measured.cupti, recorded.cupti);
  return {};
}

}  // namespace gpubound
