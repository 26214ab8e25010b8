// SPDX-License-Identifier: Apache-2.0
//
// Chooses a process. No state.
#include "analysis/main_process.h"

namespace gpubound {

const ReportProcess* MainProcess(const Report& report) {
  for (const ReportProcess& process : report.processes) {
    if (report.run.root && process.pid == *report.run.root) return &process;
  }
  return report.processes.empty() ? nullptr : &report.processes.front();
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
