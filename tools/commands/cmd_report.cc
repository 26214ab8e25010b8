// SPDX-License-Identifier: Apache-2.0
//
// `gpubound report [RUN]`: where the time of a run went, as text, as JSON, as a page or
// as a figure.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "analysis/base/text_table.h"
#include "analysis/calibration/calibration_file.h"
#include "analysis/correction/report_options.h"
#include "analysis/output/export/report_csv.h"
#include "analysis/output/export/summary_json.h"
#include "analysis/output/text/report_screen.h"
#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"
#include "analysis/report/report_json.h"
#include "analysis/report/simulated_mark.h"
#include "tools/commands/cluster_parts.h"
#include "tools/commands/commands.h"
#include "tools/commands/load_report.h"
#include "tools/commands/open_page.h"
#include "tools/commands/operations_option.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/commands/repeated_run.h"
#include "tools/commands/report_file.h"
#include "tools/commands/report_page.h"
#include "tools/commands/report_plot.h"
#include "tools/commands/target_option.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

constexpr CommandHelp kReportHelp = {
    "gpubound report", "[OPTIONS] [RUN...]",
    "Prints where the time of each operation went, and how much of it the GPU was really working.\n"
    "RUN is the directory of a run; without it, the newest *.gpubound directory here. Only --plot\n"
    "takes more than one.",
    "Without options: one screen with what limits the run, what to do, and what that would bring;\n"
    "--full has all sections. --by: one table for each word of the list, and nothing else.\n"
    "--html without FILE writes RUN/report.html. --attribution timeline: GPU time that passed\n"
    "while an operation was open; caused: of the work that it launched.\n"
    "Columns: 'wall' is the sum of 'cpu only' (GPU idle, CPU working), 'cpu+gpu' (both), 'gpu "
    "only'\n"
    "(GPU busy, CPU waiting for it or blocked), 'waiting' (GPU idle, CPU waiting for another\n"
    "process), 'idle' (neither) and 'unknown' (the GPU may have worked unrecorded). 'GPU busy' is "
    "the\n"
    "GPU time that passed in the row, 'caused' that of what was launched there. Columns of "
    "nothing\n"
    "but zeros are left out, but not with --raw. Bars are as long as the row's share of the span.\n"
    "Exit status: 0, 1 if a file cannot be written, 2 for wrong use, or 3 if the run cannot be\n"
    "read.\n",
    "  gpubound report\n"
    "  gpubound report train.gpubound --by phase,operation --kernels\n"
    "  gpubound report train.gpubound --open\n"
    "  gpubound report train.gpubound --json > report.json\n"
    "  gpubound report train.gpubound --target 'return>=450 over 20'\n"
    "  gpubound report --format markdown | gh pr comment --body-file -\n"
    "  gpubound report ppo1.gpubound ppo2.gpubound dqn.gpubound --plot figure.svg\n"};

constexpr int kUnlimitedWidth = 1'000'000;
constexpr double kLongestTimeoutS = 1e6;
constexpr char kPageOfRun[] = "RUN/report.html";  // of --html without a file

struct ReportArguments {
  std::vector<std::string> runs;
  bool json = false;
  bool all_processes = false;
  bool summary = false;
  bool csv = false;
  std::string format;  // of the text: "markdown"; empty: for a terminal
  std::string html;    // file to write; empty: none
  bool open = false;
  std::string plot;  // as |html|
  std::vector<std::string> group_by;
  bool no_replay = false;
  std::string engine;    // that makes the parts; empty: none is needed
  double timeout_s = 0;  // for its parts; 0: none
  bool force = false;
  TextOptions text;
  ReportOptions model;
};

// Of options of which one would be ignored; empty where they go together.
std::string Contradiction(const OptionParser& parser, const std::string& format) {
  constexpr std::array kOutputs = {"--json", "--csv", "--html", "--plot", "--format"};
  constexpr std::array kOfText = {"--full", "--by", "--attribution", "--kernels", "--raw"};
  const auto given = [&](const char* name) {
    if (format == "text" && name == std::string_view("--format")) return false;
    return parser.Given(name);
  };
  if (given("--summary") && !given("--json")) return "--summary is about --json, which is missing.";
  if (given("--all-processes") && (!given("--json") || given("--summary"))) {
    return "--all-processes is about --json without --summary.";
  }
  if (given("--group-by") && !given("--plot"))
    return "--group-by is about --plot, which is missing.";
  if (given("--timeout") && !given("--on")) return "--timeout is about --on, which is missing.";
  const auto* const output = std::find_if(kOutputs.begin(), kOutputs.end(), given);
  if (output == kOutputs.end()) return "";
  const auto* const other = std::find_if(output + 1, kOutputs.end(), given);
  if (other != kOutputs.end()) return fmt::format("{} and {} exclude each other.", *output, *other);
  const auto* const text = std::find_if(kOfText.begin(), kOfText.end(), given);
  if (text == kOfText.end()) return "";
  return fmt::format("{} is about the text, which {} replaces.", *text, *output);
}

std::optional<int> ParseReportArguments(const Arguments& words, ReportArguments* arguments) {
  OptionParser parser(kReportHelp);
  parser.AddOption("RUN", &arguments->runs, "Directory of a run").Value("");
  parser.AddFlag("--json", &arguments->json, "JSON (gpubound.report.v1), the stable form");
  parser.AddFlag("--all-processes", &arguments->all_processes,
                 "With --json: every process, not the 64 of most interest");
  parser.AddFlag("--summary", &arguments->summary,
                 "With --json: verdict, evidence, savings and next commands, below 4 KB");
  parser.AddOption("--format", &arguments->format, "The screen as Markdown, for a pull request")
      .Check(OneOf({"text", "markdown"}))
      .Value("FORMAT");
  parser.AddFlag("--csv", &arguments->csv, "Operations as comma-separated values");
  parser.AddOption("--html", &arguments->html, "Write a page to look at in a browser; - is stdout")
      .Check(NotEmpty())
      .Value("FILE")
      .OrWithout(kPageOfRun);
  parser.AddFlag("--open", &arguments->open, "Write the page and open it in a browser");
  parser.AddOption("--plot", &arguments->plot, "Draw bars and transitions for a paper, as .svg")
      .Check(NotEmpty())
      .Value("FILE");
  parser
      .AddOption("--group-by", &arguments->group_by,
                 "Metadata by which --plot groups runs (algorithm,environment)")
      .Value("KEYS")
      .SplitAtCommas();
  parser.AddFlag("--full", &arguments->text.full,
                 "Every section at length, not one screen and details in short");
  parser.AddListOption("--by", &arguments->text.by,
                       {"operation", "kernel", "phase", "process", "device", "layer", "thread",
                        "iteration", "gap", "transition", "frame", "category", "op", "shape"},
                       "Tables");
  parser.AddListOption("--attribution", &arguments->text.attribution, {"timeline", "caused"},
                       "GPU time");
  parser.AddFlag("--kernels", &arguments->text.kernels,
                 "List kernels and copies by the operation that launched them");
  parser.AddFlag("--raw", &arguments->text.raw, "Times as integers, in ns");
  std::string window;
  parser
      .AddOption(
          "--window", &window,
          "What the headline is about: the iterations (step), from the first to the last GPU "
          "work (work), or all (whole); the others stand beside it")
      .Check(OneOf({"step", "work", "whole"}))
      .Value("WINDOW");
  AddOperationsOption(&parser, &arguments->model.operations);
  std::vector<std::string> targets;
  AddTargetOption(&parser, &targets);
  parser.AddFlag(
      "--no-replay", &arguments->no_replay,
      "Recorded values alone, several times as fast: no corrected ones, no critical path");
  parser
      .AddOption("--on", &arguments->engine,
                 "Reduce each machine's files there: local:N, slurm, ray, ray://HOST:PORT, "
                 "dask://HOST:PORT")
      .Check(NotEmpty())
      .Value("ENGINE");
  parser
      .AddOption("--timeout", &arguments->timeout_s,
                 "With --on: go on without machines whose part has not come by then")
      .Check(NumberWithin(1, kLongestTimeoutS))
      .Value("SECONDS");
  parser.AddFlag("--force", &arguments->force, "Let --html and --plot replace any file");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return over;
  arguments->model.targets = TargetsOf(targets);
  if (std::erase(arguments->text.by, "kernel") > 0) arguments->text.kernels = true;
  // The run, not a file to write: "report --html RUN".
  if (arguments->runs.empty() && std::filesystem::is_directory(arguments->html)) {
    arguments->runs.push_back(std::exchange(arguments->html, kPageOfRun));
  }
  if (arguments->open && arguments->html.empty()) arguments->html = kPageOfRun;
  if (window == "work") arguments->model.window = ReportWindow::kWork;
  if (window == "whole") arguments->model.window = ReportWindow::kWhole;
  std::string complaint = Contradiction(parser, arguments->format);
  if (complaint.empty() && !arguments->plot.empty() && !arguments->plot.ends_with(".svg")) {
    complaint = "--plot writes SVG, and '" + EscapeName(arguments->plot) +
                "' does not end in .svg (rsvg-convert -f pdf FILE.svg makes a PDF).";
  } else if (complaint.empty() && arguments->runs.size() > 1 && arguments->plot.empty()) {
    complaint = "'" + EscapeName(arguments->runs[1]) +
                "' is one argument too many: only --plot takes several runs";
  }
  if (complaint.empty()) complaint = FindRunGivenTwice("--plot", arguments->runs).value_or("");
  if (complaint.empty()) return std::nullopt;
  parser.Complain(complaint);
  return kExitWrongUse;
}

int DrawFigure(const ReportArguments& arguments) {
  const Result<PlotInput> input = LoadForPlot(arguments.runs, arguments.model);
  if (!input.ok()) {
    PrintError(input.error());
    return kExitUnreadable;
  }
  if (const Status known = CheckPlotKeys(*input, arguments.group_by); !known.ok()) {
    PrintError(known.error());
    return kExitWrongUse;
  }
  const std::vector<std::string> usual = {"algorithm", "environment"};
  const std::vector<PlotGroup> groups =
      GroupForPlot(input->runs, arguments.group_by.empty() ? usual : arguments.group_by);
  return StoreAs(arguments.plot, RenderPlot(groups), arguments.force, kExitCheckFailed);
}

int StorePage(const ReportArguments& arguments, const AnalyzedRun& analyzed) {
  const bool in_run = arguments.html == kPageOfRun;
  const std::string file = in_run ? PageInRun(analyzed.run.path) : arguments.html;
  const int status = StoreAs(file, PageOf(analyzed), arguments.force, kExitCheckFailed);
  if (status != 0 || IsStdout(file)) return status;
  if (in_run) PrintMessage("page: " + FileUrl(file));
  if (!arguments.open || OpenInBrowser(file)) return status;
  PrintWarning("No browser could be started: open " + FileUrl(file) + " yourself.");
  return kExitCheckFailed;
}

}  // namespace

int PrintReport(const Arguments& words) {
  ReportArguments arguments;
  const StreamFacts stream = FactsOf(STDOUT_FILENO);
  const TextOptions terminal = TextOptionsFor(stream, EnvironmentVariable);
  arguments.text.width = terminal.width;
  arguments.text.color = terminal.color;
  arguments.text.unicode = terminal.unicode;
  if (const auto over = ParseReportArguments(words, &arguments)) return *over;
  // Who reads exact figures out of a pipe wants whole names.
  if (arguments.text.raw && !stream.is_terminal && EnvironmentVariable("COLUMNS") == nullptr) {
    arguments.text.width = kUnlimitedWidth;
  }
  const bool in_run = arguments.html == kPageOfRun;
  const std::string file = !arguments.plot.empty() ? arguments.plot
                           : in_run                ? std::string()
                                                   : arguments.html;
  if (const auto refused = RefusePlace(file, arguments.force)) return *refused;
  PrepareAnalysisOfMapped();
  if (!arguments.plot.empty()) return DrawFigure(arguments);
  arguments.model.replays = !arguments.no_replay;
  arguments.model.why_not_replayed = "--no-replay leaves that out";
  arguments.model.savings = !arguments.csv;
  arguments.model.what_if = !arguments.html.empty();
  arguments.model.calibration_folder = CalibrationFolder();
  std::string run = arguments.runs.empty() ? std::string() : arguments.runs.front();
  std::optional<PartsOfCluster> parts;
  if (!arguments.engine.empty()) {
    parts.emplace();
    const int status =
        parts->Make(run, {arguments.engine, arguments.timeout_s, arguments.model.operations});
    if (status != 0) return status;
    arguments.model.operations.clear();
    run = parts->path();
  }
  const Result<AnalyzedRun> analyzed = LoadRunAndReport(run, arguments.model);
  if (!analyzed.ok()) {
    PrintError(analyzed.error());
    return kExitUnreadable;
  }
  if (!arguments.html.empty()) return StorePage(arguments, *analyzed);
  const Report& report = analyzed->report;
  if (arguments.csv) {
    // The table has no place for it.
    if (const std::string mark = SimulatedMark(report); !mark.empty()) PrintMessage(mark);
    return WriteStdout(RenderCsv(report));
  }
  if (arguments.summary) return WriteStdout(RenderSummaryJson(report));
  if (arguments.format == "markdown") return WriteStdout(RenderMarkdown(report));
  const size_t most = arguments.all_processes ? report.processes.size() : kMostJsonProcesses;
  return WriteStdout(arguments.json ? RenderJson(report, most)
                                    : RenderText(report, arguments.text));
}

}  // namespace gpubound
