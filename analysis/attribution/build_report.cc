// SPDX-License-Identifier: Apache-2.0
//
// Assembles the report of a run from its processes and devices. No state.
#include "analysis/attribution/build_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "analysis/attribution/awaited.h"
#include "analysis/attribution/breakdown_options.h"
#include "analysis/attribution/communication.h"
#include "analysis/attribution/hosts_outside.h"
#include "analysis/attribution/kernel_report.h"
#include "analysis/attribution/lost_kernels.h"
#include "analysis/attribution/lost_scopes.h"
#include "analysis/attribution/process_report.h"
#include "analysis/attribution/process_roles.h"
#include "analysis/attribution/process_rounds.h"
#include "analysis/attribution/run_headline.h"
#include "analysis/attribution/run_share.h"
#include "analysis/attribution/run_verdict.h"
#include "analysis/attribution/training.h"
#include "analysis/attribution/unknown_time.h"
#include "analysis/attribution/unprofiled_use.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/diagnose.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/device_usage.h"
#include "analysis/processes/known_waits.h"
#include "analysis/processes/run_frame.h"
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
         counter == LedgerCounter::host_outside_run_ns ||
         counter == LedgerCounter::clocks_contradicted_ns;
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

// Of its processes, and how they waited for each other.
struct AnalyzedProcesses {
  std::vector<ProcessShare> shares;
  RunActivity activity;
  KnownWaits waits;
  std::vector<SteppingThread> threads;
  std::vector<bool> unanswered;  // as of WithLostKernels()
};

// Every process from its begin, or from where the run's sums end.
Result<AnalyzedProcesses> AnalyzeProcesses(const Run& run, const RunFrame& frame,
                                           const BreakdownOptions& options) {
  const bool explained = options.detail == ReportDetail::kAll && run.sums == nullptr;
  Result<Outcomes<ProcessAnalysis>> analyzed = ProcessesInRounds<ProcessAnalysis>(
      run, frame.root, explained, [&](const ProcessTrace& process, const ProcessContext& context) {
        return AnalyzeProcess(process, *SourceOf(process), options, context);
      });
  if (!analyzed.ok()) return analyzed.error();
  AnalyzedProcesses processes{{}, {}, std::move(analyzed->waits), {}, {}};
  std::vector<std::vector<Interval>> pauses;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    ProcessAnalysis& analysis = analyzed->all[p];
    ProcessShare& share = processes.shares.emplace_back();
    share.found = FoundIn(analysis, run.processes[p]);
    share.work_before_launch_ns = analysis.work_before_launch_ns;
    share.work_after_wait_ns = analysis.work_after_wait_ns;
    share.steps.warm_up = analysis.warm_up;
    share.steps.steady = analysis.steady.size();
    if (!analysis.steady.empty()) {
      share.steps.steady_end_ns = analysis.steady.back().time.end_ns;
    }
    share.report = std::move(analysis.report);
    share.role_notes = NotesOnRoles(run.processes[p]);
    processes.unanswered.push_back(analysis.launches_unanswered);
    processes.threads.push_back({analysis.primary_thread, std::move(analysis.steady)});
    processes.activity.push_back(std::move(analysis.activity));
    pauses.push_back(std::move(analysis.pauses));
  }
  RunUnknown unknown = UnknownOf(run, pauses, std::vector<int64_t>(run.processes.size()));
  for (size_t p = 0; p < run.processes.size(); ++p) {
    processes.shares[p].unknown = std::move(unknown[p]);
  }
  if (!explained) return processes;
  std::vector<std::vector<ReportAwaited>> awaited =
      ExplainWaits(run, processes.waits, frame.root, options);
  for (size_t p = 0; p < run.processes.size(); ++p) {
    processes.shares[p].report.awaited = std::move(awaited[p]);
  }
  return processes;
}

// The number of the process among |processes| whose iterations are those of all of them; that of
// |shares| where none has any.
size_t SteppingAmong(const std::vector<size_t>& processes, const std::vector<ProcessShare>& shares,
                     size_t root) {
  std::vector<Stepped> stepped;
  size_t root_place = processes.size();
  for (const size_t p : processes) {
    if (p == root) root_place = stepped.size();
    stepped.push_back({shares[p].steps.warm_up.has_value(), shares[p].steps.steady});
  }
  const size_t place = SteppingProcess(stepped, root_place);
  return place == processes.size() ? shares.size() : processes[place];
}

std::vector<size_t> AllOf(const Run& run) {
  std::vector<size_t> all(run.processes.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

// Measures the devices of one machine after another. All that is asked of others is the iterations of
// the run, where a machine has none, and whether its clock can be right.
class Machines {
 public:
  // |clocks|: null where other machines are not there.
  Machines(const Run& run, const RunFrame& frame, const AnalyzedProcesses& analyzed,
           const ClockAlignment* clocks)
      : run_(run), frame_(frame), analyzed_(analyzed), clocks_(clocks) {
    if (clocks == nullptr) return;
    stepping_ = SteppingAmong(AllOf(run), analyzed.shares, frame.root);
    outside_ = HostsOutside(run, *clocks, frame.span);
  }

  bool HasRoot(const std::vector<size_t>& processes) const {
    return std::binary_search(processes.begin(), processes.end(), frame_.root);
  }

  // |for_run|: as long as the run is, else for as long as the machine was there.
  Result<MachineShare> Measure(std::vector<size_t> processes, bool for_run,
                               std::vector<std::string>* notes) {
    MachineShare machine;
    machine.processes = std::move(processes);
    const Interval span = for_run ? frame_.span : TimeOf(machine.processes);
    const std::vector<int64_t> no_offsets(run_.processes.size());
    RunUnknown unknown(run_.processes.size());
    for (const size_t p : machine.processes) unknown[p] = analyzed_.shares[p].unknown;
    // Of time that is kept as sums nobody knows when work ran.
    const Interval work = run_.sums == nullptr
                              ? WorkTime(machine.processes, analyzed_.activity, no_offsets)
                              : Interval{0, 0};
    machine.cut = Cut(machine.processes, for_run, span, work);
    const auto measure = [&] {
      return MeasureDevices(run_, machine.processes, analyzed_.activity, no_offsets,
                            machine.cut.windows, unknown);
    };
    Result<std::vector<DeviceUsage>> devices = measure();
    if (!devices.ok() && machine.cut.windows.size() > 1) {
      notes->push_back(devices.error().ToString());
      machine.cut = CutRun(span, nullptr, 0, {0, 0});
      devices = measure();
    }
    if (!devices.ok()) return devices.error();
    machine.devices = std::move(*devices);
    machine.company = CompanyOf(run_, machine.processes, span);
    return machine;
  }

 private:
  RunWindows Cut(const std::vector<size_t>& processes, bool for_run, const Interval& span,
                 const Interval& work) const {
    const size_t none = analyzed_.shares.size();
    const size_t own = SteppingAmong(processes, analyzed_.shares, for_run ? frame_.root : none);
    if (own != none) {
      return CutRun(span, &analyzed_.shares[own].steps, 0, work);
    }
    if (stepping_ >= none) return CutRun(span, nullptr, 0, work);
    const int64_t offset_ns = clocks_->offset_ns[stepping_] - clocks_->offset_ns[processes.front()];
    return CutRun(span, &analyzed_.shares[stepping_].steps, offset_ns, work);
  }

  // From the begin of its first to the end of its last process; where its clock cannot be right, what
  // lies within the run.
  Interval TimeOf(const std::vector<size_t>& processes) const {
    Interval span{kOpenEnded, INT64_MIN};
    for (const size_t p : processes) {
      const ProcessTrace& process = run_.processes[p];
      if (process.span_end_ns <= process.span_begin_ns) continue;  // nothing of it could be read
      span.begin_ns = std::min(span.begin_ns, process.span_begin_ns);
      span.end_ns = std::max(span.end_ns, process.span_end_ns);
    }
    if (span.empty()) return {0, 0};
    const ProcessTrace& first = run_.processes[processes.front()];
    const bool is_outside =
        std::any_of(outside_.begin(), outside_.end(),
                    [&first](const HostOutside& host) { return host.host == first.identity.host; });
    if (!is_outside) return span;
    const int64_t offset_ns = clocks_->offset_ns[processes.front()];
    return span.ClippedTo({frame_.span.begin_ns - offset_ns, frame_.span.end_ns - offset_ns});
  }

  const Run& run_;
  const RunFrame& frame_;
  const AnalyzedProcesses& analyzed_;
  const ClockAlignment* const clocks_;
  size_t stepping_ = ~size_t{0};
  std::vector<HostOutside> outside_;
};

// The machine of the root is measured as long as the run is, and that of a run that has one. Takes
// the shares of |analyzed|.
Result<RunShare> RunShareOf(const Run& run, const RunFrame& frame, const ClockAlignment& clocks,
                            AnalyzedProcesses* analyzed) {
  RunShare share;
  Machines machines(run, frame, *analyzed, &clocks);
  const std::vector<std::vector<size_t>> all = MachinesOf(run);
  for (const std::vector<size_t>& processes : all) {
    const bool for_run = all.size() == 1 || machines.HasRoot(processes);
    Result<MachineShare> machine = machines.Measure(processes, for_run, &share.notes);
    if (!machine.ok()) return machine.error();
    share.machines.push_back(std::move(*machine));
  }
  share.processes = std::move(analyzed->shares);
  return share;
}

// From the first to the last work of all machines, on the clock of the run.
Interval WorkOf(const RunShare& share, const ClockAlignment& clocks) {
  Interval work{INT64_MAX, INT64_MIN};
  for (const MachineShare& machine : share.machines) {
    if (machine.cut.work == 0) continue;
    const Interval& own = machine.cut.windows[machine.cut.work];
    const int64_t offset_ns = clocks.offset_ns[machine.processes.front()];
    work.begin_ns = std::min(work.begin_ns, own.begin_ns + offset_ns);
    work.end_ns = std::max(work.end_ns, own.end_ns + offset_ns);
  }
  return work;
}

// The windows of the run: those of its only machine, else by the iterations of the process whose
// iterations are the run's.
RunWindows CutOf(const Run& run, const RunFrame& frame, const RunShare& share,
                 const ClockAlignment& clocks) {
  if (share.machines.size() == 1) return share.machines.front().cut;
  const Interval work = WorkOf(share, clocks);
  const size_t stepping = SteppingAmong(AllOf(run), share.processes, frame.root);
  if (stepping == share.processes.size()) return CutRun(frame.span, nullptr, 0, work);
  return CutRun(frame.span, &share.processes[stepping].steps, clocks.offset_ns[stepping], work);
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

void NoteMisplacedWork(const std::vector<ProcessShare>& shares, Report* report) {
  const auto note = [report](const ProcessShare& share, const char* seems, int64_t by_ns,
                             const char* what) {
    if (by_ns == 0) return;
    report->notes.push_back("pid " + std::to_string(share.report.pid) + ": GPU work seems to " +
                            seems + " up to " + FormatTime(by_ns) + " " + what +
                            "; by that much its times are wrong.");
  };
  for (const ProcessShare& share : shares) {
    note(share, "begin", share.work_before_launch_ns, "before the call that launched it");
    note(share, "end", share.work_after_wait_ns, "after a wait for it had returned");
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

// What is known of those among |late| that are in |known|.
void TakeMeanwhile(const std::vector<LateRank>& known, std::vector<LateRank>* late) {
  for (LateRank& rank : *late) {
    const auto same = std::find_if(known.begin(), known.end(), [&rank](const LateRank& other) {
      return other.process == rank.process && other.device == rank.device;
    });
    if (same != known.end()) rank.meanwhile = same->meanwhile;
  }
}

// What was worked out where the events are.
void TakeTraining(RunShare* share, const BreakdownOptions& options, Report* report) {
  for (size_t p = 0; p < share->processes.size(); ++p) {
    std::optional<ProcessTraining>& training = share->processes[p].training;
    if (!training) continue;
    report->processes[p].training = std::make_shared<const ProcessTraining>(std::move(*training));
  }
  if (!share->training) return;
  RunTraining training = std::move(*share->training);
  if (options.window != ReportWindow::kStep) {  // these are about the iterations
    training.roles.reset();
    training.work.clear();
  }
  if (training.work.empty() && !training.samples && !training.roles) return;
  report->run.training = std::make_shared<const RunTraining>(std::move(training));
}

// |recorded|: null where the events are not there.
Result<Report> Assemble(const Run& run, const RunFrame& frame, RunShare share,
                        const ClockAlignment& clocks, const RecordedProcesses* recorded,
                        const BreakdownOptions& options) {
  Report report;
  NoteMisplacedWork(share.processes, &report);
  Ledger ledger = run.ledger;
  RunUnknown unknown;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    Accumulate(run.processes[p].ledger, &ledger);
    Accumulate(share.processes[p].found, &ledger);
    report.processes.push_back(std::move(share.processes[p].report));
    unknown.push_back(std::move(share.processes[p].unknown));
  }
  AddParents(run, &report);

  const Interval& span = frame.span;
  AddBegins(run, clocks, span, &report);
  AddUnknownOutside(run, clocks, span, &unknown);
  const RunWindows cut = CutOf(run, frame, share, clocks);
  const size_t headline = HeadlineOf(cut, options.window);
  for (std::string& note : share.notes) report.notes.push_back(std::move(note));
  const std::vector<DeviceUsage> devices = DevicesOf(cut, share.machines);
  report.device_kind = DeviceKindOf(run, devices);
  report.run.steps = run.steps;
  if (report.device_kind == "simulated") {
    uint64_t& simulated = ledger[static_cast<size_t>(LedgerCounter::simulated_device)];
    simulated = std::max<uint64_t>(simulated, 1);
  }
  if (const ProcessTrace* const root = RootOf(run, frame)) {
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
  AddDevices(run, devices, cut, headline, &report);
  AddUnknownTime(run, unknown, clocks, devices, cut, headline, &report);
  report.operation_devices = OperationDevices(report);
  DeviceCompany company;
  for (MachineShare& machine : share.machines) {
    std::vector<UnprofiledUse>& uses = machine.company.uses;
    std::move(uses.begin(), uses.end(), std::back_inserter(company.uses));
    company.mps_uuids.merge(machine.company.mps_uuids);
  }
  NoteCompany(company, &ledger, &report);
  NoteHostsOutside(run, HostsOutside(run, clocks, span), devices, &ledger, &report);
  NoteContradictedHosts(clocks, &ledger, &report);
  NoteWorkOutside(&report);
  if (options.detail == ReportDetail::kAll && run.sums == nullptr) {
    SplitRanks split = SplitCommunication(run, clocks, cut.windows[headline]);
    if (recorded != nullptr) {
      ExplainLateRanks(run, recorded->waits, options, &split.late);
    } else if (options.window == ReportWindow::kStep) {
      TakeMeanwhile(share.late, &split.late);
    }
    for (size_t r = 0; r < split.ranks.size(); ++r) {
      split.ranks[r].while_late = std::move(split.late[r].meanwhile);
    }
    report.ranks = std::move(split.ranks);
  }
  if (run.sums != nullptr) NoteSums(run, span, &ledger, &report);
  report.ledger =
      LedgerEntries(ledger, std::any_of(run.processes.begin(), run.processes.end(), &LostItsEnd));
  report.not_counted = NotCounted(run);
  report.run.metadata = MetadataOf(run);
  for (std::string& note : NotesOf(run, clocks)) report.notes.push_back(std::move(note));
  for (ProcessShare& process : share.processes) {
    std::move(process.role_notes.begin(), process.role_notes.end(),
              std::back_inserter(report.notes));
  }
  NoteUnnamedNodes(&report);
  if (options.detail != ReportDetail::kAll) DropKernels(&report);
  if (recorded != nullptr) {
    const Status trained =
        AddTraining(run, *recorded, unknown, clocks, span, cut.windows[headline], options, &report);
    if (!trained.ok()) return trained.error();
  } else {
    TakeTraining(&share, options, &report);
  }
  report.run.verdict = VerdictOf(report);
  report.diagnosis = Diagnose(report);
  return report;
}

// Into |share|, as if its machine were the run.
Status AddTrainingOf(const Run& run, const RunFrame& frame, const AnalyzedProcesses& analyzed,
                     const BreakdownOptions& options, ShareOfMachine* share) {
  RunShare alone;
  alone.processes = share->processes;
  alone.machines = {share->as_root};
  BreakdownOptions needed = options;
  needed.detail = ReportDetail::kBreakdown;
  needed.targets.clear();
  const RecordedProcesses recorded{analyzed.threads, analyzed.waits, analyzed.activity};
  const Result<Report> report =
      Assemble(run, frame, std::move(alone), AlignClocks(run, frame.host), &recorded, needed);
  if (!report.ok()) return report.error();
  for (size_t p = 0; p < report->processes.size(); ++p) {
    const auto& training = report->processes[p].training;
    if (training != nullptr) share->processes[p].training = *training;
  }
  if (report->run.training != nullptr) share->training = *report->run.training;
  return Ok{};
}

// |run| as it is analysed once more; absent where it need not be.
std::optional<Run> MarkedOf(const Run& run, const std::vector<bool>& unanswered,
                            const BreakdownOptions& options) {
  return options.finds_lost_kernels ? WithLostKernels(run, unanswered) : std::nullopt;
}

}  // namespace

Result<Report> BuildReport(const Run& run, const BreakdownOptions& options) {
  const Status same = CheckSumsFit(run, options);
  if (!same.ok()) return same.error();
  const RunFrame frame = FrameOf(run);
  Result<AnalyzedProcesses> analyzed = AnalyzeProcesses(run, frame, options);
  if (!analyzed.ok()) return analyzed.error();
  if (const std::optional<Run> marked = MarkedOf(run, analyzed->unanswered, options)) {
    return BuildReport(*marked, options);
  }
  const ClockAlignment clocks = AlignClocks(run, frame.host);
  Result<RunShare> share = RunShareOf(run, frame, clocks, &*analyzed);
  if (!share.ok()) return share.error();
  const RecordedProcesses recorded{analyzed->threads, analyzed->waits, analyzed->activity};
  return Assemble(run, frame, std::move(*share), clocks, &recorded, options);
}

Result<ShareOfMachine> ShareOfOneMachine(const Run& run, const BreakdownOptions& options,
                                         std::vector<LateRank> late) {
  const RunFrame frame = FrameOf(run);
  Result<AnalyzedProcesses> analyzed = AnalyzeProcesses(run, frame, options);
  if (!analyzed.ok()) return analyzed.error();
  if (const std::optional<Run> marked = MarkedOf(run, analyzed->unanswered, options)) {
    Result<ShareOfMachine> share = ShareOfOneMachine(*marked, options, std::move(late));
    if (!share.ok()) return share;
    const auto added = static_cast<std::ptrdiff_t>(run.problems.size());
    share->notes.insert(share->notes.end(), marked->problems.begin() + added,
                        marked->problems.end());
    return share;
  }
  ShareOfMachine share;
  Machines machines(run, frame, *analyzed, nullptr);
  for (const bool for_run : {false, true}) {
    Result<MachineShare> machine = machines.Measure(AllOf(run), for_run, &share.notes);
    if (!machine.ok()) return machine.error();
    (for_run ? share.as_root : share.machine) = std::move(*machine);
  }
  share.processes = std::move(analyzed->shares);
  share.late = std::move(late);
  ExplainLateRanks(run, analyzed->waits, options, &share.late);
  const Status trained = AddTrainingOf(run, frame, *analyzed, options, &share);
  if (!trained.ok()) return trained.error();
  return share;
}

std::vector<LateRank> LateRanksOf(const Run& run, const RunShare& share,
                                  const BreakdownOptions& options) {
  const RunFrame frame = FrameOf(run);
  const ClockAlignment clocks = AlignClocks(run, frame.host);
  const RunWindows cut = CutOf(run, frame, share, clocks);
  SplitRanks split = SplitCommunication(run, clocks, cut.windows[HeadlineOf(cut, options.window)]);
  std::erase_if(split.late, [](const LateRank& rank) { return rank.times.empty(); });
  return std::move(split.late);
}

Result<Report> ReportOfShare(const Run& run, RunShare share, const BreakdownOptions& options) {
  const RunFrame frame = FrameOf(run);
  const ClockAlignment clocks = AlignClocks(run, frame.host);
  return Assemble(run, frame, std::move(share), clocks, nullptr, options);
}

}  // namespace gpubound
