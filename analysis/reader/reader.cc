// SPDX-License-Identifier: Apache-2.0
//
// Loads each process of a run, and what the processes say of each other. No state.
#include "analysis/reader/reader.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/base/in_parallel.h"
#include "analysis/naming/name_operations.h"
#include "analysis/reader/late_ranks.h"
#include "analysis/reader/later_iterations.h"
#include "analysis/reader/launches_without_work.h"
#include "analysis/reader/machines.h"
#include "analysis/reader/missing_processes.h"
#include "analysis/reader/process_files.h"
#include "analysis/reader/process_loader.h"
#include "analysis/reader/process_presence.h"
#include "analysis/reader/run_files.h"
#include "analysis/reader/unknown_begins.h"
#include "analysis/reader/wait_channels.h"
#include "analysis/segments/run_info.h"
#include "analysis/segments/run_sums.h"
#include "analysis/trace/most_notes.h"
#include "proto/schema.h"

namespace gpubound {
namespace {

// Of a process that is written to meanwhile, and the time that a transaction may take.
constexpr int kMostReadings = 5;
constexpr std::chrono::milliseconds kTransaction{20};

// What became of a file, in the sentences of a note.
std::string NoteOn(const Error& error) {
  std::string note = error.ToString();
  std::replace(note.begin(), note.end(), '\n', ' ');
  return note;
}

bool Contains(const std::vector<ProcessIdentity>& all, const ProcessIdentity& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

bool IsVersionError(const Error& error) {
  return error.expected == "format version " + std::to_string(kTraceFormatVersion);
}

void ReadLauncherRecord(const std::string& path, Run* run) {
  Result<RunInfo> info = ReadRunInfo(path + "/" + kRunInfoFile);
  if (info.ok()) {
    run->info = std::move(*info);
    run->Count(LedgerCounter::times_impossible) += run->info->times_impossible;
  } else {
    run->problems.push_back(NoteOn(info.error()));
    ++run->Count(LedgerCounter::files_unreadable);
  }
}

// The launcher's record says who was there, and when the command began and ended.
void NoteMissingRecord(const RunFiles& files, Run* run) {
  const auto is_launched = [](const auto& process) {
    return std::ranges::any_of(process.second.segments, [](const Segment& segment) {
      return segment.meta().contains(kLaunchedFact);
    });
  };
  if (files.has_run_json || !std::ranges::any_of(files.grouped.processes, is_launched)) return;
  ++run->Count(LedgerCounter::files_unreadable);
  run->problems.push_back(run->path + "/" + kRunInfoFile +
                          " is missing: `gpubound run` wrote it, and it says which processes were "
                          "recorded. Copy it from where the run was recorded.");
}

// What could not be recorded may have done anything. Of one whose files are there they say it.
void NoteUnrecorded(const RunFiles& files, Run* run) {
  if (files.has_silent_unrecorded) {
    ++run->Count(LedgerCounter::processes_unrecorded);
    run->lost.emplace_back();
    run->problems.push_back(
        "A process could not be recorded, and could make no file here that says so: there was no "
        "room, no descriptor, or a sandbox refused it.");
  }
  for (const auto& [identity, why] : files.unrecorded) {
    if (files.grouped.processes.contains(identity)) continue;
    ++run->Count(LedgerCounter::processes_unrecorded);
    run->lost.push_back(identity);
    if (run->problems.size() > kMostNotes) continue;
    run->problems.push_back(identity.host + " pid " + std::to_string(identity.pid) +
                            " could not be recorded" + (why.empty() ? "." : ": " + why + "."));
  }
}

// A process that was replaced by exec ended when its successor began; the root ended, at the
// latest, when the launcher's wait returned.
void CloseSpans(Run* run) {
  for (ProcessTrace& process : run->processes) {
    if (IsClosed(process.span_end)) continue;
    const ProcessTrace* successor = nullptr;
    for (const ProcessTrace& other : run->processes) {
      if (other.identity.host == process.identity.host &&
          other.identity.pid == process.identity.pid &&
          other.span_begin_ns > process.span_begin_ns &&
          (successor == nullptr || other.span_begin_ns < successor->span_begin_ns)) {
        successor = &other;
      }
    }
    if (successor != nullptr) {
      process.span_end_ns = successor->span_begin_ns;
      process.span_end = SpanEnd::kReplaced;
    } else if (run->info && run->info->end_monotonic_ns &&
               run->info->root_pid == process.identity.pid &&
               run->info->host == process.identity.host &&
               *run->info->end_monotonic_ns > process.span_begin_ns) {
      process.span_end_ns = *run->info->end_monotonic_ns;
      process.span_end = SpanEnd::kLauncherWait;
    }
  }
}

// What has not ended has not lost its end. Of a process on another host that is not known.
void MarkRunning(const std::set<ProcessIdentity>& running, Run* run) {
  for (ProcessTrace& process : run->processes) {
    if (process.span_end != SpanEnd::kLastEvent || !running.contains(process.identity)) continue;
    process.span_end = SpanEnd::kGoesOn;
    process.Count(LedgerCounter::process_not_closed) = 0;
  }
}

// Of a run of which certain iterations were to be recorded, the processes that were there then.
void KeepAskedSteps(Run* run) {
  for (const ProcessTrace& process : run->processes) {
    if (!process.steps.empty()) run->steps = process.steps;
  }
  const size_t outside = std::erase_if(
      run->processes, [](const ProcessTrace& process) { return process.outside_steps; });
  if (outside == 0 || !run->processes.empty()) return;
  run->problems.push_back("No process came to the iterations " + run->steps +
                          " that were to be recorded (--steps). Iterations end where the program "
                          "calls step(), or where gpubound finds the end of a training loop's.");
}

ProcessTrace OpenGrowing(const ProcessIdentity& identity, std::vector<Segment>* segments,
                         const std::optional<LiveFile>& live, const ProcessSums* sums,
                         std::vector<std::string>* problems) {
  return PresenceOf(identity) == Presence::kThere
             ? OpenGrowingProcess(identity, segments, sums, problems)
             : OpenProcess(identity, segments, live, sums, problems);
}

// Empty where the process has no segment of its name, and so no such file.
std::string LaterPathOf(const std::string& folder, const ProcessFiles& files) {
  for (const Segment& segment : files.segments) {
    if (!segment.is_misnamed()) return LaterPath(folder, segment.name());
  }
  return {};
}

using ReadProcess = decltype(&LoadProcess);

// What a database may look like that was read while a transaction was written into it. On a network
// filesystem, where no log takes that up, the reader takes no lock that a recorder would wait for.
bool LooksTorn(const ProcessTrace& process) {
  using enum LedgerCounter;
  const auto counters = {chunks_corrupt, chunk_events_lost, tables_cut, segments_missing,
                         sink_write_errors};
  return std::any_of(counters.begin(), counters.end(),
                     [&process](LedgerCounter counter) { return process.Counted(counter) != 0; });
}

bool IsClosedIn(const ProcessFiles& files) {
  return std::any_of(files.segments.begin(), files.segments.end(),
                     [](const Segment& segment) { return segment.meta().contains("end_how"); });
}

void AwaitTransaction() { std::this_thread::sleep_for(kTransaction); }

// How processes are read, and what is waited for before one is read again.
struct Reading {
  ReadProcess read_process;
  std::function<void()> wait;
  std::optional<MachineOfRun> machine = {};  // of which alone it is
};

// The files of |process|, read from |files| and not closed, as they are now, where it may be wrong:
// it has ended meanwhile, or was read while it wrote. Of one that has gone, a mapping that is there
// stays.
std::optional<ProcessFiles> FilesToReadAgain(const Reading& reading, const std::string& folder,
                                             const ProcessTrace& process, const ProcessFiles& files,
                                             Presence presence) {
  if (!files.live_path.empty()) {
    if (presence == Presence::kThere) return std::nullopt;
    return FilesIfClosedMeanwhile(folder, process.identity, files);
  }
  if (presence == Presence::kGone) {
    std::optional<ProcessFiles> now = FilesOf(folder, process.identity);
    return now && IsClosedIn(*now) ? std::move(now) : std::nullopt;
  }
  if (!LooksTorn(process)) return std::nullopt;
  reading.wait();
  return FilesOf(folder, process.identity);
}

ProcessTrace ReadOne(const Reading& reading, const std::string& folder,
                     const ProcessIdentity& identity, ProcessFiles* files,
                     const ProcessSums* before, bool* runs, std::vector<std::string>* problems) {
  for (int count = 1;; ++count) {
    ProcessTrace process =
        reading.read_process(identity, &files->segments, files->live, before, problems);
    if (IsClosed(process.span_end)) return process;
    const Presence presence = PresenceByTrace(process);
    *runs = presence == Presence::kThere;
    if (count == kMostReadings) return process;
    std::optional<ProcessFiles> again =
        FilesToReadAgain(reading, folder, process, *files, presence);
    if (!again) return process;
    *files = std::move(*again);
    problems->clear();
  }
}

// Side by side. Those that still ran when they had been read.
std::set<ProcessIdentity> ReadProcesses(const Reading& reading,
                                        std::map<ProcessIdentity, ProcessFiles>* processes,
                                        Run* run) {
  run->processes.resize(processes->size());
  const std::unique_ptr<bool[]> runs(new bool[processes->size()]());
  std::vector<std::vector<std::string>> problems(processes->size());
  std::vector<std::pair<const ProcessIdentity, ProcessFiles>*> entries;
  for (auto& entry : *processes) entries.push_back(&entry);
  ForEachInParallel(entries.size(), [&](size_t p) {
    auto& [identity, files] = *entries[p];
    const ProcessSums* before = run->sums == nullptr ? nullptr : run->sums->Of(identity);
    const std::string later = LaterPathOf(run->path, files);
    ProcessTrace& process = run->processes[p];
    process = ReadOne(reading, run->path, identity, &files, before, &runs[p], &problems[p]);
    if (before == nullptr) NoteLaunchesWithoutWork(&process, &problems[p]);
    NameOperations(&process);
    if (process.span_end != SpanEnd::kAsked) return;
    process.later_iterations = ReadLaterIterations(later, process.span_end_ns, &problems[p]);
  });
  for (std::vector<std::string>& of : problems) {
    std::move(of.begin(), of.end(), std::back_inserter(run->problems));
  }
  std::set<ProcessIdentity> running;
  for (size_t p = 0; p < entries.size(); ++p) {
    if (runs[p]) running.insert(entries[p]->first);
  }
  return running;
}

void NoteWhoIsMissing(const std::set<ProcessIdentity>& present,
                      const std::set<ProcessIdentity>& overwritten, Run* run) {
  if (run->processes.empty()) {
    run->problems.push_back(
        "No process of this run was recorded: none used CUDA, NVTX or a gpubound scope, or what "
        "did could not be recorded and has said why on stderr, or was started with an environment "
        "or an LD_PRELOAD of its own.");
  }
  NoteMissingProcesses(present, overwritten, run);
  NoteUnlistedProcesses(run);
  NoteMissingRanks(run);
  std::sort(run->lost.begin(), run->lost.end());
  run->lost.erase(std::unique(run->lost.begin(), run->lost.end()), run->lost.end());
}

Result<Run> ReadRun(const std::string& path, const Reading& reading) {
  const std::optional<MachineOfRun>& machine = reading.machine;
  Result<RunFiles> found =
      OpenRunFiles(path, {}, machine ? machine->hosts : std::set<std::string>());
  if (!found.ok()) return found.error();

  Run run;
  run.path = path;
  if (found->has_run_json) ReadLauncherRecord(path, &run);
  NoteMissingRecord(*found, &run);
  if (machine && !machine->tells_run) {
    found->has_silent_unrecorded = false;
    run.ledger = {};
    run.problems.clear();
  }
  Result<std::shared_ptr<const RunSums>> sums = ReadRunSums(path);
  if (!sums.ok()) return sums.error();
  run.sums = std::move(*sums);

  std::set<ProcessIdentity> unreadable;  // of files that cannot be read
  std::optional<Error> first_error;
  for (const auto& [name, error] : found->unreadable) {
    if (IsVersionError(error)) return error;
    run.problems.push_back(NoteOn(error));
    ++run.Count(LedgerCounter::files_unreadable);
    unreadable.insert(name.identity);
    if (!first_error) first_error = error;
  }
  GroupedFiles& files = found->grouped;
  std::map<ProcessIdentity, ProcessFiles>& processes = files.processes;
  for (std::string& note : files.misnamed) run.problems.push_back(std::move(note));
  run.Count(LedgerCounter::files_misnamed) += files.misnamed.size();
  if (processes.empty() && first_error) return *first_error;
  for (const ProcessIdentity& identity : unreadable) {
    const auto others = processes.find(identity);
    if (others == processes.end() || others->second.segments.empty()) run.lost.push_back(identity);
  }
  NoteUnrecorded(*found, &run);

  std::set<ProcessIdentity> running = ReadProcesses(reading, &processes, &run);
  for (ProcessTrace& process : run.processes) {
    // A mapping is all that can be read of it.
    if (!Contains(run.lost, process.identity)) continue;
    process.unknown.push_back({process.span_begin_ns, kOpenEnded, "its database cannot be read"});
  }
  if (run.sums == nullptr) SeparateMachines(&running, &run);
  PlaceUnknownBegins(&run);
  CloseSpans(&run);
  MarkRunning(running, &run);
  for (const ProcessTrace& process : run.processes) {
    if (process.device_work_lost) run.lost.push_back(process.identity);
  }
  KeepAskedSteps(&run);
  NameLateRanks(&run);
  NameAwaitedProcesses(&run);
  std::set<ProcessIdentity> present;
  for (const TraceFileName& name : found->names) present.insert(name.identity);
  for (const ProcessIdentity& identity : files.not_there) present.erase(identity);
  for (const auto& [identity, of_process] : processes) present.insert(identity);
  if (!machine) NoteWhoIsMissing(present, files.overwritten, &run);
  return run;
}

}  // namespace

Result<Run> LoadRunWaiting(const std::string& path, const std::function<void()>& wait) {
  return ReadRun(path, {&LoadProcess, wait});
}

Result<Run> LoadRun(const std::string& path) { return LoadRunWaiting(path, &AwaitTransaction); }

Result<Run> OpenRun(const std::string& path) {
  return ReadRun(path, {&OpenProcess, &AwaitTransaction});
}

Result<Run> ReadMachine(const std::string& path, const MachineOfRun& machine) {
  return ReadRun(path, {machine.loads ? &LoadProcess : &OpenProcess, &AwaitTransaction, machine});
}

void NoteWhoIsMissing(Run* run) {
  std::set<ProcessIdentity> present(run->lost.begin(), run->lost.end());
  for (const ProcessTrace& process : run->processes) present.insert(process.identity);
  NoteWhoIsMissing(present, {}, run);
}

Result<Run> OpenGrowingRun(const std::string& path) {
  return ReadRun(path, {&OpenGrowing, &AwaitTransaction});
}

}  // namespace gpubound
