// SPDX-License-Identifier: Apache-2.0
//
// Fixed keys are those of a report in which there is one of everything; the others are put together
// of names that are known.
#include "tests/golden/expectation_keys.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "analysis/attribution/role_sweep.h"
#include "analysis/report/report_training.h"
#include "analysis/trace/idle_cause.h"
#include "analysis/trace/work_classes.h"
#include "proto/ledger_counters.h"
#include "tests/golden/expectation.h"

namespace gpubound::golden {
namespace {

Report WithOneOfEverything() {
  Report report;
  ReportProcess& process = report.processes.emplace_back();
  process.operations.emplace_back();
  process.operation_kernels.emplace_back();
  process.iterations.emplace();
  process.iterations->slowest.emplace_back();
  process.iterations->operations.emplace_back();
  report.run.parts.emplace_back();
  report.devices.emplace_back();
  report.ranks.emplace_back();
  report.operation_devices.emplace_back();
  RunTraining training;
  training.targets.emplace_back();
  training.work.emplace_back();
  training.samples.emplace();
  training.roles.emplace().roles.emplace_back();
  training.roles->overlap.emplace_back();
  training.roles->tail.emplace();
  ProcessTraining of_process;
  of_process.flops.emplace();
  of_process.weight_sync.emplace();
  process.training = std::make_shared<const ProcessTraining>(std::move(of_process));
  report.run.training = std::make_shared<const RunTraining>(std::move(training));
  return report;
}

bool IsFixedKey(const std::string& section, const std::string& key) {
  const Report report = WithOneOfEverything();
  if (ActualValues(report, section).count(key) != 0) return true;
  const Table table = ActualTable(report, section);
  return !table.empty() && table.begin()->second.count(key) != 0;
}

bool IsLayer(const std::string& name) {
  for (auto layer = static_cast<int>(Layer::kPython); layer <= static_cast<int>(Layer::kCudaApi);
       ++layer) {
    if (name == LayerName(static_cast<Layer>(layer))) return true;
  }
  return false;
}

// LAYER->LAYER
bool IsTransition(const std::string& key) {
  const size_t arrow = key.find("->");
  return arrow != std::string::npos && IsLayer(key.substr(0, arrow)) &&
         IsLayer(key.substr(arrow + 2));
}

bool IsCause(const std::string& key) {
  for (size_t i = 0; i < kIdleCauses; ++i) {
    if (key == IdleCauseName(static_cast<IdleCause>(i))) return true;
  }
  return false;
}

bool IsBubble(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  for (size_t i = 0; i < kBubbles; ++i) {
    if (key == BubbleName(static_cast<Bubble>(i))) return true;
  }
  return false;
}

bool IsCounter(const std::string& key) {
  return std::any_of(std::begin(kLedgerCounters), std::end(kLedgerCounters),
                     [&key](const LedgerCounterInfo& counter) { return key == counter.name; });
}

// OPERATION,LAYER
bool IsActivity(const std::string& text) {
  const size_t comma = text.rfind(',');
  return comma != std::string::npos && comma > 0 && IsLayer(text.substr(comma + 1));
}

// PID; with several joined by '+', as waits for any of them are.
bool ArePids(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789+") == std::string::npos;
}

// WHAT:PID, or meanwhile:PID:OPERATION,LAYER
bool NamesProcess(const std::string& key) {
  const size_t colon = key.find(':');
  if (colon == std::string::npos) return false;
  const std::string what = key.substr(0, colon);
  const std::string of = key.substr(colon + 1);
  if (what == "waits" || what == "awaited" || what == "worker") return ArePids(of);
  const size_t second = of.find(':');
  return what == "meanwhile" && second != std::string::npos && ArePids(of.substr(0, second)) &&
         IsActivity(of.substr(second + 1));
}

bool NamesBand(const std::string& key) {
  for (const std::string what : {"alone:", "contended:"}) {
    if (key.starts_with(what)) return ArePids(key.substr(what.size()));
  }
  return false;
}

// CAUSE:NUMBER of an iteration after warm-up
bool NamesIteration(const std::string& key) {
  const size_t colon = key.find(':');
  return colon != std::string::npos && IsCause(key.substr(0, colon)) &&
         key.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

}  // namespace

bool IsKey(const std::string& of_any, const std::string& key) {
  const std::string section = of_any.substr(0, of_any.rfind(" of "));
  if (section == "ledger") return IsCounter(key);
  if (section == "idle") return key == "sum" || IsCause(key);
  if (IsFixedKey(section, key)) return true;
  if (section == "samples") return key.starts_with("behind:") || key.starts_with("reason:");
  if (section == "roles") return key.starts_with("active:") || IsBubble(key);
  if (section == "targets") return key.starts_with("wall:") || key.starts_with("busy:");
  if (section == "rows") return IsTransition(key);
  if (section == "process") return NamesProcess(key);
  if (section == "iterations") return NamesIteration(key);
  if (section == "devices") return NamesBand(key);
  if (section == "ranks") return key.starts_with("late_in:") && IsActivity(key.substr(8));
  return section == "kernels" && key.find(',') != std::string::npos;  // NODE,OPERATION
}

}  // namespace gpubound::golden
