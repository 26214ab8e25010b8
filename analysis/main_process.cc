// SPDX-License-Identifier: Apache-2.0
//
// Chooses a process. No state.
#include "analysis/main_process.h"

#include <algorithm>

namespace gpubound {

const ReportProcess* MainProcess(const Report& report) {
  if (report.processes.empty()) return nullptr;
  for (const ReportProcess& process : report.processes) {
    if (report.run.root && process.pid == *report.run.root) return &process;
  }
  if (report.run.root) return &report.processes.front();
  return &*std::max_element(
      report.processes.begin(), report.processes.end(),
      [](const ReportProcess& a, const ReportProcess& b) { return a.span_ns < b.span_ns; });
}

const ReportProcess* SteppingProcess(const Report& report) {
  const ReportProcess* main = MainProcess(report);
  if (main != nullptr && main->iterations) return main;
  const ReportProcess* chosen = nullptr;
  for (const ReportProcess& process : report.processes) {
    if (!process.iterations) continue;
    if (chosen == nullptr || process.iterations->count > chosen->iterations->count) {
      chosen = &process;
    }
  }
  return chosen;
}

}  // namespace gpubound
