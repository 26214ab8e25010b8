// SPDX-License-Identifier: Apache-2.0
//
// Assembles the report of a run from its processes and devices. No state.
#include "analysis/report.h"

#include <algorithm>
#include <cstdio>

#include "analysis/clock_align.h"
#include "analysis/device_usage.h"
#include "analysis/process_report.h"

namespace gpubound {
namespace {

// The process that the launcher started, or else the earliest whose parent is not part of the run.
const ProcessTrace* FindRoot(const Run& run) {
  const ProcessTrace* root = nullptr;
  for (const ProcessTrace& process : run.processes) {
    if (run.info && process.identity.pid == run.info->root_pid &&
        process.identity.host == run.info->host) {
      // Exec in place gives the root's pid to a second process; the first one began the run.
      if (root == nullptr || process.span_begin_ns < root->span_begin_ns) root = &process;
    }
  }
  if (root != nullptr || run.info) return root;
  for (const ProcessTrace& process : run.processes) {
    const bool has_parent =
        std::any_of(run.processes.begin(), run.processes.end(), [&](const ProcessTrace& other) {
          return &other != &process && other.identity.host == process.identity.host &&
                 other.identity.pid == process.parent_pid;
        });
    if (has_parent) continue;
    if (root == nullptr || process.span_begin_ns < root->span_begin_ns) root = &process;
  }
  return root;
}

// The span of the run: that of its root with everything its pid became by exec; without a recorded
// root (a shell, say) what the launcher measured.
Interval RunSpan(const Run& run, const ProcessTrace* root) {
  if (root != nullptr) {
    Interval span{root->span_begin_ns, root->span_end_ns};
    for (const ProcessTrace& process : run.processes) {
      if (process.identity.pid != root->identity.pid ||
          process.identity.host != root->identity.host) {
        continue;
      }
      span.end_ns = std::max(span.end_ns, process.span_end_ns);
    }
    return span;
  }
  Interval span{kOpenEnded, 0};
  for (const ProcessTrace& process : run.processes) {
    span.begin_ns = std::min(span.begin_ns, process.span_begin_ns);
    span.end_ns = std::max(span.end_ns, process.span_end_ns);
  }
  if (run.info) {
    span.begin_ns = std::min(span.begin_ns, run.info->start_monotonic_ns);
    if (run.info->end_monotonic_ns)
      span.end_ns = std::max(span.end_ns, *run.info->end_monotonic_ns);
  }
  return span.empty() ? Interval{0, 0} : span;
}

std::string DeviceKindOf(const Run& run, const std::vector<DeviceUsage>& devices) {
  std::string kind = "none";
  for (const DeviceUsage& device : devices) {
    if (device.simulated) return "simulated";
    if (device.used) kind = "real";
  }
  for (const ProcessTrace& process : run.processes) {
    if (process.device_kind == "simulated") return "simulated";
    if (!process.device_kind.empty() && process.device_kind != "none") kind = process.device_kind;
  }
  return kind;
}

// Counters of which the largest value is wanted, not the sum.
bool IsMaximum(LedgerCounter counter) {
  return counter == LedgerCounter::clock_error_bound_ns ||
         counter == LedgerCounter::simulated_device;
}

void Accumulate(const Ledger& from, Ledger* into) {
  for (size_t i = 0; i < from.size(); ++i) {
    uint64_t& value = (*into)[i];
    value = IsMaximum(static_cast<LedgerCounter>(i)) ? std::max(value, from[i]) : value + from[i];
  }
}

std::vector<ReportLedgerEntry> LedgerEntries(const Ledger& ledger) {
  std::vector<ReportLedgerEntry> entries;
  for (size_t i = 0; i < ledger.size(); ++i) {
    if (ledger[i] == 0) continue;
    const LedgerCounterInfo& info = kLedgerCounters[i];
    entries.push_back({info.name, ledger[i], info.severity, info.help});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.severity > b.severity; });
  return entries;
}

void AddParents(const Run& run, Report* report) {
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    for (const ProcessTrace& other : run.processes) {
      if (other.identity.host == process.identity.host &&
          other.identity.pid == process.parent_pid && &other != &process) {
        report->processes[p].parent = process.parent_pid;
      }
    }
  }
}

void AddDevices(const std::vector<DeviceUsage>& devices, int64_t wall_ns, Report* report) {
  ReportRun& run = report->run;
  double busy = 0, compute = 0, comm = 0, copy = 0, smi = 0;
  for (const DeviceUsage& device : devices) {
    report->devices.push_back({device.uuid, device.name, device.busy_ns, wall_ns,
                               device.nvml_utilization, device.simulated, device.used});
    if (!device.used) continue;
    ++run.devices_used;
    busy += static_cast<double>(device.busy_ns);
    compute += static_cast<double>(device.compute_ns);
    comm += static_cast<double>(device.comm_ns);
    copy += static_cast<double>(device.copy_ns);
    smi += device.smi_model;
  }
  const double whole = static_cast<double>(run.devices_used) * static_cast<double>(wall_ns);
  if (whole <= 0) return;
  run.gpu_busy_share = busy / whole;
  run.compute_share = compute / whole;
  run.comm_share = comm / whole;
  run.copy_share = copy / whole;
  run.smi_model = smi / static_cast<double>(run.devices_used);
}

uint64_t CountOf(const std::vector<ReportLedgerEntry>& ledger, Severity severity) {
  return static_cast<uint64_t>(std::count_if(
      ledger.begin(), ledger.end(),
      [severity](const ReportLedgerEntry& entry) { return entry.severity == severity; }));
}

std::string VerdictOf(const Report& report) {
  const uint64_t errors = CountOf(report.ledger, Severity::kError);
  const uint64_t losses = CountOf(report.ledger, Severity::kDataLoss);
  int64_t unknown_ns = 0;
  int64_t span_ns = 0;
  for (const ReportProcess& process : report.processes) {
    unknown_ns += process.unknown_ns;
    span_ns += process.span_ns;
  }
  std::string verdict;
  if (errors != 0) {
    verdict = "doubtful: " + report.ledger.front().help;
  } else if (losses != 0) {
    verdict = "incomplete: " + report.ledger.front().help;
  }
  if (unknown_ns > 0) {
    char share[32];
    std::snprintf(share, sizeof(share), "%.3g %%",
                  100.0 * static_cast<double>(unknown_ns) / static_cast<double>(span_ns));
    verdict += verdict.empty() ? "incomplete: " : " ";
    verdict +=
        std::string("GPU unknown for ") + share + " of the time, so GPU shares are lower bounds.";
  }
  return verdict.empty() ? "complete: nothing was lost." : verdict;
}

std::vector<std::string> NotesOf(const Run& run, const ClockAlignment& clocks) {
  std::vector<std::string> notes = run.problems;
  for (const ProcessTrace& process : run.processes) {
    for (const Note& note : process.notes) {
      notes.push_back("pid " + std::to_string(process.identity.pid) + ": " + note.text);
    }
  }
  for (const std::string& host : clocks.unbounded_hosts) {
    notes.push_back("host " + host + ": its clock is taken to agree with the root host's.");
  }
  return notes;
}

}  // namespace

Result<Report> BuildReport(const Run& run, const ReportOptions& options) {
  Report report;
  Ledger ledger{};
  for (const ProcessTrace& process : run.processes) {
    Result<ProcessAnalysis> analysis = AnalyzeProcess(process, options);
    if (!analysis.ok()) return analysis.error();
    Accumulate(process.ledger, &ledger);
    Accumulate(analysis->found, &ledger);
    report.processes.push_back(std::move(analysis->report));
  }
  AddParents(run, &report);

  const ProcessTrace* root = FindRoot(run);
  const Interval span = RunSpan(run, root);
  std::string host;
  if (root != nullptr) {
    host = root->identity.host;
  } else if (run.info) {
    host = run.info->host;
  } else if (!run.processes.empty()) {
    host = run.processes.front().identity.host;
  }
  const ClockAlignment clocks = AlignClocks(run, host);
  const std::vector<DeviceUsage> devices = MeasureDevices(run, clocks, span);
  report.device_kind = DeviceKindOf(run, devices);
  if (report.device_kind == "simulated") {
    uint64_t& simulated = ledger[static_cast<size_t>(LedgerCounter::simulated_device)];
    simulated = std::max<uint64_t>(simulated, 1);
  }
  if (root != nullptr) report.run.root = root->identity.pid;
  if (root == nullptr && run.info) report.run.root = run.info->root_pid;
  report.run.wall_ns = span.length();
  AddDevices(devices, span.length(), &report);
  report.ledger = LedgerEntries(ledger);
  report.notes = NotesOf(run, clocks);
  report.run.verdict = VerdictOf(report);
  return report;
}

}  // namespace gpubound
