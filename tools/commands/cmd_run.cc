// SPDX-License-Identifier: Apache-2.0
//
// `gpubound run -- CMD`: makes a run directory, starts the program with the library in it, waits,
// and says what was found. Whatever goes wrong on our side after the program was started is said
// and does not change its status.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "analysis/base/text_table.h"
#include "analysis/output/text/report_text.h"
#include "analysis/reader/process_presence.h"
#include "analysis/reader/trim_mappings.h"
#include "libprofiler/env_vars.h"
#include "tools/calibrate/run_calibration.h"
#include "tools/commands/commands.h"
#include "tools/commands/run_arguments.h"
#include "tools/commands/run_summary.h"
#include "tools/console/clock.h"
#include "tools/console/console.h"
#include "tools/console/diagnostics.h"
#include "tools/console/exit_codes.h"
#include "tools/launch/child_program.h"
#include "tools/launch/guarded.h"
#include "tools/launch/launched_job.h"
#include "tools/launch/library_files.h"
#include "tools/launch/package_folder.h"
#include "tools/launch/program_file.h"
#include "tools/launch/run_directory.h"
#include "tools/launch/run_environment.h"
#include "tools/launch/run_keeper.h"
#include "tools/launch/run_record.h"
#include "tools/launch/scratch_folder.h"

namespace gpubound {
namespace {

constexpr char kRecording[] = "recording the run";  // for errors

RunRecord BeginRecord(const Arguments& command) {
  RunRecord record;
  record.command = command;
  std::error_code ignored;
  record.cwd = std::filesystem::current_path(ignored).string();
  record.host = OwnHost();
  record.boot_id = OwnBootId();
  record.job = LaunchedJob(EnvironmentVariable);
  record.start_monotonic_ns = ReadClockNs(CLOCK_MONOTONIC);
  record.start_realtime_ns = ReadClockNs(CLOCK_REALTIME);
  return record;
}

// The directory to write into: -o, else the run that this launcher is part of, else a new one. The
// ranks of one job have one.
Result<RunDirectory> ChooseRunDirectory(const RunArguments& arguments) {
  const std::string job = LaunchedJob(EnvironmentVariable);
  if (!arguments.output.empty()) {
    return job.empty() ? MakeRunDirectory(arguments.output, /*join=*/false)
                       : MakeRunDirectoryOfJob(arguments.output, job);
  }
  const char* shared = EnvironmentVariable("GPUBOUND_RUN");
  if (shared != nullptr && *shared != '\0') return MakeRunDirectory(shared, /*join=*/true);
  if (!job.empty()) return MakeNamedRunDirectoryOfJob(arguments.command.front(), job);
  return MakeRunDirectory(DefaultRunName(arguments.command.front(), std::time(nullptr), getpid()),
                          /*join=*/false);
}

int CannotStart(const std::string& program, int error) {
  const std::string name = EscapeName(program);
  const std::string why = std::generic_category().message(error);
  if (error != ENOENT) {
    const char* remedy = error == EACCES ? " Is it an executable file? (chmod +x)" : "";
    PrintFailure(fmt::format("starting '{}': {}.{}", name, why, remedy));
    return kExitCannotExecute;
  }
  if (!FindProgram(program, EnvironmentVariable).empty()) {
    PrintFailure(fmt::format(
        "starting '{}': the file is there, but the interpreter that its first line names, or the "
        "dynamic loader it needs, is not.",
        name));
  } else {
    const bool is_path = program.find('/') != std::string::npos;
    PrintFailure(
        fmt::format("starting '{}': found no such program{}.", name, is_path ? "" : " in PATH"));
  }
  return kExitNotFound;
}

int Fail(const Error& error) {
  PrintError(error);
  return kExitLauncherFailed;
}

TextOptions StderrOptions() { return TextOptionsFor(FactsOf(STDERR_FILENO), EnvironmentVariable); }

// |failure|: how the program failed. Then its reason comes before all that are ours.
void ExplainNothingRecorded(const RunArguments& arguments, const LibraryFiles& libraries,
                            const RunDirectory& directory, const std::string& failure) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory.path, ignored)) return;  // removed, as was said
  if (!failure.empty()) {
    PrintWarning(
        fmt::format("the program failed ({}), and nothing was recorded.\nrun directory: {}",
                    failure, EscapeName(directory.path)));
    return;
  }
  const ProgramFile program =
      InspectProgram(FindProgram(arguments.command.front(), EnvironmentVariable));
  std::string text = "nothing was recorded.\n";
  if (arguments.duration_ns) {
    text += "  - Perhaps --duration was over before anything happened.\n";
  }
  const bool hooks_python = !PythonExtensions(libraries.python_startup).empty();
  for (const std::string& reason : WhyNothingRecorded(program, hooks_python, EnvironmentVariable)) {
    text += Wrap("  - " + reason, StderrOptions().width, 4);
  }
  PrintWarning(fmt::format("{}run directory: {}", text, EscapeName(directory.path)));
}

// That there is none is said by the report.
void GiveCalibration(const RunArguments& arguments, const LibraryFiles& libraries,
                     const RunDirectory& directory) {
  const char* variable = EnvironmentVariable("GPUBOUND_CALIBRATE");
  const std::string_view word = variable == nullptr || *variable == '\0' ? "1" : variable;
  const std::optional<bool> switched = SwitchOf(word);
  if (!switched) {
    PrintWarning(
        fmt::format("GPUBOUND_CALIBRATE is '{}', expected 1 or 0 (also on, true, yes or "
                    "off, false, no); using 1",
                    EscapeName(std::string(word))));
  }
  RunCalibrationOptions options;
  options.libraries = libraries;
  options.how_not = "--no-calibrate leaves it out";
  options.measure = !arguments.no_calibrate && !arguments.quiet && switched.value_or(true);
  const Result<std::optional<Calibration>> given = CalibrateRun(directory.path, options);
  if (!given.ok() && options.measure) PrintError(given.error());
}

// What became of the program, and whether this launcher is the one that speaks for the run.
struct RunOutcome {
  int exit_status = kExitLauncherFailed;
  bool ran = false;
  bool owns_run = true;      // false: another launcher started the run that this one joined
  std::string failure = {};  // "exit status 2"; empty where all was well
};

std::string FailureOf(const ProgramEnd& end) {
  if (end.signal != 0) return fmt::format("signal {}", end.signal);
  return end.exit_code == 0 ? "" : fmt::format("exit status {}", end.exit_code);
}

// Of the program that is to be started. |package_folder|: of one that is not recorded.
std::vector<std::string> EnvironmentFor(const RunArguments& arguments,
                                        const LibraryFiles& libraries,
                                        const RunDirectory& directory,
                                        const std::string& package_folder) {
  std::vector<Assignment> assignments =
      RunAssignments(libraries, directory.path, EnvironmentVariable);
  assignments.push_back({"GPUBOUND_LAUNCHED", "1"});
  if (!arguments.graphs.empty()) assignments.push_back({"GPUBOUND_GRAPHS", arguments.graphs});
  if (!arguments.counters.empty()) {
    assignments.push_back({"GPUBOUND_COUNTERS", arguments.counters});
  }
  if (arguments.duration_ns) {
    const int64_t end_ns = ReadClockNs(CLOCK_MONOTONIC) + *arguments.duration_ns;
    assignments.push_back({"GPUBOUND_END_NS", std::to_string(end_ns)});
  }
  if (!arguments.stacks.empty()) assignments.push_back({"GPUBOUND_STACKS", arguments.stacks});
  if (!arguments.steps.empty()) assignments.push_back({"GPUBOUND_STEPS", arguments.steps});
  if (arguments.retention && EnvironmentVariable("GPUBOUND_SEGMENT_BYTES") == nullptr) {
    const uint64_t bytes = SegmentBytesFor(*arguments.retention->max_bytes);
    assignments.push_back({"GPUBOUND_SEGMENT_BYTES", std::to_string(bytes)});
  }
  for (Assignment& assignment : PackageAssignments(package_folder, EnvironmentVariable)) {
    assignments.push_back(std::move(assignment));
  }
  for (const Assignment& assignment : assignments) {
    Diagnose(Level::kDebug,
             fmt::format("sets {}={}", assignment.name, EscapeName(assignment.value)));
  }
  return WithAssignments(OwnEnvironment(), assignments);
}

// The program finds the Python package where the shim, which is switched off, does not show it.
class PackageWhenDisabled {
 public:
  explicit PackageWhenDisabled(const LibraryFiles& libraries) {
    const char* const disable = EnvironmentVariable("GPUBOUND_DISABLE");
    if (disable == nullptr || !SaysDisabled(disable)) return;
    scratch_.emplace();
    folder_ = MakePackageFolder(libraries, *scratch_);
  }
  const std::string& folder() const { return folder_; }

 private:
  std::optional<ScratchFolder> scratch_;
  std::string folder_;
};

// The launcher's file of the run, while the program goes on and when it has ended.
class LauncherRecord {
 public:
  LauncherRecord(const RunDirectory& directory, const Arguments& command)
      : directory_(directory.path), record_(BeginRecord(command)) {}

  // Before the program starts, which may fill the disk at once.
  void Place() {
    const Result<bool> placed = WriteRunRecord(directory_, record_, /*replace=*/false);
    placed_ = placed.ok() && *placed;
    owns_run_ = !placed.ok() || *placed;
    if (!placed.ok()) PrintError(placed.error());
  }
  void Remove() const {
    if (placed_) RemoveRunRecord(directory_);
  }
  void NoteStart(pid_t root) {
    record_.root_pid = root;
    if (placed_) Replace();
  }
  void NoteEnd(const ProgramEnd& end) {
    record_.end_monotonic_ns = ReadClockNs(CLOCK_MONOTONIC);
    if (end.signal != 0) {
      record_.signal = end.signal;
    } else {
      record_.exit_code = end.exit_code;
    }
    record_.recorded = RecordedIn(directory_);
    if (placed_) NoteReplacedDirectory(directory_, record_);
    Replace();
  }
  // False: another launcher's is there.
  bool owns_run() const { return owns_run_; }

 private:
  void Replace() {
    const Result<bool> replaced = WriteRunRecord(directory_, record_, /*replace=*/true);
    if (!replaced.ok() && placed_) PrintError(replaced.error());
  }

  const std::string directory_;
  RunRecord record_;
  bool placed_ = false;
  bool owns_run_ = false;
};

RunOutcome RunToEnd(const RunArguments& arguments, const LibraryFiles& libraries,
                    const RunDirectory& directory) {
  const Arguments& command = arguments.command;
  LauncherRecord record(directory, command);
  const PackageWhenDisabled package(libraries);
  const std::vector<std::string> environment =
      EnvironmentFor(arguments, libraries, directory, package.folder());
  record.Place();
  ChildProgram program;
  if (const int error = program.Start(command, environment); error != 0) {
    record.Remove();
    RemoveIfEmpty(directory);
    return {CannotStart(command.front(), error), /*ran=*/false};
  }
  Diagnose(Level::kDebug,
           fmt::format("started '{}' as process {}", EscapeName(command.front()), program.pid()));
  // Of several launchers that share a run, the first one keeps it small.
  std::optional<RunKeeper> keeper;
  Guarded(kRecording, directory.path, [&] {
    record.NoteStart(program.pid());
    if (arguments.retention && record.owns_run()) {
      keeper.emplace(directory.path, *arguments.retention);
    }
  });
  const ProgramEnd end = program.Wait();
  const RunOutcome outcome = {end.ExitStatus(), /*ran=*/true, record.owns_run(), FailureOf(end)};
  Diagnose(Level::kDebug, fmt::format("the program ended: {}",
                                      outcome.failure.empty() ? "exit status 0" : outcome.failure));
  if (!outcome.owns_run) return outcome;
  Guarded(kRecording, directory.path, [&] { record.NoteEnd(end); });
  Guarded(kRecording, directory.path, [&] {
    const std::optional<Error> error = keeper ? keeper->Finish() : std::nullopt;
    if (error) PrintError(*error);
  });
  TrimMappings(directory.path, [](const ProcessIdentity& process) {
    return PresenceOf(process) == Presence::kGone;
  });
  return outcome;
}

}  // namespace

int RunProgram(const Arguments& words) {
  RunArguments arguments;
  if (const auto over = ParseRunArguments(words, &arguments)) return *over;
  const Result<LibraryFiles> libraries = FindOurLibraryFiles();
  if (!libraries.ok()) return Fail(libraries.error());
  const Result<RunDirectory> directory = ChooseRunDirectory(arguments);
  if (!directory.ok()) return Fail(directory.error());
  Diagnose(Level::kDebug, fmt::format("records with {} into {}", EscapeName(libraries->core),
                                      EscapeName(directory->path)));

  const RunOutcome outcome = RunToEnd(arguments, *libraries, *directory);
  // Where several launchers share a run, the first one speaks: the others may still be writing.
  if (!outcome.ran || !outcome.owns_run) return outcome.exit_status;
  Guarded("ending the run", directory->path, [&] {
    if (!HoldsTrace(directory->path)) {
      if (!arguments.quiet) {
        ExplainNothingRecorded(arguments, *libraries, *directory, outcome.failure);
      }
      return;
    }
    GiveCalibration(arguments, *libraries, *directory);
    if (!arguments.quiet) PrintSummary(directory->path);
  });
  return outcome.exit_status;
}

}  // namespace gpubound
