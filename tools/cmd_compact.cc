// SPDX-License-Identifier: Apache-2.0
//
// `gpubound compact`: sums the older time of a run and keeps the events that are worth their place.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compact.h"
#include "analysis/text_table.h"
#include "tools/commands.h"
#include "tools/console.h"
#include "tools/exit_codes.h"
#include "tools/option_parser.h"
#include "tools/progress_note.h"

namespace gpubound {
namespace {

constexpr CommandHelp kHelp = {
    "gpubound compact", "[OPTIONS] RUN",
    "Sums the older time of a run, exactly, and removes its events but for those around slow\n"
    "iterations. Reports show the totals of the whole run as before. What needs every event is\n"
    "gone: corrected values, what-if, the GPU-limited share. It cannot be undone.",
    "TIME takes s, m, h, d; SIZE takes KB, MB, GB (of 1024). docs/long_runs.md says what is kept.\n"
    "Exit status: 0; 2 for wrong use; 3 if the run cannot be read or changed.\n",
    "  gpubound compact train.gpubound\n"
    "  gpubound compact train.gpubound --window 1h --detail slow:2x --max-size 500MB\n"};

constexpr char kSlow[] = "slow:";

// "slow:3x" as 3, "none" as nothing.
std::string CheckDetail(const std::string& text) {
  if (text == "none") return "";
  double factor = 0;
  if (text.starts_with(kSlow) && text.ends_with('x') &&
      CLI::detail::lexical_cast(text.substr(5, text.size() - 6), factor) && factor >= 1) {
    return "";
  }
  return "'" + text + "' is neither none nor slow:FACTORx with a factor from 1 up, such as slow:3x";
}

std::optional<double> SlowFactor(const std::string& detail) {
  if (detail == "none") return std::nullopt;
  return std::stod(detail.substr(5));
}

std::string Summary(const Compaction& done) {
  constexpr double kMegabyte = 1024.0 * 1024.0;
  return fmt::format(
      "summed the first {} of the run; removed {} events: {:.1f} MB before, {:.1f} now",
      FormatTime(done.summed_ns), done.events_removed,
      static_cast<double>(done.bytes_before) / kMegabyte,
      static_cast<double>(done.bytes_after) / kMegabyte);
}

}  // namespace

int CompactStoredRun(const Arguments& words) {
  std::string run;
  std::string detail = "slow:3x";
  double window_s = 600;
  uint64_t max_bytes = uint64_t{1} << 30;
  std::vector<std::string> operations;
  OptionParser parser(kHelp);
  CLI::App& app = parser.app();
  app.add_option("RUN", run, "Directory of a run")->type_name("");
  app.add_option("--window", window_s, "Newest detail that is kept (10m)")
      ->type_name("TIME")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}},
          CLI::AsNumberWithUnit::CASE_SENSITIVE))
      ->check(CLI::NonNegativeNumber);
  app.add_option("--detail", detail, "Older detail that is kept: slow:3x (default), none")
      ->type_name("WHICH")
      ->check(CheckDetail);
  app.add_option("--max-size", max_bytes, "Size of all events that are kept (1GB)")
      ->type_name("SIZE")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--operations", operations,
                 "Foreign ranges that count as operations: nvtx:DOMAIN, all")
      ->type_name("WHICH")
      ->take_all();
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  if (run.empty()) {
    parser.Complain("RUN is missing.");
    return kExitWrongUse;
  }
  Retention retention;
  retention.window_ns = static_cast<int64_t>(window_s * 1e9);
  retention.max_bytes = max_bytes;
  retention.slow_factor = SlowFactor(detail);
  const ProgressNote note("summing " + run);
  const Result<Compaction> compaction = CompactRun(run, operations, retention);
  if (!compaction.ok()) {
    PrintError(compaction.error());
    return kExitUnreadable;
  }
  PrintMessage(Summary(*compaction));
  return 0;
}

}  // namespace gpubound
