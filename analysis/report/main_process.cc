// SPDX-License-Identifier: Apache-2.0
//
// Chooses a process. No state.
#include "analysis/report/main_process.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gpubound {

namespace {

// Of two programs that one process executed one after the other.
bool TellsMore(const ReportProcess& a, const ReportProcess& b) {
  const auto steps = [](const ReportProcess& process) {
    return process.iterations ? process.iterations->count : 0;
  };
  return std::pair(steps(a), a.span_ns) > std::pair(steps(b), b.span_ns);
}

// What is known of a process beside its span, the most telling first: iterations, time in
// operations of its own, GPU time.
using Told = std::tuple<size_t, int64_t, int64_t>;
constexpr Told kNothingTold = {0, 0, 0};

Told WhatIsToldOf(const ReportProcess& process) {
  // Of ranks that do the same, the same one each time.
  if (process.iterations && process.iterations->count > 0) return {process.iterations->count, 0, 0};
  int64_t operations_ns = 0;
  for (const ReportOperation& row : process.operations) {
    if (!row.inherited && row.count > 0) operations_ns += row.wall_ns;
  }
  return {0, operations_ns, process.gpu_busy_ns};
}

}  // namespace

bool IsRoot(const ReportProcess& process, const ReportRun& run) {
  return run.root && process.pid == *run.root && process.host == run.root_host;
}

const ReportProcess* MainProcess(const Report& report) {
  if (report.processes.empty()) return nullptr;
  const ReportProcess* root = nullptr;
  for (const ReportProcess& process : report.processes) {
    if (!IsRoot(process, report.run)) continue;
    if (root == nullptr || TellsMore(process, *root)) root = &process;
  }
  if (root != nullptr) return root;
  if (report.run.root) return &report.processes.front();
  return &*std::max_element(
      report.processes.begin(), report.processes.end(),
      [](const ReportProcess& a, const ReportProcess& b) { return a.span_ns < b.span_ns; });
}

const ReportProcess* ToldProcess(const Report& report) {
  const ReportProcess* const main = MainProcess(report);
  if (main == nullptr || WhatIsToldOf(*main) != kNothingTold) return main;
  const ReportProcess* told = main;
  Told most = kNothingTold;
  for (const ReportProcess& process : report.processes) {
    const Told of_process = WhatIsToldOf(process);
    if (of_process <= most) continue;
    told = &process;
    most = of_process;
  }
  return told;
}

bool OnlyLaunches(const Report& report) { return ToldProcess(report) != MainProcess(report); }

LeadingProcess LeadingOf(const Report& report) {
  const ReportProcess* const told = ToldProcess(report);
  return {static_cast<size_t>(told - report.processes.data()), told != MainProcess(report)};
}

size_t SteppingProcess(const std::vector<Stepped>& processes, size_t root) {
  size_t chosen = root;
  if (root >= processes.size() || !processes[root].any) chosen = processes.size();
  if (chosen != processes.size() && processes[chosen].steady > 0) return chosen;
  size_t most = 0;
  for (size_t p = 0; p < processes.size(); ++p) {
    const bool first = chosen == processes.size() && processes[p].any;
    if (!first && processes[p].steady <= most) continue;
    chosen = p;
    most = processes[p].steady;
  }
  return chosen;
}

const ReportProcess* SteppingProcess(const Report& report) {
  std::vector<Stepped> stepped;
  size_t root = report.processes.size();
  for (const ReportProcess& process : report.processes) {
    if (IsRoot(process, report.run)) root = std::min(root, stepped.size());
    const auto& iterations = process.iterations;
    stepped.push_back({iterations.has_value(), iterations ? iterations->count : 0});
  }
  const size_t stepping = SteppingProcess(stepped, root);
  return stepping == stepped.size() ? nullptr : &report.processes[stepping];
}

}  // namespace gpubound
