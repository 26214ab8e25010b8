// SPDX-License-Identifier: Apache-2.0
//
// `gpubound compare A B...`: what differs between runs, or groups of repeated runs, and how sure
// that is.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "analysis/base/text_table.h"
#include "analysis/correction/report_options.h"
#include "analysis/output/check/compare.h"
#include "tools/commands/commands.h"
#include "tools/commands/load_report.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/option_values.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/commands/repeated_run.h"
#include "tools/commands/report_file.h"
#include "tools/commands/report_page.h"
#include "tools/commands/target_option.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

constexpr CommandHelp kCompareHelp = {
    "gpubound compare", "[OPTIONS] RUN RUN... | RUN... -- RUN... | --group NAME=RUN,RUN...",
    "Prints how much faster or slower runs are than the first, and which operation made them so;\n"
    "--full also how GPU busy, GPU time of each operation and idle time by cause differ.",
    "Each RUN stands for itself; '--' separates groups of repeated runs instead, and --group "
    "names\n"
    "them. With several runs in both groups the interval is over runs, else over the iterations "
    "after\n"
    "warm-up. Differences whose 95 % interval excludes zero are marked, and coloured on a\n"
    "terminal. Where every run counts its work (gpubound.step(env_steps=N)), times are for so\n"
    "much work, whatever an iteration does.\n"
    "Exit status: 0; 1 if a file cannot be written; 2 for wrong use; 3 if a run cannot be\n"
    "read.\n",
    "  gpubound compare before.gpubound after.gpubound\n"
    "  gpubound compare before.gpubound after.gpubound --html compare.html\n"
    "  gpubound compare old1.gpubound old2.gpubound -- new1.gpubound new2.gpubound\n"
    "  gpubound compare --target 'return>=450' old*.gpubound -- new*.gpubound\n"
    "  gpubound compare --group v1=a.gpubound,b.gpubound --group v2=c.gpubound --json\n"};

// A to Z, then A2 to Z2 and so on.
std::string LetterOf(size_t group) {
  const std::string round = group < 26 ? "" : std::to_string(group / 26 + 1);
  return std::string(1, static_cast<char>('A' + group % 26)) + round;
}

// RUN... -- RUN...: |words| is left with what stands before the first mark.
std::vector<RunGroup> TakeMarkedGroups(Arguments* words) {
  std::vector<RunGroup> groups;
  const auto mark = std::find(words->begin(), words->end(), "--");
  for (auto word = mark; word != words->end(); ++word) {
    if (*word == "--") {
      groups.emplace_back();
    } else {
      groups.back().runs.push_back(*word);
    }
  }
  words->erase(mark, words->end());
  return groups;
}

// NAME=RUN,RUN... Nothing where it is something else.
std::optional<RunGroup> ParseNamedGroup(const std::string& text) {
  const size_t equal = text.find('=');
  if (equal == 0 || equal == std::string::npos) return std::nullopt;
  RunGroup group;
  group.name = text.substr(0, equal);
  for (size_t at = equal + 1; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    group.runs.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return group;
}

std::optional<std::string> FindSameName(const std::vector<RunGroup>& groups) {
  std::set<std::string> names;
  for (const RunGroup& group : groups) {
    if (names.insert(group.name).second) continue;
    return fmt::format("two groups are called '{}'; give each a name of its own.",
                       EscapeName(group.name));
  }
  return std::nullopt;
}

// The groups in the order of the command line; a complaint where they make no sense.
std::optional<std::string> CollectGroups(const std::vector<std::string>& runs,
                                         const std::vector<std::string>& named,
                                         std::vector<RunGroup> marked,
                                         std::vector<RunGroup>* groups) {
  if (!named.empty() && (!runs.empty() || !marked.empty())) {
    return "runs stand beside --group; name all of them in groups, or none.";
  }
  for (const std::string& text : named) {
    std::optional<RunGroup> group = ParseNamedGroup(text);
    if (!group) {
      return fmt::format("--group has '{}', expected NAME=RUN,RUN...", EscapeName(text));
    }
    groups->push_back(std::move(*group));
  }
  for (const RunGroup& group : marked) {
    for (const std::string& run : group.runs) {
      if (!run.starts_with('-')) continue;
      return fmt::format("'{}' stands after '--', where only runs can; options come first.",
                         EscapeName(run));
    }
  }
  if (!marked.empty()) {
    groups->push_back({"", runs, {}});
    for (RunGroup& group : marked) groups->push_back(std::move(group));
  } else {
    for (const std::string& run : runs) groups->push_back({"", {run}, {}});
  }
  for (size_t group = 0; group < groups->size(); ++group) {
    std::vector<std::string>& of_group = (*groups)[group].runs;
    const bool empty = std::any_of(of_group.begin(), of_group.end(),
                                   [](const std::string& run) { return run.empty(); });
    if (of_group.empty() || empty) return "a group has no run.";
    if ((*groups)[group].name.empty()) (*groups)[group].name = LetterOf(group);
    const std::string owner = fmt::format("group '{}'", EscapeName((*groups)[group].name));
    if (auto complaint = FindRunGivenTwice(owner, of_group)) return complaint;
  }
  if (groups->size() < 2) return "there is nothing to compare with: expected two runs or groups.";
  return FindSameName(*groups);
}

}  // namespace

int CompareRuns(const Arguments& all_words) {
  Arguments words = all_words;
  std::vector<RunGroup> marked = TakeMarkedGroups(&words);
  std::vector<std::string> runs;
  std::vector<std::string> named;
  uint64_t seed = 1;
  bool full = false;
  std::string format;
  bool json = false;
  bool force = false;
  std::string html;  // file to write; empty: none
  OptionParser parser(kCompareHelp);
  parser.AddOption("RUN", &runs, "Directories of runs").Value("");
  parser.AddOption("--group", &named, "A group of repeated runs; may be repeated")
      .Value("NAME=RUN,RUN...")
      .TakeOneEach();
  parser.AddOption("--seed", &seed, "Where the random numbers begin (default: 1)")
      .Check(WholeNumber(0, UINT64_MAX))
      .Value("N");
  std::vector<std::string> targets;
  AddTargetOption(&parser, &targets);
  parser.AddFlag("--full", &full, "Every figure, not one screen");
  parser.AddOption("--format", &format, "The screen as Markdown, for a pull request")
      .Check(OneOf({"text", "markdown"}))
      .Value("FORMAT");
  parser.AddFlag("--json", &json, "JSON (gpubound.compare.v1), the stable form");
  parser.AddOption("--html", &html, "Write a page to look at in a browser; - is stdout")
      .Check(NotEmpty())
      .Value("FILE");
  parser.AddFlag("--force", &force, "Let --html replace any file");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;

  std::vector<RunGroup> groups;
  if (const auto complaint = CollectGroups(runs, named, std::move(marked), &groups)) {
    parser.Complain(*complaint);
    return kExitWrongUse;
  }
  const bool markdown = format == "markdown";
  if (json && !html.empty()) {
    parser.Complain("--json and --html exclude each other.");
    return kExitWrongUse;
  }
  if (markdown && (json || full || !html.empty())) {
    parser.Complain("--format markdown is the screen alone: leave --full, --json and --html out.");
    return kExitWrongUse;
  }
  if (const auto refused = RefusePlace(html, force)) return *refused;
  PrepareAnalysisOfMapped();
  ReportOptions breakdown;
  breakdown.detail = ReportDetail::kBreakdown;
  breakdown.targets = TargetsOf(targets);
  for (RunGroup& group : groups) {
    for (const std::string& run : group.runs) {
      Result<Report> report = LoadReport(run, breakdown);
      if (!report.ok()) {
        PrintError(report.error());
        return kExitUnreadable;
      }
      group.reports.push_back(std::move(*report));
    }
  }
  const GroupComparison comparison = CompareGroups(groups, seed);
  if (!html.empty()) {
    return StoreAs(html, ComparisonPageOf(comparison, groups), force, kExitCheckFailed);
  }
  TextOptions options = TextOptionsFor(FactsOf(STDOUT_FILENO), EnvironmentVariable);
  options.full = full;
  if (markdown) return WriteStdout(RenderComparisonMarkdown(comparison, groups));
  return WriteStdout(json ? RenderComparisonJson(comparison, groups)
                          : RenderComparison(comparison, groups, options));
}

}  // namespace gpubound
