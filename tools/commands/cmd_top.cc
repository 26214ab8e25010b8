// SPDX-License-Identifier: Apache-2.0
//
// `gpubound top RUN`: what a run does now, while it goes on.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "analysis/base/text_table.h"
#include "analysis/output/live/live_json.h"
#include "analysis/output/live/live_run.h"
#include "analysis/output/live/live_text.h"
#include "tools/commands/commands.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/option_values.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/commands/raw_terminal.h"
#include "tools/commands/report_so_far.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/launch/run_directory.h"

namespace gpubound {
namespace {

constexpr CommandHelp kTopHelp = {
    "gpubound top", "[OPTIONS] [RUN]",
    "Shows what a run does while it goes on: what limits it so far, as gpubound report would say,\n"
    "and GPU busy, operations, throughput and iterations over the last 1, 10 and 60 seconds, and\n"
    "its processes. RUN is the directory of a run; without it, the newest *.gpubound directory\n"
    "here.",
    "q or Ctrl-C ends it. It reads what the run has written, about a second late, and never gets "
    "in\n"
    "its way: the verdict is made at the lowest priority and for a twentieth of the time at most,\n"
    "and of a run of more than 1 GB not at all. Exit status: 0; 1 if it cannot print; 2 for wrong "
    "use; 3 if the\n"
    "run cannot be read.\n",
    "  gpubound top\n"
    "  gpubound top train.gpubound --once\n"
    "  gpubound top train.gpubound --json\n"};

constexpr int kTickMilliseconds = 1000;

int Watch(LiveRun* run, const std::string& path, TextOptions options) {
  std::optional<Error> error;
  ReportsSoFar reports(path);
  {
    RawTerminal terminal;
    do {
      const Result<LiveGlance> glance = run->Look();
      if (!glance.ok()) {
        error = glance.error();
        break;
      }
      options.width = terminal.Columns();
      const std::shared_ptr<const Report> so_far = reports.Newest();
      terminal.Show(RenderGlance(*glance, path, terminal.Rows() - 1, options, so_far.get()));
    } while (terminal.Wait(kTickMilliseconds));
  }
  if (error) PrintError(*error);
  const int status = error ? kExitUnreadable : kExitSuccess;
  if (reports.IsBusy()) {
    std::fflush(nullptr);
    std::_Exit(status);
  }
  return status;
}

// A line a second until the run is over, or with |once| one.
int WriteLines(LiveRun* run, const std::string& path, bool once) {
  for (;;) {
    const Result<LiveGlance> glance = run->Look();
    if (!glance.ok()) {
      PrintError(glance.error());
      return kExitUnreadable;
    }
    const int status = WriteStdout(RenderGlanceJson(*glance, path));
    const bool is_over = !glance->processes.empty() &&
                         std::all_of(glance->processes.begin(), glance->processes.end(),
                                     [](const auto& process) { return process.ended; });
    if (status != kExitSuccess || once || is_over) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(kTickMilliseconds));
  }
}

}  // namespace

int WatchRun(const Arguments& words) {
  std::string path;
  bool once = false;
  bool json = false;
  std::string exported_to;
  OptionParser parser(kTopHelp);
  parser.AddOption("RUN", &path, "Directory of a run").Value("");
  parser.AddFlag("--once", &once, "Print how it is now, and end; so it is without a terminal");
  parser.AddFlag("--json", &json,
                 "A line of JSON (gpubound.top.v1) a second, until the run is over");
  parser.AddOption("--export", &exported_to, "Serve or send it: prometheus:PORT, otlp://HOST:PORT")
      .Value("TO")
      .Check(NotEmpty());
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  if (!exported_to.empty()) {
    parser.Complain(
        "--export is done by the Python package: pip install 'gpubound[live]', then "
        "python3 -m gpubound top --export " +
        exported_to);
    return kExitWrongUse;
  }
  AllowManyFiles();
  const Result<std::string> chosen = RunOrNewest(path);
  if (!chosen.ok()) {
    PrintError(chosen.error());
    return kExitUnreadable;
  }
  path = *chosen;
  LiveRun run(path);
  if (json) return WriteLines(&run, path, once);
  const StreamFacts output = FactsOf(STDOUT_FILENO);
  const TextOptions options = TextOptionsFor(output, EnvironmentVariable);
  if (!once && output.is_terminal && FactsOf(STDIN_FILENO).is_terminal) {
    return Watch(&run, path, options);
  }
  const Result<LiveGlance> glance = run.Look();
  if (!glance.ok()) {
    PrintError(glance.error());
    return kExitUnreadable;
  }
  const std::optional<Report> so_far = ReportSoFar(path);
  return WriteStdout(RenderGlance(*glance, path, INT_MAX, options, so_far ? &*so_far : nullptr));
}

}  // namespace gpubound
