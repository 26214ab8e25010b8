// SPDX-License-Identifier: Apache-2.0
//
// Finds the files of a run, groups them by process, loads each. No state.
#include "analysis/reader.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/folder_entries.h"
#include "analysis/in_parallel.h"
#include "analysis/later_iterations.h"
#include "analysis/missing_processes.h"
#include "analysis/process_files.h"
#include "analysis/process_loader.h"
#include "analysis/process_presence.h"
#include "analysis/run_info.h"
#include "analysis/run_sums.h"
#include "analysis/segment.h"
#include "analysis/unknown_begins.h"
#include "analysis/wait_channels.h"
#include "proto/schema.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

constexpr char kRunDirectory[] = "a run directory (NAME-TIME-PID.gpubound)";
constexpr char kGiveDirectory[] = "Give the directory that `gpubound run` named when it ended.";

using FileNames = std::vector<std::pair<std::string, TraceFileName>>;

struct FileList {
  FileNames files;  // by name
  bool has_run_json = false;
};

// One of the three.
struct OpenedFile {
  std::optional<Segment> segment;
  std::optional<LiveFile> live;
  std::optional<Error> error;
};

Error RunError(const std::string& path, const std::string& found, const std::string& remedy) {
  return {"reading the run", path, found, kRunDirectory, remedy};
}

// Of what is there and no directory.
Error NoDirectory(const fs::path& path, const fs::file_status& status) {
  const std::string name = path.filename().string();
  if (name == kRunInfoFile || ParseTraceFileName(name)) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    return RunError(path.string(), "a file of a run",
                    "Give the directory that contains it, " + folder.string() + ".");
  }
  if (!fs::is_regular_file(status)) {
    return RunError(path.string(), "something that is neither file nor directory", kGiveDirectory);
  }
  std::error_code ignored;
  if (fs::file_size(path, ignored) == 0) {
    return RunError(path.string(), "an empty file", kGiveDirectory);
  }
  return RunError(
      path.string(), "a file",
      std::string(kGiveDirectory) + " `gpubound import FILE` makes a run of another tool's trace.");
}

Result<FileList> ListFiles(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return RunError(path, "nothing there", kGiveDirectory);
  if (!fs::is_directory(status)) return NoDirectory(path, status);
  FileList list;
  const std::vector<fs::directory_entry> entries = EntriesOf(path, &error);
  if (error) {
    return RunError(path, "a directory that cannot be listed (" + error.message() + ")",
                    "Check its permissions: a run is readable by its owner only.");
  }
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (name == kRunInfoFile) list.has_run_json = true;
    const std::optional<TraceFileName> parsed = ParseTraceFileName(name);
    if (parsed) list.files.emplace_back(entry.path().string(), *parsed);
  }
  std::sort(list.files.begin(), list.files.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.identity, a.second.segment, a.first) <
           std::tie(b.second.identity, b.second.segment, b.first);
  });
  if (list.files.empty() && !list.has_run_json) {
    return RunError(path, "a directory without a trace (no HOST.PID.START.SEGMENT.db)",
                    kGiveDirectory);
  }
  return list;
}

OpenedFile OpenFile(const std::string& path, const TraceFileName& name) {
  OpenedFile opened;
  if (name.live) {
    Result<LiveFile> live = LiveFile::Open(path);
    if (live.ok()) {
      opened.live = std::move(*live);
    } else {
      opened.error = live.error();
    }
  } else {
    Result<Segment> segment = Segment::Open(path, name);
    if (segment.ok()) {
      opened.segment = std::move(*segment);
    } else {
      opened.error = segment.error();
    }
  }
  return opened;
}

// Side by side, as ReadProcesses().
std::vector<OpenedFile> OpenFiles(const FileNames& files) {
  std::vector<OpenedFile> opened(files.size());
  ForEachInParallel(files.size(),
                    [&](size_t f) { opened[f] = OpenFile(files[f].first, files[f].second); });
  return opened;
}

bool Contains(const std::vector<ProcessIdentity>& all, const ProcessIdentity& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

GroupedFiles Group(const FileNames& files, std::vector<OpenedFile>* opened) {
  std::vector<Segment> segments;
  for (OpenedFile& file : *opened) {
    if (file.segment) segments.push_back(std::move(*file.segment));
  }
  GroupedFiles grouped = GroupByProcess(std::move(segments));
  for (size_t f = 0; f < files.size(); ++f) {
    std::optional<LiveFile>& live = (*opened)[f].live;
    if (live && live->begun()) AddLive(files[f].first, files[f].second, std::move(*live), &grouped);
  }
  return grouped;
}

// What became of a file, in the sentences of a note.
std::string NoteOn(const Error& error) {
  std::string note = error.ToString();
  std::replace(note.begin(), note.end(), '\n', ' ');
  return note;
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
void MarkRunning(Run* run) {
  for (ProcessTrace& process : run->processes) {
    if (process.span_end != SpanEnd::kLastEvent) continue;
    if (PresenceOf(process.identity) != Presence::kThere) continue;
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

// Side by side.
void ReadProcesses(ReadProcess read_process, std::map<ProcessIdentity, ProcessFiles>* processes,
                   Run* run) {
  run->processes.resize(processes->size());
  std::vector<std::vector<std::string>> problems(processes->size());
  std::vector<std::pair<const ProcessIdentity, ProcessFiles>*> entries;
  for (auto& entry : *processes) entries.push_back(&entry);
  ForEachInParallel(entries.size(), [&](size_t p) {
    auto& [identity, files] = *entries[p];
    const ProcessSums* before = run->sums == nullptr ? nullptr : run->sums->Of(identity);
    const std::string later = LaterPathOf(run->path, files);
    ProcessTrace& process = run->processes[p];
    process = read_process(identity, &files.segments, files.live, before, &problems[p]);
    if (process.span_end != SpanEnd::kAsked) return;
    process.later_iterations = ReadLaterIterations(later, process.span_end_ns, &problems[p]);
  });
  for (std::vector<std::string>& of : problems) {
    std::move(of.begin(), of.end(), std::back_inserter(run->problems));
  }
}

Result<Run> ReadRun(const std::string& path, ReadProcess read_process) {
  Result<FileList> list = ListFiles(path);
  if (!list.ok()) return list.error();

  Run run;
  run.path = path;
  if (list->has_run_json) ReadLauncherRecord(path, &run);
  Result<std::shared_ptr<const RunSums>> sums = ReadRunSums(path);
  if (!sums.ok()) return sums.error();
  run.sums = std::move(*sums);

  std::set<ProcessIdentity> unreadable;  // of files that cannot be read
  std::optional<Error> first_error;
  std::vector<OpenedFile> opened = OpenFiles(list->files);
  for (size_t f = 0; f < opened.size(); ++f) {
    const OpenedFile& file = opened[f];
    if (!file.error) continue;
    if (IsVersionError(*file.error)) return *file.error;
    run.problems.push_back(NoteOn(*file.error));
    ++run.Count(LedgerCounter::files_unreadable);
    unreadable.insert(list->files[f].second.identity);
    if (!first_error) first_error = file.error;
  }
  GroupedFiles files = Group(list->files, &opened);
  std::map<ProcessIdentity, ProcessFiles>& processes = files.processes;
  for (std::string& note : files.misnamed) run.problems.push_back(std::move(note));
  run.Count(LedgerCounter::files_misnamed) += files.misnamed.size();
  if (processes.empty() && first_error) return *first_error;
  for (const ProcessIdentity& identity : unreadable) {
    const auto others = processes.find(identity);
    if (others == processes.end() || others->second.segments.empty()) run.lost.push_back(identity);
  }
  if (processes.empty()) {
    run.problems.push_back(
        "No process of this run was recorded: none used CUDA, NVTX or a gpubound scope.");
  }

  ReadProcesses(read_process, &processes, &run);
  for (ProcessTrace& process : run.processes) {
    // A mapping is all that can be read of it.
    if (!Contains(run.lost, process.identity)) continue;
    process.unknown.push_back({process.span_begin_ns, kOpenEnded, "its database cannot be read"});
  }
  PlaceUnknownBegins(&run);
  CloseSpans(&run);
  MarkRunning(&run);
  for (const ProcessTrace& process : run.processes) {
    if (process.device_work_lost) run.lost.push_back(process.identity);
  }
  KeepAskedSteps(&run);
  NameAwaitedProcesses(&run);
  std::set<ProcessIdentity> present;
  for (const auto& [file, name] : list->files) present.insert(name.identity);
  for (const ProcessIdentity& identity : files.not_there) present.erase(identity);
  for (const auto& [identity, of_process] : processes) present.insert(identity);
  NoteMissingProcesses(present, files.overwritten, &run);
  NoteUnlistedProcesses(&run);
  std::sort(run.lost.begin(), run.lost.end());
  run.lost.erase(std::unique(run.lost.begin(), run.lost.end()), run.lost.end());
  return run;
}

}  // namespace

Result<Run> LoadRun(const std::string& path) { return ReadRun(path, &LoadProcess); }

Result<Run> OpenRun(const std::string& path) { return ReadRun(path, &OpenProcess); }

Result<Run> OpenGrowingRun(const std::string& path) { return ReadRun(path, &OpenGrowing); }

}  // namespace gpubound
