// SPDX-License-Identifier: Apache-2.0
//
// Assembles the report of a run from its processes and devices. No state.
#include "analysis/report.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "analysis/awaited.h"
#include "analysis/clock_align.h"
#include "analysis/communication.h"
#include "analysis/device_usage.h"
#include "analysis/memory_source.h"
#include "analysis/process_report.h"
#include "analysis/run_headline.h"
#include "analysis/run_waits.h"
#include "analysis/text_table.h"

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
         counter == LedgerCounter::simulated_device ||
         counter == LedgerCounter::host_outside_run_ns;
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

// The process whose steps are the run's: the root, else the one with the most iterations.
size_t SteppingProcess(const std::vector<ProcessAnalysis>& analyses, size_t root) {
  if (root < analyses.size() && analyses[root].warm_up) return root;
  size_t chosen = analyses.size();
  for (size_t p = 0; p < analyses.size(); ++p) {
    if (!analyses[p].warm_up) continue;
    if (chosen == analyses.size() || analyses[p].steady.size() > analyses[chosen].steady.size()) {
      chosen = p;
    }
  }
  return chosen;
}

std::vector<ReportOperationDevice> OperationDevices(const Report& report) {
  std::map<std::pair<std::string, std::string>, ReportOperationDevice> table;
  for (const ReportProcess& process : report.processes) {
    for (const ReportDeviceShare& share : process.device_shares) {
      const std::string device = share.uuid.empty() ? std::to_string(share.ordinal) : share.uuid;
      ReportOperationDevice& row = table[{share.operation, device}];
      row.operation = share.operation;
      row.device = device;
      row.wall_ns += share.wall_ns;
      row.busy_ns += share.busy_ns;
      row.idle_ns += share.idle_ns;
      row.unknown_ns += share.unknown_ns;
    }
  }
  std::vector<ReportOperationDevice> rows;
  for (auto& [key, row] : table) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.busy_ns > b.busy_ns; });
  return rows;
}

// Every process, those of a round side by side on as many threads as the machine has.
Result<std::vector<ProcessAnalysis>> AnalyzeProcesses(const Run& run,
                                                      const ReportOptions& options) {
  std::vector<ProcessAnalysis> analyses(run.processes.size());
  std::map<std::string, std::vector<NamedWait>> waits;  // of those analysed so far, by host
  for (const ProcessTrace& process : run.processes) waits[process.identity.host];
  const std::vector<ProcessNature> natures = NaturesOf(run);
  for (const std::vector<size_t>& round : AnalysisRounds(run, natures)) {
    std::vector<std::optional<Error>> errors(round.size());
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t i = next++; i < round.size(); i = next++) {
        const ProcessTrace& process = run.processes[round[i]];
        ProcessContext context;
        context.peers = PeersOf(run, natures, round[i]);
        context.awaited =
            WaitsFor(process.identity.pid, {process.span_begin_ns, process.span_end_ns},
                     waits.at(process.identity.host));
        Result<ProcessAnalysis> analysis =
            AnalyzeProcess(process, *SourceOf(process), options, context);
        if (analysis.ok()) {
          analyses[round[i]] = std::move(*analysis);
        } else {
          errors[i] = analysis.error();
        }
      }
    };
    const size_t threads =
        std::min<size_t>(round.size(), std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::thread> helpers;
    for (size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    for (const std::optional<Error>& error : errors) {
      if (error) return *error;
    }
    for (const size_t p : round) {
      std::vector<NamedWait>& known = waits[run.processes[p].identity.host];
      known.insert(known.end(), analyses[p].waits.begin(), analyses[p].waits.end());
    }
  }
  return analyses;
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
  Result<std::vector<ProcessAnalysis>> analyses = AnalyzeProcesses(run, options);
  if (!analyses.ok()) return analyses.error();
  Report report;
  Ledger ledger{};
  for (size_t p = 0; p < run.processes.size(); ++p) {
    Accumulate(run.processes[p].ledger, &ledger);
    Accumulate((*analyses)[p].found, &ledger);
    report.processes.push_back(std::move((*analyses)[p].report));
  }
  AddParents(run, &report);

  const ProcessTrace* root = FindRoot(run);
  ExplainWaits(run, *analyses, root, options, &report);
  const Interval span = RunSpan(run, root);
  std::string host;
  size_t root_index = run.processes.size();
  if (root != nullptr) {
    host = root->identity.host;
    root_index = static_cast<size_t>(root - run.processes.data());
  } else if (run.info) {
    host = run.info->host;
  } else if (!run.processes.empty()) {
    host = run.processes.front().identity.host;
  }
  const ClockAlignment clocks = AlignClocks(run, host);
  const size_t stepping = SteppingProcess(*analyses, root_index);
  const RunWindows cut = stepping < run.processes.size()
                             ? CutRun(span, &(*analyses)[stepping], clocks.offset_ns[stepping])
                             : CutRun(span, nullptr, 0);
  const std::vector<DeviceUsage> devices = MeasureDevices(run, clocks, cut.windows);
  report.device_kind = DeviceKindOf(run, devices);
  if (report.device_kind == "simulated") {
    uint64_t& simulated = ledger[static_cast<size_t>(LedgerCounter::simulated_device)];
    simulated = std::max<uint64_t>(simulated, 1);
  }
  if (root != nullptr) report.run.root = root->identity.pid;
  if (root == nullptr && run.info) report.run.root = run.info->root_pid;
  AddDevices(run, devices, cut, &report);
  report.operation_devices = OperationDevices(report);
  for (const HostOutside& outside : HostsOutside(run, clocks, span)) {
    uint64_t& furthest = ledger[static_cast<size_t>(LedgerCounter::host_outside_run_ns)];
    furthest = std::max(furthest, static_cast<uint64_t>(outside.ns));
    report.notes.push_back("host " + outside.host + ": its processes lie up to " +
                           FormatTime(outside.ns) +
                           " outside the run; is its clock set right (chrony, ntp)?");
  }
  report.ranks = SplitCommunication(run, clocks, cut.windows[cut.headline], options);
  report.ledger = LedgerEntries(ledger);
  for (std::string& note : NotesOf(run, clocks)) report.notes.push_back(std::move(note));
  report.run.verdict = VerdictOf(report);
  return report;
}

}  // namespace gpubound
