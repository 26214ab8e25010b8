// SPDX-License-Identifier: Apache-2.0
//
// `gpubound compact`: sums the older time of a run and keeps the events that are worth their place.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "analysis/base/text_table.h"
#include "analysis/compact/compact.h"
#include "tools/commands/commands.h"
#include "tools/commands/operations_option.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/commands/retention_options.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/console/progress_note.h"

namespace gpubound {
namespace {

constexpr CommandHelp kCompactHelp = {
    "gpubound compact", "[OPTIONS] RUN",
    "Sums the older time of a run, exactly, and removes its events but for those around slow\n"
    "iterations. Reports show the totals of the whole run as before. What needs every event is\n"
    "gone: corrected values, what-if, the GPU-limited share. It cannot be undone.",
    "TIME ends in ms, s, m, h or d, SIZE in KB, MB or GB (of 1024); 1MB is the least.\n"
    "docs/long_runs.md says what is kept.\n"
    "Exit status: 0; 2 for wrong use; 3 if the run cannot be read or changed.\n",
    "  gpubound compact train.gpubound\n"
    "  gpubound compact train.gpubound --window 1h --detail slow:2x --max-size 500MB\n"};

std::string Summary(const Compaction& done) {
  constexpr double kMegabyte = 1024.0 * 1024.0;
  std::string text = done.summed_ns == 0
                         ? "no event of the run can be removed; it stays as it is: " + done.why_none
                         : fmt::format(
                               "summed the first {} of the run; removed {}: {:.1f} MB "
                               "before, {:.1f} MB now",
                               FormatTime(done.summed_ns), Counted(done.events_removed, "event"),
                               static_cast<double>(done.bytes_before) / kMegabyte,
                               static_cast<double>(done.bytes_after) / kMegabyte);
  for (const std::string& why : done.growing) text += ". Left alone: " + EscapeName(why);
  return text;
}

}  // namespace

int CompactStoredRun(const Arguments& words) {
  std::string run;
  RetentionOptions retention;
  std::vector<std::string> operations;
  OptionParser parser(kCompactHelp);
  parser.AddOption("RUN", &run, "Directory of a run").Value("");
  AddRetentionOptions(&parser, &retention);
  AddOperationsOption(&parser, &operations);
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  AllowManyFiles();
  if (run.empty()) {
    parser.Complain("RUN is missing.");
    return kExitWrongUse;
  }
  const Result<Compaction> compaction = [&] {
    const ProgressNote note("summing " + run);
    return CompactRun(run, operations, RetentionOf(retention));
  }();
  if (!compaction.ok()) {
    PrintError(compaction.error());
    return kExitUnreadable;
  }
  PrintMessage(Summary(*compaction));
  return 0;
}

}  // namespace gpubound
