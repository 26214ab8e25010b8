// SPDX-License-Identifier: Apache-2.0
//
// Reads keys off what was recorded. No state.
#include "analysis/calibration/machine_key.h"

namespace gpubound {
namespace {

// The members in the order in which they are compared, and how they are said.
struct KeyWords {
  std::string MachineKey::*member;
  const char* with;
  const char* without;
};
constexpr KeyWords kWords[] = {
    {&MachineKey::cpu_model, "on the CPU ", "on a CPU without a name"},
    {&MachineKey::gpubound, "with gpubound ", "with a gpubound without a version"},
    {&MachineKey::python, "with Python ", "without Python"},
    {&MachineKey::device_kind, "with devices of the kind ", "without a device"},
    {&MachineKey::driver, "with driver ", "without a driver"},
    {&MachineKey::cupti, "with CUPTI ", "without CUPTI"}};

std::string Said(const MachineKey& key, const KeyWords& words) {
  const std::string& value = key.*words.member;
  return value.empty() || value == "none" ? words.without : words.with + value;
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

std::optional<KeyDifference> DifferenceOf(const MachineKey& measured, const MachineKey& recorded) {
  for (const KeyWords& words : kWords) {
    const bool used = words.member != &MachineKey::python || !recorded.python.empty();
    if (words.member == &MachineKey::device_kind && recorded.device_kind == "none") break;
    if (!used || measured.*words.member == recorded.*words.member) continue;
    return KeyDifference{static_cast<size_t>(&words - kWords), Said(measured, words),
                         Said(recorded, words)};
  }
  return std::nullopt;
}

std::string WhyNotServing(const MachineKey& measured, const MachineKey& recorded) {
  const std::optional<KeyDifference> difference = DifferenceOf(measured, recorded);
  if (!difference) return {};
  return "measured " + difference->measured + ", and the run was recorded " + difference->recorded;
}

}  // namespace gpubound
