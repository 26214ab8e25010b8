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
#include "tools/commands/open_page.h"
#include "tools/commands/report_file.h"
#include "tools/commands/report_page.h"
#include "tools/commands/shell_quote.h"
#include "tools/console/console.h"
#include "tools/launch/run_directory.h"

namespace gpubound {
namespace {

// The replays of a run of 1.3 MB with 140,000 events took 0.6 s on two busy cores.
constexpr uint64_t kReplayedBytes = 2'000'000;

// A page of a run of 1e7 events, 60 MB, takes 1.5 s to write.
constexpr uint64_t kPagedBytes = 60'000'000;

// Into the run's folder. Empty where it is not there: nobody asked for it, so nothing is wrong.
std::string WritePage(const AnalyzedRun& analyzed) {
  const std::string& run = analyzed.run.path;
  if (BundledPage().empty() || analyzed.report.processes.empty() || TraceBytes(run) > kPagedBytes) {
    return {};
  }
  const Result<std::string> page = PageOf(analyzed);
  if (!page.ok()) return {};
  std::string file = PageInRun(run);
  return WriteWholeFile(file, *page, /*force=*/false).ok() ? file : std::string();
}

}  // namespace

ReportOptions SummaryOptions(const std::string& directory) {
  ReportOptions options;
  options.replays = TraceBytes(directory) <= kReplayedBytes;
  options.what_if = true;  // the page has it
  options.why_not_replayed = "left out here: gpubound report corrects it";
  options.calibration_folder = CalibrationFolder();
  return options;
}

void PrintSummary(const std::string& directory) {
  const Result<AnalyzedRun> analyzed = LoadRunAndReport(directory, SummaryOptions(directory));
  if (!analyzed.ok()) return PrintError(analyzed.error());
  TextOptions options = TextOptionsFor(FactsOf(STDERR_FILENO), EnvironmentVariable);
  options.names_more = false;  // options of a command that follows only below
  WriteStderr(RenderText(analyzed->report, options));
  WriteStderr(fmt::format("\ntrace: {}\n", EscapeName(directory)));
  if (const std::string page = WritePage(*analyzed); !page.empty()) {
    WriteStderr(fmt::format("page:  {}\n", FileUrl(page)));
  }
  WriteStderr(fmt::format("more:  gpubound report {}\n", ShellQuote(directory)));
}

}  // namespace gpubound
