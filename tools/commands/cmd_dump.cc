// SPDX-License-Identifier: Apache-2.0
//
// `gpubound dump RUN`: the Python stacks of a run as they were last seen.
#include <algorithm>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>

#include "analysis/output/live/stack_dump.h"
#include "analysis/reader/reader.h"
#include "tools/commands/commands.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/option_values.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/console/clock.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/launch/run_directory.h"

namespace gpubound {
namespace {

constexpr CommandHelp kDumpHelp = {
    "gpubound dump", "[RUN] [--pid PID]",
    "Prints the stack of each Python thread as the recorder last looked at it, innermost frame\n"
    "first: what a run is doing, or was doing when it ended or hung. It reads what the run has "
    "written,\n"
    "some two seconds late, and touches no process. RUN is the directory of a run; without it,\n"
    "that of the process PID, else the newest *.gpubound directory here.",
    "Exit status: 0; 1 if it cannot print, or no stack was looked at; 2 for wrong use; 3 if the "
    "run\n"
    "cannot be read.\n",
    "  gpubound dump\n"
    "  gpubound dump --pid 4711\n"
    "  gpubound dump train.gpubound\n"};

constexpr uint64_t kLargestPid = 4'194'304;  // of Linux

// The run directory that a process records into, as its environment says.
std::optional<std::string> RunOf(int64_t pid) {
  constexpr std::string_view kName = "GPUBOUND_RUN=";
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  for (std::string variable; std::getline(file, variable, '\0');) {
    if (variable.starts_with(kName)) return variable.substr(kName.size());
  }
  return std::nullopt;
}

bool AnyGoesOn(const Run& run) {
  return std::any_of(run.processes.begin(), run.processes.end(), [](const ProcessTrace& process) {
    return process.span_end == SpanEnd::kGoesOn;
  });
}

}  // namespace

int DumpStacks(const Arguments& words) {
  std::string path;
  std::string pid_text;
  OptionParser parser(kDumpHelp);
  parser.AddOption("RUN", &path, "Directory of a run").Value("");
  parser.AddOption("--pid", &pid_text, "Of this process alone")
      .Check(WholeNumber(1, kLargestPid))
      .Value("PID");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  AllowManyFiles();
  std::optional<int64_t> pid;
  if (!pid_text.empty()) pid = std::stoll(pid_text);
  if (path.empty() && pid) {
    const std::optional<std::string> run = RunOf(*pid);
    if (!run) {
      PrintFailure("process " + pid_text +
                   " is not part of a run, or not yours to look at: its environment has no "
                   "GPUBOUND_RUN.");
      return kExitUnreadable;
    }
    path = *run;
  }
  const Result<std::string> chosen = RunOrNewest(path);
  if (!chosen.ok()) {
    PrintError(chosen.error());
    return kExitUnreadable;
  }
  path = *chosen;
  const Result<Run> run = OpenGrowingRun(path);
  if (!run.ok()) {
    PrintError(run.error());
    return kExitUnreadable;
  }
  std::optional<int64_t> now_ns;
  if (AnyGoesOn(*run)) now_ns = ReadClockNs(CLOCK_MONOTONIC);
  const std::string text = RenderStacks(*run, pid, now_ns);
  if (!text.empty()) return WriteStdout(text);
  PrintFailure("no Python stack was looked at in " + path +
               (pid ? " of process " + pid_text : std::string()) +
               ": it is no Python, has just begun, or was recorded with --stacks 0.");
  return kExitCheckFailed;
}

}  // namespace gpubound
