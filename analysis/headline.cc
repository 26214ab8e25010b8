// SPDX-License-Identifier: Apache-2.0
//
// Says it all in one line. No state.
#include "analysis/headline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "analysis/main_process.h"
#include "analysis/report_sections.h"
#include "analysis/text_table.h"

namespace gpubound {
namespace {

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// The process that the headline is about.
const ReportProcess* HeadlineProcess(const Report& report) {
  return report.run.headline == "iterations" ? SteppingProcess(report) : MainProcess(report);
}

// What NVML said, where it was asked about every used device; the model otherwise. What a stand-in
// says of a simulated device is no claim of nvidia-smi's.
std::string SmiText(const Report& report) {
  double sum = 0;
  bool all = true;
  for (const ReportDevice& device : report.devices) {
    if (!device.used) continue;
    all &= device.nvml_utilization.has_value() && !device.simulated;
    sum += device.nvml_utilization.value_or(0);
  }
  if (!all) return "nvidia-smi model " + FormatShare(report.run.smi_model);
  return "nvidia-smi " + FormatShare(sum / static_cast<double>(report.run.devices_used));
}

// Whom |process| waits for: "8 env workers".
std::string AwaitedText(const ReportProcess& process, bool simulate) {
  std::set<int64_t> pids;
  for (const ReportWait& wait : process.waits) pids.insert(wait.pids.begin(), wait.pids.end());
  const char* what = simulate ? "env worker" : "process";
  return std::to_string(pids.size()) + " " + what + (pids.size() == 1 ? "" : simulate ? "s" : "es");
}

std::string IdleText(const Report& report) {
  const std::vector<CauseTime> causes = HeadlineIdleCauses(report);
  if (causes.empty()) return {};
  const CauseTime& first = causes.front();
  const ReportProcess& process = *HeadlineProcess(report);
  const bool simulate = first.cause == "simulation";
  if ((simulate || first.cause == "waiting") && !process.waits.empty()) {
    return ": waiting for " + AwaitedText(process, simulate);
  }
  int64_t idle_ns = 0;
  for (const CauseTime& cause : causes) idle_ns += cause.ns;
  const bool mostly = first.ns * 10 < idle_ns * 9;
  return std::string(": ") + (mostly ? "mostly " : "") + CauseText(first.cause);
}

std::string WhatIfText(const ReportWhatIf& what_if) {
  const std::string faster = std::isinf(what_if.speedup) ? "infinitely fast"
                             : what_if.speedup == 2      ? "twice as fast"
                                                         : "faster";
  std::array<char, 64> part;
  std::snprintf(part.data(), part.size(), "%.2f x [%.2f, %.2f]", what_if.part, what_if.part_low,
                what_if.part_high);
  return "; " + faster + " " + EscapeName(what_if.operation) + " would take " + part.data() +
         " the time";
}

}  // namespace

double UnknownShare(const Report& report) {
  const ReportProcess* stepping =
      report.run.headline == "iterations" ? SteppingProcess(report) : nullptr;
  int64_t unknown_ns = 0;
  for (const ReportProcess& process : report.processes) {
    if (&process != stepping) {
      unknown_ns += process.unknown_ns;
      continue;
    }
    for (const ReportIterationOperation& row : process.iterations->operations) {
      unknown_ns += row.unknown_ns;
    }
  }
  const double share =
      Ratio(static_cast<double>(unknown_ns), static_cast<double>(report.run.headline_ns));
  return std::clamp(share, 0.0, std::max(0.0, 1 - report.run.gpu_busy_share));
}

std::vector<CauseTime> HeadlineIdleCauses(const Report& report) {
  const ReportProcess* process = HeadlineProcess(report);
  if (process == nullptr) return {};
  std::map<std::string, int64_t> sums;
  if (report.run.headline == "iterations") {
    for (const auto& [cause, idle_ns] : process->iterations->series.idle_ns) {
      for (const int64_t ns : idle_ns) sums[cause] += ns;
    }
  } else {
    for (const ReportOperation& row : process->operations) {
      for (const CauseTime& cause : row.device_idle) sums[cause.cause] += cause.ns;
    }
  }
  std::vector<CauseTime> causes;
  for (const auto& [cause, ns] : sums) {
    if (ns > 0) causes.push_back({cause, ns});
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const CauseTime& a, const CauseTime& b) { return a.ns > b.ns; });
  return causes;
}

std::optional<double> OwnShare(const Report& report) {
  const ReportProcess* process = HeadlineProcess(report);
  if (process == nullptr || process->gpu_busy_ns == 0) return std::nullopt;
  const bool shared = std::any_of(
      report.devices.begin(), report.devices.end(),
      [](const ReportDevice& device) { return device.used && device.processes.size() > 1; });
  if (!shared) return std::nullopt;
  const double device_ns =
      static_cast<double>(report.run.devices_used) * static_cast<double>(report.run.headline_ns);
  if (report.run.headline == "span") {
    int64_t busy_ns = 0;
    for (const ReportDeviceShare& share : process->device_shares) busy_ns += share.busy_ns;
    return Ratio(static_cast<double>(busy_ns), device_ns);
  }
  // Busy time within iterations is kept for all devices of the process together.
  if (report.run.devices_used != 1) return std::nullopt;
  return Ratio(static_cast<double>(process->iterations->gpu_busy_ns), device_ns);
}

std::string HeadlineText(const Report& report) {
  const ReportRun& run = report.run;
  if (run.devices_used == 0) return "No GPU work was recorded.";
  const double unknown = UnknownShare(report);
  const std::optional<double> own = OwnShare(report);
  std::string line = SmiText(report) + ", GPU really " + (unknown > 0 ? "at least " : "") +
                     FormatShare(own.value_or(run.gpu_busy_share));
  if (own) line += " (peers " + FormatShare(std::max(0.0, run.gpu_busy_share - *own)) + ")";
  if (unknown > 0) line += ", unknown " + FormatShare(unknown);
  const double idle = 1 - run.gpu_busy_share - unknown;
  line += ", idle " + FormatShare(std::max(0.0, idle));
  if (idle >= 0.005) line += IdleText(report);
  if (run.what_if) line += WhatIfText(*run.what_if);
  return line;
}

}  // namespace gpubound
