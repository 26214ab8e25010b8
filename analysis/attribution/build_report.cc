// SPDX-License-Identifier: Apache-2.0
//
// Assembles the report of a run from its processes and devices. No state.
#include "analysis/attribution/build_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analysis/attribution/awaited.h"
#include "analysis/attribution/breakdown_options.h"
#include "analysis/attribution/communication.h"
#include "analysis/attribution/hosts_outside.h"
#include "analysis/attribution/kernel_report.h"
#include "analysis/attribution/lost_scopes.h"
#include "analysis/attribution/process_report.h"
#include "analysis/attribution/process_rounds.h"
#include "analysis/attribution/run_headline.h"
#include "analysis/attribution/run_verdict.h"
#include "analysis/attribution/unknown_time.h"
#include "analysis/attribution/unprofiled_use.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/diagnose.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/device_usage.h"
#include "analysis/processes/run_span.h"
#include "analysis/processes/run_waits.h"
#include "analysis/report/main_process.h"
#include "analysis/segments/run_sums.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/run_metadata.h"

namespace gpubound {
namespace {

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

// What a process that goes on has open it may close yet.
Ledger FoundIn(const ProcessAnalysis& analysis, const ProcessTrace& process) {
  Ledger found = analysis.found;
  if (process.span_end == SpanEnd::kGoesOn) {
    found[static_cast<size_t>(LedgerCounter::scopes_open_at_end)] = 0;
  }
  return found;
}

// Whether what |process| recorded last is lost: it did not close its trace, and nothing was there
// to salvage from.
bool LostItsEnd(const ProcessTrace& process) {
  return process.Counted(LedgerCounter::process_not_closed) != 0 &&
         process.Counted(LedgerCounter::live_mapping_unavailable) != 0;
}

constexpr char kEndsLost[] =
    "Processes that ended without closing their trace, and whose live mapping is not there or was "
    "cut: what they recorded last, a second or all since the disk was full, is missing.";

std::vector<ReportLedgerEntry> LedgerEntries(const Ledger& ledger, bool ends_lost) {
  std::vector<ReportLedgerEntry> entries;
  for (size_t i = 0; i < ledger.size(); ++i) {
    if (ledger[i] == 0) continue;
    const LedgerCounterInfo& info = kLedgerCounters[i];
    const bool lost =
        ends_lost && static_cast<LedgerCounter>(i) == LedgerCounter::live_mapping_unavailable;
    entries.push_back({info.name, ledger[i], lost ? Severity::kDataLoss : info.severity,
                       lost ? kEndsLost : info.help});
  }
  // What cannot be written is dropped: the cause first.
  const auto rank = [](const ReportLedgerEntry& entry) {
    return std::pair(entry.severity, entry.counter == "sink_write_errors");
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const auto& a, const auto& b) { return rank(a) > rank(b); });
  return entries;
}

// Of a process of a host whose clock is off, which seems to have begun before, at 0.
void AddBegins(const Run& run, const ClockAlignment& clocks, const Interval& span, Report* report) {
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const int64_t begin_ns = run.processes[p].span_begin_ns + clocks.offset_ns[p];
    report->processes[p].after_run_began_ns = std::max<int64_t>(begin_ns - span.begin_ns, 0);
  }
}

void AddParents(const Run& run, Report* report) {
  const ParentTable parents(run);
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    if (parents.HasParentOf(process)) report->processes[p].parent = process.parent_pid;
  }
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
      row.busy_is_upper_bound |= share.busy_is_upper_bound;
    }
  }
  std::vector<ReportOperationDevice> rows;
  for (auto& [key, row] : table) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.busy_ns > b.busy_ns; });
  return rows;
}

// Every process from its begin, or from where the run's sums end.
Result<Outcomes<ProcessAnalysis>> AnalyzeProcesses(const Run& run, const BreakdownOptions& options,
                                                   bool explained) {
  return ProcessesInRounds<ProcessAnalysis>(
      run, explained, [&](const ProcessTrace& process, const ProcessContext& context) {
        return AnalyzeProcess(process, *SourceOf(process), options, context);
      });
}

std::string NoteOn(const BoundedHost& bounded) {
  const std::string found =
      Counted(bounded.collectives, "collective") + (bounded.collectives == 1 ? " shows" : " show");
  const std::string error = FormatTime(std::max<int64_t>(bounded.error_ns, 1));
  std::string note = "host " + bounded.host + ": its clock is ";
  if (bounded.ahead_ns == 0) {
    note += "that of the root host to within " + error + ", as " + found;
  } else {
    note += FormatTime(std::abs(bounded.ahead_ns)) + (bounded.ahead_ns > 0 ? " ahead" : " behind") +
            ", as " + found + "; its times were set right by them, to " + error;
  }
  if (bounded.drift_ppm) {
    std::array<char, 32> drift;
    std::snprintf(drift.data(), drift.size(), "%.1f", std::abs(*bounded.drift_ppm));
    note += std::string("; it runs ") + drift.data() + " millionths too " +
            (*bounded.drift_ppm < 0 ? "slowly" : "fast") + ", and collectives are aligned to " +
            FormatTime(std::max<int64_t>(bounded.track_error_ns, 1)) + " part by part";
  }
  return note + ".";
}

std::vector<std::string> NotesOf(const Run& run, const ClockAlignment& clocks) {
  std::vector<std::string> notes = run.problems;
  std::set<std::string> without_nvml;  // mostly one reason for all
  for (const ProcessTrace& process : run.processes) {
    if (process.span_end == SpanEnd::kGoesOn) {
      notes.push_back("pid " + std::to_string(process.identity.pid) +
                      " still runs: this is about what it had recorded by now.");
    }
    NoteLostScopes(process, &notes);
    for (const Note& note : process.notes) {
      if (IsMetadata(note)) continue;
      notes.push_back("pid " + std::to_string(process.identity.pid) + ": " + note.text);
    }
    if (!process.nvml_unavailable.empty()) without_nvml.insert(process.nvml_unavailable);
  }
  for (const std::string& why : without_nvml) {
    notes.push_back("what nvidia-smi said was not sampled: " + why);
  }
  for (const std::string& host : clocks.unbounded_hosts) {
    notes.push_back("host " + host + ": its clock is taken to agree with the root host's.");
  }
  for (const BoundedHost& bounded : clocks.bounded_hosts) notes.push_back(NoteOn(bounded));
  return notes;
}

// One reason for all processes; what some have counted stands.
std::vector<ReportNotCounted> NotCounted(const Run& run) {
  for (const ProcessTrace& process : run.processes) {
    if (process.queries_not_counted.empty()) continue;
    const auto counter = static_cast<size_t>(LedgerCounter::api_calls_suppressed);
    return {{kLedgerCounters[counter].name, process.queries_not_counted}};
  }
  return {};
}

void NoteMisplacedWork(const std::vector<ProcessAnalysis>& analyses, Report* report) {
  const auto note = [report](const ProcessAnalysis& analysis, const char* seems, int64_t by_ns,
                             const char* what) {
    if (by_ns == 0) return;
    report->notes.push_back("pid " + std::to_string(analysis.report.pid) + ": GPU work seems to " +
                            seems + " up to " + FormatTime(by_ns) + " " + what +
                            "; by that much its times are wrong.");
  };
  for (const ProcessAnalysis& analysis : analyses) {
    note(analysis, "begin", analysis.work_before_launch_ns, "before the call that launched it");
    note(analysis, "end", analysis.work_after_wait_ns, "after a wait for it had returned");
  }
}

// The sums took for operations what they were told to.
Status CheckSumsFit(const Run& run, const BreakdownOptions& options) {
  if (run.sums == nullptr || run.sums->operations == options.operations) return Ok{};
  const auto listed = [](const std::vector<std::string>& names) {
    std::string list = names.empty() ? "none" : "";
    for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
    return list;
  };
  return Error{
      "choosing operations", run.path, "--operations " + listed(options.operations),
      "--operations " + listed(run.sums->operations) + ", which the run was summed with",
      "Older detail is gone, so it cannot be summed otherwise: leave the option as it was."};
}

void NoteSums(const Run& run, const Interval& span, Ledger* ledger, Report* report) {
  const Interval summed{span.begin_ns, std::min(span.end_ns, run.sums->until_ns)};
  (*ledger)[static_cast<size_t>(LedgerCounter::detail_summed_ns)] =
      static_cast<uint64_t>(summed.length());
  report->notes.push_back(
      "The first " + FormatTime(summed.length()) +
      " of the run are kept as sums: totals are whole, but there are no corrected values, no "
      "GPU-limited share, nothing on what awaited processes did, no split of communication and no "
      "window from the first to the last GPU work; "
      "queries, exports and the timeline show the detail that is left.");
}

}  // namespace

Result<Report> BuildReport(const Run& run, const BreakdownOptions& options) {
  const Status same = CheckSumsFit(run, options);
  if (!same.ok()) return same.error();
  const bool all = options.detail == ReportDetail::kAll;
  const bool explained = all && run.sums == nullptr;
  Result<Outcomes<ProcessAnalysis>> analyzed = AnalyzeProcesses(run, options, explained);
  if (!analyzed.ok()) return analyzed.error();
  std::vector<ProcessAnalysis>& analyses = analyzed->all;
  Report report;
  NoteMisplacedWork(analyses, &report);
  Ledger ledger = run.ledger;
  RunActivity activity;
  std::vector<std::vector<Interval>> pauses;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    activity.push_back(std::move(analyses[p].activity));
    pauses.push_back(std::move(analyses[p].pauses));
    Accumulate(run.processes[p].ledger, &ledger);
    Accumulate(FoundIn(analyses[p], run.processes[p]), &ledger);
    report.processes.push_back(std::move(analyses[p].report));
  }
  AddParents(run, &report);

  const ProcessTrace* root = FindRoot(run);
  if (explained) ExplainWaits(run, analyzed->waits, root, options, &report);
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
  AddBegins(run, clocks, span, &report);
  const size_t stepping = SteppingProcess(analyses, root_index);
  // Of time that is kept as sums nobody knows when work ran.
  const Interval work = run.sums == nullptr ? WorkTime(activity, clocks.offset_ns) : Interval{0, 0};
  RunWindows cut =
      stepping < run.processes.size()
          ? CutRun(span, &analyses[stepping], clocks.offset_ns[stepping], work, options.window)
          : CutRun(span, nullptr, 0, work, options.window);
  const RunUnknown unknown = UnknownOf(run, pauses, clocks.offset_ns, span);
  Result<std::vector<DeviceUsage>> measured =
      MeasureDevices(run, activity, clocks, cut.windows, unknown);
  if (!measured.ok() && cut.windows.size() > 1) {
    report.notes.push_back(measured.error().ToString());
    cut = CutRun(span, nullptr, 0, Interval{0, 0}, options.window);
    measured = MeasureDevices(run, activity, clocks, cut.windows, unknown);
  }
  if (!measured.ok()) return measured.error();
  const std::vector<DeviceUsage>& devices = *measured;
  report.device_kind = DeviceKindOf(run, devices);
  report.run.steps = run.steps;
  if (report.device_kind == "simulated") {
    uint64_t& simulated = ledger[static_cast<size_t>(LedgerCounter::simulated_device)];
    simulated = std::max<uint64_t>(simulated, 1);
  }
  if (root != nullptr) {
    report.run.root = root->identity.pid;
    report.run.root_host = root->identity.host;
  } else if (run.info) {
    report.run.root = run.info->root_pid;
    report.run.root_host = run.info->host;
  }
  if (run.info) {
    report.run.exit_code = run.info->exit_code;
    report.run.signal = run.info->signal;
  }
  AddDevices(run, devices, cut, &report);
  AddUnknownTime(run, unknown, clocks, devices, cut, &report);
  report.operation_devices = OperationDevices(report);
  NoteCompany(CompanyOf(run, clocks, span), &ledger, &report);
  NoteHostsOutside(run, HostsOutside(run, clocks, span), devices, &ledger, &report);
  NoteWorkOutside(&report);
  if (explained) {
    report.ranks =
        SplitCommunication(run, analyzed->waits, clocks, cut.windows[cut.headline], options);
  }
  if (run.sums != nullptr) NoteSums(run, span, &ledger, &report);
  report.ledger =
      LedgerEntries(ledger, std::any_of(run.processes.begin(), run.processes.end(), &LostItsEnd));
  report.not_counted = NotCounted(run);
  report.run.metadata = MetadataOf(run);
  for (std::string& note : NotesOf(run, clocks)) report.notes.push_back(std::move(note));
  NoteUnnamedNodes(&report);
  if (!all) DropKernels(&report);
  report.run.verdict = VerdictOf(report);
  report.diagnosis = Diagnose(report);
  return report;
}

}  // namespace gpubound
