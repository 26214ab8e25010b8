// SPDX-License-Identifier: Apache-2.0
//
// `gpubound report [RUN]`: where the time of a run went, as text or JSON.
#include <unistd.h>

#include "analysis/report.h"
#include "analysis/report_csv.h"
#include "analysis/report_json.h"
#include "analysis/report_text.h"
#include "tools/commands.h"
#include "tools/console.h"
#include "tools/exit_codes.h"
#include "tools/load_report.h"
#include "tools/option_parser.h"

namespace gpubound {
namespace {

constexpr CommandHelp kHelp = {
    "gpubound report", "[OPTIONS] [RUN]",
    "Prints where the time of each operation went, and how much of it the GPU was really working.\n"
    "RUN is the directory of a run; without it, the newest *.gpubound directory here.",
    "Tables of --by: one for each word of the list. --attribution timeline: GPU time that passed\n"
    "while an operation was open; caused: of the work that it launched.\n"
    "Exit status: 0, or 3 if the run cannot be read.\n",
    "  gpubound report\n"
    "  gpubound report train.gpubound --by phase,operation --kernels\n"
    "  gpubound report train.gpubound --json > report.json\n"};

struct ReportArguments {
  std::string run;
  bool json = false;
  bool csv = false;
  TextOptions text;
  ReportOptions model;
};

std::optional<int> ParseReportArguments(const Arguments& words, ReportArguments* arguments) {
  OptionParser parser(kHelp);
  CLI::App& app = parser.app();
  app.add_option("RUN", arguments->run, "Directory of a run")->type_name("");
  app.add_flag("--json", arguments->json, "JSON (gpubound.report.v1), the stable form");
  app.add_flag("--csv", arguments->csv, "Operations as comma-separated values");
  parser.AddListOption(
      "--by", &arguments->text.by,
      {"operation", "phase", "process", "device", "layer", "thread", "iteration", "gap"}, "Tables");
  parser.AddListOption("--attribution", &arguments->text.attribution, {"timeline", "caused"},
                       "GPU time");
  app.add_flag("--kernels", arguments->text.kernels, "List the kernels and copies too");
  app.add_flag("--raw", arguments->text.raw, "Times as integers, in ns");
  app.add_option("--operations", arguments->model.operations,
                 "Foreign ranges that count as operations: nvtx:DOMAIN, all")
      ->type_name("WHICH")
      ->take_all();
  return parser.Parse(words, kExitWrongUse);
}

}  // namespace

int PrintReport(const Arguments& words) {
  ReportArguments arguments;
  const TextOptions terminal = TextOptionsFor(FactsOf(STDOUT_FILENO), EnvironmentVariable);
  arguments.text.width = terminal.width;
  arguments.text.color = terminal.color;
  arguments.text.unicode = terminal.unicode;
  if (const auto over = ParseReportArguments(words, &arguments)) return *over;
  const Result<Report> report = LoadReport(arguments.run, arguments.model);
  if (!report.ok()) {
    PrintError(report.error());
    return kExitUnreadable;
  }
  if (arguments.csv) return WriteStdout(RenderCsv(*report));
  return WriteStdout(arguments.json ? RenderJson(*report) : RenderText(*report, arguments.text));
}

}  // namespace gpubound
