// SPDX-License-Identifier: Apache-2.0
//
// `gpubound check RUN --require ...`: holds a run to what was expected of it, for CI.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <variant>

#include "analysis/base/suggestion.h"
#include "analysis/base/text_table.h"
#include "analysis/calibration/calibration_file.h"
#include "analysis/correction/report_options.h"
#include "analysis/output/check/check.h"
#include "analysis/report/simulated_mark.h"
#include "tools/commands/commands.h"
#include "tools/commands/load_report.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/commands/report_file.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

constexpr CommandHelp kCheckHelp = {
    "gpubound check", "[OPTIONS] [RUN] --require EXPRESSION",
    "Holds a run to what is expected of it. RUN is the directory of a run; without it, the newest\n"
    "*.gpubound directory here.",
    "EXPRESSION is FIGURE COMPARISON BOUND. FIGURE: gpu_busy, idle, inflation, wall and others of "
    "the\n"
    "run; OPERATION.wall, OPERATION.gpu_busy, ... of an operation; iteration.median, ...;\n"
    "ledger.COUNTER; FIGURE@PROCESS of every process of that name or pid; time_to(METRIC>=VALUE) "
    "of\n"
    "a metric that the program records; or a JSON pointer into the report JSON.\n"
    "COMPARISON: >= <= > < == !=. BOUND: 40%, 12.5ms, 2x, 100, or 1.1x baseline.\n"
    "gpu_limited and pointers replay the run, which takes several times as long.\n"
    "A figure that is a range, because GPU time is unknown in part, cannot decide every\n"
    "requirement, and a run of which nothing was recorded decides none; one that cannot be\n"
    "decided does not pass.\n"
    "Exit status: 0 if all hold; 1 if one fails or cannot be decided; 2 for an expression that\n"
    "cannot be understood, or if they hold and a file cannot be written; 3 if a run cannot be\n"
    "read, in which case FILE of --junit has an error for each requirement.\n",
    "  gpubound check a.gpubound --require 'gpu_busy>=40%' --require 'idle<=50%'\n"
    "  gpubound check --baseline a.gpubound --require 'wall<=1.1x baseline'\n"
    "  gpubound check a.gpubound --require 'iteration.median<250ms' --junit check.xml\n"
    "  gpubound check a.gpubound --require 'time_to(return>=450)<=60s'\n"
    "  gpubound check a.gpubound --require 'ledger.chunks_corrupt==0'\n"};

struct CheckArguments {
  std::string run;
  std::string baseline;
  std::string junit;
  std::vector<std::string> expressions;
  bool json = false;
  bool force = false;
};

std::string DidYouMean(const std::string& word, const std::vector<std::string>& known,
                       const std::string& meant = "") {
  const std::string closest = meant.empty() ? ClosestName(word, known) : meant;
  return closest.empty() ? "" : fmt::format(" Did you mean '{}'?", EscapeName(closest));
}

void PrintMistake(const std::string& expression, const RequirementMistake& mistake) {
  const std::string before = EscapeName(expression.substr(0, mistake.column - 1));
  const std::string expected =
      mistake.expected.empty() ? "" : fmt::format(", expected {}", mistake.expected);
  PrintFailure(
      fmt::format("understanding the requirement '{}': at column {} found {}{}.{}\n  {}\n  {:>{}}",
                  EscapeName(expression), mistake.column, mistake.found, expected,
                  DidYouMean(mistake.word, mistake.known, mistake.meant), EscapeName(expression),
                  '^', DisplayWidth(before) + 1));
}

// Nothing where one cannot be understood, which has been said.
std::optional<std::vector<Requirement>> ParseAll(const std::vector<std::string>& expressions) {
  std::vector<Requirement> requirements;
  for (const std::string& expression : expressions) {
    auto parsed = ParseRequirement(expression);
    if (const auto* mistake = std::get_if<RequirementMistake>(&parsed)) {
      PrintMistake(expression, *mistake);
      return std::nullopt;
    }
    requirements.push_back(std::move(*std::get_if<Requirement>(&parsed)));
  }
  return requirements;
}

std::string Line(const CheckResult& result, size_t width, const TextOptions& options) {
  const bool holds = result.outcome == Outcome::kHolds;
  const char* mark = holds ? "ok    " : result.outcome == Outcome::kFails ? "FAILED" : "OPEN  ";
  const char* colour = holds ? "32" : result.outcome == Outcome::kFails ? "1;31" : "1;33";
  std::string text = options.color ? fmt::format("\x1b[{}m{}\x1b[0m", colour, mark) : mark;
  const std::string requirement = EscapeName(result.requirement);
  text += "  " + PadRight(requirement, static_cast<int>(width), options.unicode) + "  ";
  std::string found = EscapeName(result.found);
  if (!holds && !result.allowed.empty()) found += ", expected " + result.allowed;
  if (!result.why.empty()) found += (found.empty() ? "" : "; ") + EscapeName(result.why);
  if (result.outcome == Outcome::kUndecided) found = "cannot be decided: " + found;
  const std::string closest = DidYouMean(result.word, result.known);
  return text + found + (closest.empty() ? "" : ".") + closest + "\n";
}

std::string MarkLine(const Report& report, const TextOptions& options) {
  const std::string mark = SimulatedMark(report);
  return mark.empty() ? "" : Wrap(mark, options.width, 2);
}

std::string Lines(const std::vector<CheckResult>& results, const TextOptions& options) {
  int width = 0;
  for (const CheckResult& result : results) {
    width = std::max(width, DisplayWidth(EscapeName(result.requirement)));
  }
  std::string text;
  for (const CheckResult& result : results) {
    text += Line(result, static_cast<size_t>(width), options);
  }
  const auto held = std::count_if(results.begin(), results.end(), [](const CheckResult& result) {
    return result.outcome == Outcome::kHolds;
  });
  return text + fmt::format("{} of {} {}.\n", held, Counted(results.size(), "requirement"),
                            results.size() == 1 ? "holds" : "hold");
}

// What has to be known of a run that those |requirements| are about which |concern| names.
ReportOptions OptionsFor(const std::vector<Requirement>& requirements,
                         bool (*concern)(const Requirement&)) {
  ReportOptions options;
  options.replays = std::any_of(requirements.begin(), requirements.end(),
                                [&](const auto& one) { return concern(one) && NeedsReplays(one); });
  const bool names_any_part = std::any_of(
      requirements.begin(), requirements.end(),
      [&](const Requirement& one) { return concern(one) && !one.figure.pointer.empty(); });
  options.detail = names_any_part ? ReportDetail::kAll : ReportDetail::kBreakdown;
  options.calibration_folder = CalibrationFolder();
  for (const Requirement& one : requirements) {
    if (one.figure.target.empty() || !concern(one)) continue;
    if (const Result<Target> target = ParseTarget(one.figure.target); target.ok()) {
      options.targets.push_back(*target);
    }
  }
  return options;
}

// A figure may be missing because its operation is one of other threads: of these the breakdown
// alone does not know.
bool MissesAny(const Report& report, const std::vector<Requirement>& requirements) {
  return std::any_of(requirements.begin(), requirements.end(), [&report](const Requirement& one) {
    return FindFigures(report, one.figure).missing.has_value();
  });
}

int StoreJUnit(const std::vector<CheckResult>& results, const std::string& run,
               const CheckArguments& arguments) {
  if (arguments.junit.empty()) return kExitSuccess;
  return StoreAs(arguments.junit, RenderJUnit(results, run), arguments.force, kExitCheckFailed);
}

// What is said of each where there is no report: a file that an earlier check left behind would
// still say that all hold.
std::vector<CheckResult> UndecidedBy(const Error& error,
                                     const std::vector<Requirement>& requirements) {
  std::vector<CheckResult> results;
  for (const Requirement& requirement : requirements) {
    CheckResult& result = results.emplace_back();
    result.requirement = requirement.text;
    result.why = error.ToString();
    std::replace(result.why.begin(), result.why.end(), '\n', ' ');  // in front of the remedy
  }
  return results;
}

bool IsOfBaseline(const Requirement& requirement) {
  return requirement.bound.unit == BoundUnit::kOfBaseline;
}

}  // namespace

int CheckRun(const Arguments& words) {
  CheckArguments arguments;
  OptionParser parser(kCheckHelp);
  parser.AddOption("RUN", &arguments.run, "Directory of a run").Value("");
  parser.AddOption("--require", &arguments.expressions, "What has to hold; may be repeated")
      .Value("EXPRESSION")
      .TakeOneEach();
  parser.AddOption("--baseline", &arguments.baseline, "Run that 'baseline' stands for")
      .Check(NotEmpty())
      .Value("RUN");
  parser
      .AddOption("--junit", &arguments.junit, "Write the results as JUnit's XML too; to - instead")
      .Check(NotEmpty())
      .Value("FILE");
  parser.AddFlag("--json", &arguments.json, "JSON (gpubound.check.v1), the stable form");
  parser.AddFlag("--force", &arguments.force, "Let --junit replace any file");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  if (arguments.expressions.empty()) {
    parser.Complain("there is nothing to check: --require is missing.");
    return kExitWrongUse;
  }
  const auto requirements = ParseAll(arguments.expressions);
  if (!requirements) return kExitWrongUse;
  const bool needs_baseline = std::any_of(requirements->begin(), requirements->end(), IsOfBaseline);
  if (needs_baseline && arguments.baseline.empty()) {
    parser.Complain("a requirement speaks of a baseline, and --baseline names none.");
    return kExitWrongUse;
  }
  if (!needs_baseline && !arguments.baseline.empty()) {
    parser.Complain("--baseline names a run, and no requirement speaks of a baseline.");
    return kExitWrongUse;
  }
  const bool junit_alone = IsStdout(arguments.junit);
  if (junit_alone && arguments.json) {
    parser.Complain("--json and --junit - both write to stdout.");
    return kExitWrongUse;
  }
  if (RefusePlace(arguments.junit, arguments.force)) return kExitWrongUse;

  PrepareAnalysis();
  ReportOptions known = OptionsFor(*requirements, [](const Requirement&) { return true; });
  Result<AnalyzedRun> analyzed = LoadRunAndReport(arguments.run, known);
  if (analyzed.ok() && known.detail != ReportDetail::kAll &&
      MissesAny(analyzed->report, *requirements)) {
    known.detail = ReportDetail::kAll;
    analyzed = LoadRunAndReport(arguments.run, known);
  }
  const auto unreadable = [&](const Error& error) {
    PrintError(error);
    StoreJUnit(UndecidedBy(error, *requirements), arguments.run, arguments);
    return kExitUnreadable;
  };
  if (!analyzed.ok()) return unreadable(analyzed.error());
  const Report& report = analyzed->report;
  Result<Report> baseline = Report{};
  if (needs_baseline) {
    baseline = LoadReport(arguments.baseline, OptionsFor(*requirements, IsOfBaseline));
  }
  if (!baseline.ok()) return unreadable(baseline.error());
  for (const Requirement& requirement : *requirements) {
    if (const auto mistake = MistakeIn(requirement, report)) {
      PrintMistake(requirement.text, *mistake);
      return kExitWrongUse;
    }
  }
  std::vector<CheckResult> results;
  for (const Requirement& requirement : *requirements) {
    results.push_back(Judge(requirement, report, needs_baseline ? &*baseline : nullptr));
  }
  const TextOptions options = TextOptionsFor(FactsOf(STDOUT_FILENO), EnvironmentVariable);
  const int printed = junit_alone ? kExitSuccess
                      : arguments.json
                          ? WriteStdout(RenderCheckJson(results, report.device_kind))
                          : WriteStdout(MarkLine(report, options) + Lines(results, options));
  const int stored = StoreJUnit(results, analyzed->run.path, arguments);
  if (!AllHold(results)) return kExitCheckFailed;
  return printed == kExitSuccess && stored == kExitSuccess ? kExitSuccess : kExitWrongUse;
}

}  // namespace gpubound
