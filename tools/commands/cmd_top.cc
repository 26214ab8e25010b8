// SPDX-License-Identifier: Apache-2.0
//
// `gpubound top RUN`: what a run does now, while it goes on.
#include <unistd.h>

#include <climits>

#include "analysis/base/text_table.h"
#include "analysis/output/live/live_run.h"
#include "analysis/output/live/live_text.h"
#include "tools/commands/commands.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/commands/raw_terminal.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/launch/run_directory.h"

namespace gpubound {
namespace {

constexpr CommandHelp kHelp = {
    "gpubound top", "[OPTIONS] [RUN]",
    "Shows what a run does while it goes on: GPU busy, operations and iterations over the last 1, "
    "10\n"
    "and 60 seconds, and its processes. RUN is the directory of a run; without it, the newest\n"
    "*.gpubound directory here.",
    "q or Ctrl-C ends it. It reads what the run has written, about a second late, and never gets "
    "in\n"
    "its way. Exit status: 0; 1 if it cannot print; 2 for wrong use; 3 if the\n"
    "run cannot be read.\n",
    "  gpubound top\n"
    "  gpubound top train.gpubound --once\n"};

constexpr int kTickMilliseconds = 1000;

int Watch(LiveRun* run, const std::string& path, TextOptions options) {
  std::optional<Error> error;
  {
    RawTerminal terminal;
    do {
      const Result<LiveGlance> glance = run->Look();
      if (!glance.ok()) {
        error = glance.error();
        break;
      }
      options.width = terminal.Columns();
      terminal.Show(RenderGlance(*glance, path, terminal.Rows() - 1, options));
    } while (terminal.Wait(kTickMilliseconds));
  }
  if (!error) return kExitSuccess;
  PrintError(*error);
  return kExitUnreadable;
}

}  // namespace

int WatchRun(const Arguments& words) {
  std::string path;
  bool once = false;
  OptionParser parser(kHelp);
  parser.AddOption("RUN", &path, "Directory of a run").Value("");
  parser.AddFlag("--once", &once, "Print how it is now, and end; so it is without a terminal");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  AllowManyFiles();
  if (path.empty()) {
    const Result<std::string> newest = NewestRun(".");
    if (!newest.ok()) {
      PrintError(newest.error());
      return kExitUnreadable;
    }
    path = *newest;
  }
  LiveRun run(path);
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
  return WriteStdout(RenderGlance(*glance, path, INT_MAX, options));
}

}  // namespace gpubound
