// SPDX-License-Identifier: Apache-2.0
//
// Puts the screen together. No state.
#include "analysis/output/text/report_screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/cause_rules.h"
#include "analysis/diagnosis/diagnose.h"
#include "analysis/diagnosis/diagnosis_kinds.h"
#include "analysis/diagnosis/headline_facts.h"
#include "analysis/output/text/bars.h"
#include "analysis/output/text/headline.h"
#include "analysis/output/text/markdown.h"
#include "analysis/output/text/paint.h"
#include "analysis/output/text/pid_text.h"
#include "analysis/output/text/progress_text.h"
#include "analysis/output/text/rates.h"
#include "analysis/output/text/report_overview.h"
#include "analysis/output/text/report_sections.h"
#include "analysis/output/text/report_stacks.h"
#include "analysis/output/text/savings_text.h"
#include "analysis/output/text/table_legend.h"
#include "analysis/output/text/training_text.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/row_names.h"
#include "analysis/trace/span_end.h"

namespace gpubound {
namespace {

constexpr std::ptrdiff_t kScreenLines = 27;
constexpr size_t kMostCauses = 4;
constexpr double kLeastShare = 0.0005;  // of the time, of a cause of idle time
constexpr int kOneLine = 1'000'000;     // columns
constexpr int kBarColumns = 20;         // columns, and of what bars mean

std::string Lines(const std::string& text, Paint color, const TextOptions& options) {
  const std::string lines = Wrap(text, options.width, 2);
  return Painted(lines.substr(0, lines.size() - 1), color, options) + "\n";
}

// --- The run in a line ---

std::string NameOf(const Report& report, const ReportProcess& process, const TextOptions& options) {
  const std::string name = ShortName(EscapeName(process.name.empty() ? "process" : process.name),
                                     kNameInSentence, options.unicode);
  if (report.processes.size() < 2) return name;
  return name + " (pid " +
         PidText(report.processes, options.unicode).Of(process.pid, process.host) + "), one of " +
         std::to_string(report.processes.size()) + " processes";
}

// How busy the GPU is in the window that the headline is not about, where that differs by much: a
// profile has time before the first work and after the last.
std::string OtherWindowLine(const ReportRun& run, const TextOptions& options) {
  constexpr double kMuch = 0.05;
  const bool is_work = run.headline == "work";
  const double other = is_work ? run.whole_gpu_busy_share : run.work_gpu_busy_share;
  if (run.work_ns == 0 || std::abs(other - run.gpu_busy_share) < kMuch) return {};
  std::string line;
  if (is_work) {
    line = "In the whole run the GPU is busy " +
           Bounded(run.whole_gpu_busy_is_upper_bound,
                   run.gpu_busy_is_lower_bound || run.whole_unknown.share > 0, FormatShare(other));
  } else if (run.headline == "span") {
    line = WorkWindowText(run, options);
    if (!line.empty()) line.front() = 'F';
  }
  return line.empty() ? "" : Wrap(line + ".", options.width, 2);
}

std::string RunLine(const Report& report, const ReportProcess& process,
                    const TextOptions& options) {
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  std::string line = NameOf(report, process, options) + ": " + time(report.run.wall_ns);
  if (process.span_end != SpanEnd::kClosed) line += " (" + SpanEndText(process.span_end) + ")";
  const ReportProcess* const stepping = SteppingProcess(report);
  const ReportProcess& counting = stepping == nullptr ? process : *stepping;
  for (const ReportThroughput& row : counting.throughput) {
    line += ", " + RateText(row.per_second) + " " + WorkText(row.counter) + "/s";
  }
  return Wrap(line + ProgressText(report.run, counting, options) + ".", options.width, 2);
}

std::string IterationLine(const Report& report, const TextOptions& options) {
  const ReportProcess* const stepping = SteppingProcess(report);
  if (stepping == nullptr) return {};
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  const ReportIterations& all = *stepping->iterations;
  std::string line = "Start-up " + time(all.start_up_ns);
  if (all.count == 0) {
    line += "; iterations of warm-up alone, " + time(all.warm_up_ns);
  } else {
    line += "; " + FormatCount(all.count) +
            (all.count == 1 ? " iteration, " : " iterations, median ") + time(all.median_ns) +
            (all.count == 1 ? "" : ", p95 " + time(all.p95_ns));
  }
  return Wrap(line + "; shutdown " + time(all.shutdown_ns) + ".", options.width, 2);
}

// --- How far to believe it ---

std::string CostText(const Report& report) {
  if (report.device_kind == "imported") return "; another tool recorded it";
  const ReportProcess* main = MainProcess(report);
  if (main == nullptr) return {};
  if (main->corrected == nullptr) return "; not corrected for profiling, --full says why";
  const int64_t corrected_ns = main->corrected->process.span_ns;
  return "; profiling cost " + FormatShare(ShareOf(main->span_ns - corrected_ns, corrected_ns)) +
         " of the time";
}

// |text| up to the end of its first sentence, without the full stop.
std::string FirstSentence(const std::string& text) {
  const std::string sentence = text.substr(0, text.find(". "));
  return sentence.ends_with('.') ? sentence.substr(0, sentence.size() - 1) : sentence;
}

// |brief|: its first sentence alone.
std::string QualityLines(const Report& report, const TextOptions& options, bool brief) {
  const std::string& verdict = report.run.verdict;
  const bool doubtful = !verdict.starts_with("complete");
  constexpr size_t kBrief = 150;
  std::string text = brief ? FirstSentence(verdict) : verdict;
  if (brief && text.size() > kBrief) text.resize(text.find_last_of(",; ", kBrief));
  if (text.ends_with('.')) text.pop_back();
  const std::string lines = Lines("Data quality: " + EscapeName(text) + CostText(report) + ".",
                                  doubtful ? Paint::kWarning : Paint::kPlain, options);
  return lines + SimulatedLine(report, options);
}

// What was lost or may be wrong beside the worst, which the verdict names. Figures rest on it, so it
// stands before all of them; notices, with which figures stand, are left to --full.
std::string LossLines(const Report& report, const TextOptions& options, size_t most) {
  std::vector<const ReportLedgerEntry*> losses;
  for (const ReportLedgerEntry& entry : report.ledger) {
    if (entry.severity >= Severity::kDataLoss) losses.push_back(&entry);
  }
  std::string lines;
  for (size_t i = 1; i < losses.size() && i <= most; ++i) {
    const ReportLedgerEntry& loss = *losses[i];
    const std::string what = FirstSentence(loss.help).substr(0, loss.help.find_first_of(":;"));
    const std::string count = loss.counter.ends_with("_ns")
                                  ? FormatTime(static_cast<int64_t>(loss.value))
                                  : FormatCount(loss.value);
    lines += Lines("! " + what + ": " + count + ".", Paint::kWarning, options);
  }
  if (losses.size() > most + 1) {
    const size_t more = losses.size() - most - 1;
    lines += Lines("! " + std::to_string(more) + (most > 0 ? " more" : " other") +
                       (more == 1 ? " kind of loss: " : " kinds of loss: ") +
                       "gpubound doctor RUN names them.",
                   Paint::kWarning, options);
  }
  return lines;
}

// Findings that change what to conclude.
std::string Warnings(const Report& report, const TextOptions& options) {
  std::string lines;
  for (size_t i = 1; i < report.diagnosis.size(); ++i) {
    const ReportDiagnosis& finding = report.diagnosis[i];
    const bool is_after_cores = i == 1 && report.diagnosis.front().kind == kCpuStarvation;
    const bool is_of_means = finding.kind == kStepChange || finding.kind == kSlowIterations;
    if (is_after_cores || is_of_means || finding.kind == kCpuStarvation) {
      lines += Lines("! " + finding.finding, Paint::kWarning, options);
    }
  }
  return lines;
}

// --- The mean iteration ---

struct Row {
  std::string name;
  int64_t wall_ns = 0;
  int64_t busy_ns = 0;
  int64_t unknown_ns = 0;
  double fill = -1;  // below 0: not known
};

struct ScreenTable {
  std::string title;
  std::vector<Row> rows;  // longest first
  Row all;
  int64_t divisor = 1;  // of all times
};

double FillOf(const ReportProcess& process, const std::string& operation) {
  if (process.sm_fill_is_upper_bound) return -1;
  for (const ReportOperation& row : process.operations) {
    if (row.operation != operation || row.gpu_busy_ns == 0 || row.sm_filled_ns == 0) continue;
    return ShareOf(row.sm_filled_ns, row.gpu_busy_ns);
  }
  return -1;
}

ScreenTable TableOf(const ReportProcess& process, size_t most) {
  ScreenTable table;
  if (process.iterations && process.iterations->count > 0) {
    const ReportIterations& all = *process.iterations;
    table.title = "Mean iteration";
    table.divisor = static_cast<int64_t>(all.count);
    for (const ReportIterationOperation& row : all.operations) {
      table.rows.push_back({row.operation, row.wall_ns, row.gpu_busy_ns, row.unknown_ns,
                            FillOf(process, row.operation)});
      table.all.unknown_ns += row.unknown_ns;
    }
    table.all.wall_ns = all.total_ns;
    table.all.busy_ns = all.gpu_busy_ns;
  } else {
    table.title = "Whole run";
    for (const ReportOperation& row : process.operations) {
      if (row.other_threads_only) continue;
      table.rows.push_back({row.operation + (row.inherited ? " (inherited)" : ""), row.wall_ns,
                            row.gpu_busy_ns, row.unknown_ns, FillOf(process, row.operation)});
    }
    table.all.wall_ns = process.span_ns;
    table.all.busy_ns = process.gpu_busy_ns;
    table.all.unknown_ns = process.unknown_ns;
  }
  const int64_t filled_ns = SmFilledNs(process);
  if (filled_ns > 0 && !process.sm_fill_is_upper_bound) {
    table.all.fill = ShareOf(filled_ns, process.gpu_busy_ns);
  }
  table.all.name = "all";
  std::erase_if(table.rows, [&table](const Row& row) {
    return row.name == kNoOperation && ShareOf(row.wall_ns, table.all.wall_ns) < kLeastShare;
  });
  if (table.rows.size() > most) {
    Row others{.name = std::to_string(table.rows.size() - most + 1) + " others"};
    for (size_t i = most - 1; i < table.rows.size(); ++i) {
      others.wall_ns += table.rows[i].wall_ns;
      others.busy_ns += table.rows[i].busy_ns;
      others.unknown_ns += table.rows[i].unknown_ns;
    }
    table.rows.resize(most - 1);
    table.rows.push_back(others);
  }
  return table;
}

// As long as the row's share, filled as far as the GPU was busy.
std::string Bar(const Row& row, int64_t whole_ns, bool has_gpu, int width,
                const TextOptions& options) {
  const auto length = std::lround(std::min(1.0, ShareOf(row.wall_ns, whole_ns)) * width);
  const auto busy =
      has_gpu ? std::lround(ShareOf(row.busy_ns, row.wall_ns) * static_cast<double>(length))
              : length;
  const auto unknown = std::min<int64_t>(
      length - busy,
      std::lround(ShareOf(row.unknown_ns, row.wall_ns) * static_cast<double>(length)));
  const bool unicode = options.unicode;
  return Painted(Repeat(unicode ? "█" : "#", busy), has_gpu ? Paint::kBusy : Paint::kCpu, options) +
         Repeat(unicode ? "░" : ".", length - busy - unknown) +
         Painted(Repeat("?", unknown), Paint::kWarning, options);
}

std::string Replaced(std::string text, std::string_view what, std::string_view with) {
  if (const size_t at = text.find(what); at != std::string::npos) {
    text.replace(at, what.size(), with);
  }
  return text;
}

struct TableCells {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> tails;  // behind the rows
  int tail_width = 0;
  size_t limiting = SIZE_MAX;  // the row that limits the run
};

TableCells OperationCells(const Report& report, const ReportProcess& process,
                          const TextOptions& options, size_t most) {
  const bool has_gpu = !UsesNoGpu(report);
  const ScreenTable table = TableOf(process, most);
  const bool fills = std::any_of(table.rows.begin(), table.rows.end(),
                                 [](const Row& row) { return row.fill >= 0; });
  const std::string& limiting = report.diagnosis.empty() ? "" : report.diagnosis.front().operation;
  TableCells made;
  made.heads = {table.title, "time", "share"};
  // What others do on its devices meanwhile is neither.
  const bool shared = SharesADevice(report, process);
  if (has_gpu && shared) made.heads.insert(made.heads.end(), {"own GPU", "others, idle"});
  if (has_gpu && !shared) made.heads.insert(made.heads.end(), {"GPU busy", "GPU idle"});
  if (fills) made.heads.emplace_back("filled");
  const bool upper = process.gpu_busy_is_upper_bound;
  const auto add = [&](const Row& row, std::string tail) {
    std::vector<std::string> cells{ShownName(row.name),
                                   FormatTime(row.wall_ns / table.divisor, options.raw),
                                   FormatShare(ShareOf(row.wall_ns, table.all.wall_ns))};
    if (has_gpu) {
      const bool more = row.unknown_ns > 0;
      const int64_t idle_ns = std::max<int64_t>(0, row.wall_ns - row.busy_ns - row.unknown_ns);
      cells.push_back(
          Bounded(upper && row.busy_ns > 0, more, FormatShare(ShareOf(row.busy_ns, row.wall_ns))));
      cells.push_back(FormatTime(idle_ns / table.divisor, options.raw));
    }
    if (fills) cells.push_back(row.fill >= 0 ? FormatShare(row.fill) : "-");
    made.rows.push_back(std::move(cells));
    made.tails.push_back(std::move(tail));
  };
  for (const Row& row : table.rows) {
    if (!limiting.empty() && row.name == limiting) made.limiting = made.rows.size();
    add(row, Bar(row, table.all.wall_ns, has_gpu, kBarColumns, options));
  }
  std::string key = table.all.unknown_ns > 0 ? "█ busy ░ idle ? unknown"
                    : shared                 ? "█ own ░ others, idle"
                                             : "█ GPU busy  ░ idle";
  if (!options.unicode) key = Replaced(Replaced(key, "█", "#"), "░", ".");
  add(table.all, has_gpu ? key : std::string());
  made.tail_width = std::max(kBarColumns, DisplayWidth(key));
  return made;
}

std::string OperationTable(const Report& report, const ReportProcess& process,
                           const TextOptions& options, size_t most) {
  const bool bars = options.width >= kWidthForBars;
  const TableCells table = OperationCells(report, process, options, most);
  TextTable text(table.heads);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    std::vector<std::string> cells = table.rows[i];
    if (i == table.limiting) cells.front().insert(0, "> ");
    text.AddRow(std::move(cells), bars ? table.tails[i] : "");
  }
  return "\n" + text.Render(options.width, bars ? table.tail_width : 0, options.unicode);
}

// --- The idle GPU ---

std::string SmiLine(const Report& report, const TextOptions& options) {
  const ReportRun& run = report.run;
  if (run.devices_used == 0) return {};
  return Wrap(SmiText(run) + ": it counts any 1/6 s in which a kernel ran.", options.width, 2);
}

}  // namespace

std::string VerdictLines(const Report& report, const TextOptions& options, bool with_action) {
  std::string text;
  if (const std::string failure = FailureLine(report, options); !failure.empty()) {
    text += Painted(failure.substr(0, failure.size() - 1), Paint::kWarning, options) + "\n";
  }
  if (report.diagnosis.empty()) return text;
  const ReportDiagnosis& first = report.diagnosis.front();
  text += Lines(first.finding, Paint::kBold, options);
  if (!with_action) return text;
  if (!first.action.empty()) text += Wrap("Try: " + first.action, options.width, 2);
  if (!first.gain.empty()) text += Wrap("Gain: " + first.gain, options.width, 2);
  return text;
}

std::string IdleLine(const Report& report, const TextOptions& options) {
  if (UsesNoGpu(report)) return {};
  const ReportRun& run = report.run;
  const ReportProcess* process = HeadlineProcess(report);
  const IdleExplained explained = HeadlineIdle(report);
  const double idle = std::max(0.0, 1 - run.gpu_busy_share - run.unknown.share);
  if (process == nullptr || explained.causes.empty() || idle < kLeastShare) return {};
  const bool python = BlamesPython(report, *process);
  std::string causes;
  size_t named = 0;
  for (const CauseTime& cause : explained.causes) {
    const double share = idle * ShareOf(cause.ns, explained.idle_ns);
    if (named == kMostCauses || share < kLeastShare) break;
    causes +=
        (named++ == 0 ? ": " : ", ") + CauseText(cause.cause, python) + " " + FormatShare(share);
  }
  const bool at_least = run.gpu_busy_is_upper_bound || run.unknown.is_upper_bound;
  return Wrap("GPU idle " + Bounded(run.gpu_busy_is_lower_bound, at_least, FormatShare(idle)) +
                  " of the time" + causes + ".",
              options.width, 2);
}

namespace {

// How much of what matters least there is.
struct Extent {
  size_t operations = 0;  // rows
  size_t savings = 0;
  size_t stacks = 0;
  bool smi = true;
  bool idle = true;
  size_t losses = 2;
  bool brief = false;        // of the data quality only the first sentence
  bool roles_of_one = true;  // roles where one process has all: its operations say nearly as much
};

// What a screen shows, from what it shows always to what goes first when there is too much:
// verdict and action, the run, data quality, warnings, the longest operations; then losses and what
// is said of the training, the largest saving, the roles where one process has them all, further
// operations, why the GPU was idle, nvidia-smi's figure, the functions that operations were in,
// further savings.
// Notices and notes are left to --full.
constexpr std::array<Extent, 11> kExtents = {{{6, 4, 4},
                                              {6, 2, 3},
                                              {5, 2, 2},
                                              {5, 1, 1},
                                              {5, 1, 1, false},
                                              {4, 1, 0, false, false},
                                              {3, 1, 0, false, false},
                                              {3, 1, 0, false, false, 2, false, false},
                                              {3, 0, 0, false, false, 2, false, false},
                                              {3, 0, 0, false, false, 0, false, false},
                                              {2, 0, 0, false, false, 0, true, false}}};

// The run, and how far to believe it.
std::string FactLines(const Report& report, const TextOptions& options, const Extent& extent) {
  const ReportProcess* const process = ToldProcess(report);
  const bool with_roles = extent.roles_of_one || report.processes.size() > 1;
  return (process == nullptr
              ? ""
              : RunLine(report, *process, options) + OtherWindowLine(report.run, options)) +
         IterationLine(report, options) + TargetLines(report, options) +
         (extent.losses > 0 ? TrainingLines(report, options, with_roles) : "") +
         QualityLines(report, options, extent.brief) + LossLines(report, options, extent.losses) +
         StepsLine(report, options) + Warnings(report, options);
}

std::string Compose(const Report& report, const TextOptions& options, const Extent& extent) {
  const ReportProcess* const process = ToldProcess(report);
  std::string text = VerdictLines(report, options, /*with_action=*/true) + "\n" +
                     FactLines(report, options, extent);
  if (process == nullptr) {
    for (size_t i = 1; i < report.diagnosis.size(); ++i) {
      text += Wrap(report.diagnosis[i].finding, options.width, 2);
    }
    return text + LedgerLines(report, options);
  }
  text += OperationTable(report, *process, options, extent.operations);
  text += StackLines(*process, options, extent.stacks);
  text += SavingsSection(report, options, extent.savings);
  const std::string idle =
      (extent.idle ? IdleLine(report, options) : "") + (extent.smi ? SmiLine(report, options) : "");
  if (!idle.empty()) text += "\n" + idle;
  return text;
}

}  // namespace

std::string RenderScreen(const Report& report, const TextOptions& options) {
  const auto lines_of = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  const std::ptrdiff_t most =
      kScreenLines - (options.names_more ? lines_of(MoreLine(report, options)) : 0);
  std::string text;
  for (const Extent& extent : kExtents) {
    text = Compose(report, options, extent);
    if (lines_of(text) <= most) break;
  }
  return text;
}

std::string RenderMarkdown(const Report& report) {
  constexpr size_t kMostOperations = 8;
  constexpr size_t kMostSavings = 4;
  TextOptions options;
  options.width = kOneLine;
  std::string text;
  if (!report.diagnosis.empty()) {
    const ReportDiagnosis& first = report.diagnosis.front();
    text += "**" + MarkdownText(first.finding) + "**\n\n";
    if (!first.action.empty()) text += "- **Try:** " + MarkdownText(first.action) + "\n";
    if (!first.gain.empty()) text += "- **Gain:** " + MarkdownText(first.gain) + "\n";
  }
  text += MarkdownList(FailureLine(report, options) + FactLines(report, options, kExtents.front()) +
                       IdleLine(report, options) + SmiLine(report, options));
  const ReportProcess* const process = ToldProcess(report);
  if (process == nullptr) {
    for (size_t i = 1; i < report.diagnosis.size(); ++i) {
      text += MarkdownList(report.diagnosis[i].finding);
    }
    return text;
  }
  const TableCells table = OperationCells(report, *process, options, kMostOperations);
  text += MarkdownTable(table.heads, table.rows);
  const std::vector<std::vector<std::string>> savings = SavingsRows(report, options, kMostSavings);
  if (!savings.empty()) text += MarkdownTable(SavingsHeads(report, options), savings);
  return text;
}

}  // namespace gpubound
