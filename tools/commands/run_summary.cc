// SPDX-License-Identifier: Apache-2.0
//
// Decides what the summary can afford, and prints it. No state.
#include "tools/commands/run_summary.h"

#include <fmt/format.h>
#include <unistd.h>

#include "analysis/base/text_table.h"
#include "analysis/calibration/calibration_file.h"
#include "analysis/correction/report_options.h"
#include "analysis/output/text/report_text.h"
#include "tools/commands/load_report.h"
#include "tools/commands/shell_quote.h"
#include "tools/console/console.h"
#include "tools/launch/run_directory.h"

namespace gpubound {
namespace {

// The replays of a run of 1.3 MB with 140,000 events took 0.6 s on two busy cores.
constexpr uint64_t kReplayedBytes = 2'000'000;

}  // namespace

ReportOptions SummaryOptions(const std::string& directory) {
  ReportOptions options;
  options.replays = TraceBytes(directory) <= kReplayedBytes;
  options.why_not_replayed = "left out here: gpubound report corrects it";
  options.calibration_folder = CalibrationFolder();
  return options;
}

void PrintSummary(const std::string& directory) {
  const Result<Report> report = LoadReport(directory, SummaryOptions(directory));
  if (!report.ok()) return PrintError(report.error());
  TextOptions options = TextOptionsFor(FactsOf(STDERR_FILENO), EnvironmentVariable);
  options.run = ShellQuote(directory);
  options.names_more = false;  // options of a command that follows only below
  WriteStderr(RenderText(*report, options));
  WriteStderr(fmt::format("\ntrace: {}\nmore:  gpubound report {}\n", EscapeName(directory),
                          ShellQuote(directory)));
}

}  // namespace gpubound
