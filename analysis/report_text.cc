// SPDX-License-Identifier: Apache-2.0
//
// The report on a terminal: what is wrong first, then where the time went. No state.
#include "analysis/report_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "analysis/advice.h"
#include "analysis/breakdown_rows.h"
#include "analysis/headline.h"
#include "analysis/ledger_text.h"
#include "analysis/main_process.h"
#include "analysis/path_text.h"
#include "analysis/process_list.h"
#include "analysis/report_communication.h"
#include "analysis/report_counters.h"
#include "analysis/report_kernels.h"
#include "analysis/report_sections.h"
#include "analysis/report_waits.h"
#include "analysis/span_end.h"
#include "analysis/table_legend.h"
#include "analysis/text_table.h"

namespace gpubound {
namespace {

constexpr int kSmallestWidth = 60;
constexpr int kBarWidth = 40;
constexpr int kBarBesideCutNames = 10;
constexpr int kSmallestBar = 5;
constexpr int kNameWidth = 10;         // the least that a name column gets
constexpr int kLongestNameWidth = 18;  // the most that it takes from the figures
constexpr int kColumnGap = 2;

enum class Paint { kPlain, kBold, kBusy, kCpu, kWarning };

const char* EscapeCode(Paint paint) {
  switch (paint) {
    case Paint::kPlain:
      break;
    case Paint::kBold:
      return "1";
    case Paint::kBusy:
      return "32";
    case Paint::kCpu:
      return "34";
    case Paint::kWarning:
      return "1;33";
  }
  return "0";
}

std::string Painted(const std::string& text, Paint paint, const TextOptions& options) {
  if (!options.color || text.empty() || paint == Paint::kPlain) return text;
  return std::string("\033[") + EscapeCode(paint) + "m" + text + "\033[0m";
}

struct Column {
  std::string_view head;
  int64_t ReportOperation::*value;
  bool ReportOperation::*is_upper_bound = nullptr;
};

// Length by share of the span, filling by what the GPU did in it.
std::string Bar(const ReportOperation& row, int64_t span_ns, int width,
                const TextOptions& options) {
  const auto columns = [&](int64_t ns) {
    return static_cast<size_t>(std::lround(ShareOf(ns, span_ns) * width));
  };
  const size_t length = columns(row.wall_ns);
  const size_t busy = std::min(length, columns(row.gpu_busy_ns));
  const size_t unknown = std::min(length - busy, columns(row.unknown_ns));
  const size_t idle = std::min(length - busy - unknown, columns(row.idle_ns + row.waiting_ns));
  const size_t cpu = length - busy - unknown - idle;
  const auto repeat = [](const char* symbol, size_t times) {
    std::string text;
    for (size_t i = 0; i < times; ++i) text += symbol;
    return text;
  };
  const bool unicode = options.unicode;
  return Painted(repeat(unicode ? "█" : "#", busy), Paint::kBusy, options) +
         Painted(repeat(unicode ? "▒" : "-", cpu), Paint::kCpu, options) +
         repeat(unicode ? "·" : ".", idle) +
         Painted(repeat("?", unknown), Paint::kWarning, options);
}

class TextReport {
 public:
  TextReport(const Report& report, const TextOptions& options)
      : report_(report), options_(options) {
    options_.width = std::max(options.width, kSmallestWidth);
  }

  std::string Render() {
    Headline();
    RunLines();
    text_ += ProcessList(report_, options_, Asked("process"));
    if (Asked("process")) text_ += ProcessTrees(report_, options_);
    for (const ReportProcess& process : report_.processes) {
      if (IsShown(process)) ProcessDetail(process);
    }
    if (options_.by.empty()) text_ += CriticalPathSection(report_, options_);
    text_ += CommunicationSection(report_, options_);
    if (Asked("device")) text_ += DeviceTables(report_, options_);
    LedgerLines();
    return std::move(text_);
  }

 private:
  bool Asked(const char* dimension) const {
    return std::find(options_.by.begin(), options_.by.end(), dimension) != options_.by.end();
  }
  bool ShowsCaused() const {
    const auto& wanted = options_.attribution;
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), "caused") != wanted.end();
  }
  bool ShowsTimeline() const {
    const auto& wanted = options_.attribution;
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), "timeline") != wanted.end();
  }
  std::string Time(int64_t ns) const { return FormatTime(ns, options_.raw); }

  void Headline() {
    // Painted after wrapping, so that colours do not count as columns.
    const std::string headline = Wrap(HeadlineText(report_), options_.width, 2);
    text_ += Painted(headline.substr(0, headline.size() - 1), Paint::kBold, options_) + "\n";
    text_ += HeadlineScope(report_, options_);
    if (report_.run.gpu_limited_share) {
      text_ += Wrap("GPU-limited " + FormatShare(*report_.run.gpu_limited_share) + ": so much " +
                        (HeadlineIsPart(report_) ? "of the whole run " : "") +
                        "an infinitely fast GPU would save.",
                    options_.width, 2);
    }
    if (report_.device_kind == "simulated") {
      const std::string mark = "SIMULATED DEVICE";
      const std::string line =
          Wrap(mark + ": GPU times are those of a model, not of hardware.", options_.width, 2);
      text_ += Painted(mark, Paint::kWarning, options_) + line.substr(mark.size());
    } else if (report_.device_kind == "imported") {
      text_ += "Imported from another tool's trace.\n";
    }
  }

  void RunLines() {
    if (options_.raw) text_ += "Times are in ns.\n";
    text_ += WallTimeLine(report_, options_) + DeviceLine(report_, options_);
    const bool doubtful = !report_.run.verdict.starts_with("complete");
    const std::string verdict =
        Wrap("Trust: " + EscapeName(report_.run.verdict), options_.width, 2);
    text_ += doubtful
                 ? Painted(verdict.substr(0, verdict.size() - 1), Paint::kWarning, options_) + "\n"
                 : verdict;
    for (const std::string& advice : AdviceFor(report_)) {
      text_ += Wrap("> " + advice, options_.width, 2);
    }
  }

  // Of several processes the main one tells the story, the others on request.
  bool IsShown(const ReportProcess& process) const {
    return Asked("process") || &process == MainProcess(report_);
  }

  // Of the span of |process|.
  static std::string BusyShare(const ReportProcess& process, int64_t ns) {
    return Bounded(process.gpu_busy_is_upper_bound && ns > 0, process.unknown_ns > 0,
                   FormatShare(ShareOf(ns, process.span_ns)));
  }

  void ProcessDetail(const ReportProcess& process) {
    std::string line =
        EscapeName(process.name.empty() ? "process" : process.name) + " (pid " +
        std::to_string(process.pid) + "), span " + Time(process.span_ns) +
        (process.span_end == SpanEnd::kClosed ? "" : " (" + SpanEndText(process.span_end) + ")") +
        ": GPU busy " + BusyShare(process, process.gpu_busy_ns) +
        (process.unknown_ns > 0
             ? ", unknown " + FormatShare(ShareOf(process.unknown_ns, process.span_ns))
             : "") +
        ", GPU wait " + BusyShare(process, process.gpu_wait_ns);
    int64_t filled_ns = 0;
    for (const ReportOperation& row : process.operations) filled_ns += row.sm_filled_ns;
    if (filled_ns > 0 && process.gpu_busy_ns > 0) {
      line += ", SM fill " + std::string(process.sm_fill_is_upper_bound ? "at most " : "about ") +
              FormatShare(ShareOf(filled_ns, process.gpu_busy_ns)) + " of that";
    }
    text_ += "\n" + Wrap(line + ".", options_.width, 2);
    text_ += IdleSentence(process, options_) + WaitSentence(process, options_) +
             IterationSentence(process, options_);
    text_ += CorrectionSentence(process, options_);
    if (options_.by.empty() || Asked("operation")) OperationTable(process);
    text_ += CounterTable(process, options_);
    if (Asked("phase")) GroupTable(process, "Phase", &ReportCell::phase);
    if (options_.by.empty() || Asked("layer")) GroupTable(process, "Layer", &ReportCell::layer);
    text_ += legend_.Take(options_);
    if (Asked("transition")) Transitions(process);
    if (options_.kernels) text_ += KernelTable(process, options_);
    if (Asked("iteration")) text_ += IterationTables(process, options_);
    if (Asked("gap")) text_ += GapTable(report_, process, options_);
    if (Asked("thread")) text_ += LaneTables(process, options_);
  }

  void OperationTable(const ReportProcess& process) {
    std::vector<Breakdown> rows;
    for (const ReportOperation& row : process.operations) {
      rows.push_back({row.operation + (row.inherited ? " (inherited)" : ""), row, true});
    }
    BreakdownTable("Operation", std::move(rows), process.span_ns);
  }

  void GroupTable(const ReportProcess& process, const char* title,
                  std::string ReportCell::*dimension) {
    std::map<std::string, ReportOperation> groups;
    for (const ReportCell& cell : process.cells) AddCellTo(cell, &groups[cell.*dimension]);
    std::vector<Breakdown> rows;
    for (auto& [name, time] : groups) {
      time.scopes_missing = AnyScopesMissing(process.operations);
      rows.push_back({name, time, false});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Breakdown& a, const Breakdown& b) {
      return a.time.wall_ns > b.time.wall_ns;
    });
    BreakdownTable(title, std::move(rows), process.span_ns);
  }

  std::string CellOf(const Breakdown& row, const Column& column) const {
    const bool bound = column.is_upper_bound != nullptr && row.time.*column.is_upper_bound;
    const std::string figure = UpTo(bound, Time(row.time.*column.value));
    const bool missing = column.value == &ReportOperation::wall_ns && row.time.scopes_missing;
    return missing ? std::string(kScopesMissing) + figure : figure;
  }

  // Those that are asked for; without --raw, whose readers count columns, none of nothing but
  // zeros.
  std::vector<Column> ColumnsOf(const std::vector<Breakdown>& rows) const {
    std::vector<Column> columns{{"wall", &ReportOperation::wall_ns}};
    if (ShowsTimeline()) {
      columns.push_back(
          {"GPU busy", &ReportOperation::gpu_busy_ns, &ReportOperation::gpu_busy_is_upper_bound});
    }
    const size_t asked = columns.size();
    if (ShowsCaused() && !rows.empty() && rows.front().has_caused) {
      columns.push_back(
          {kCaused, &ReportOperation::gpu_caused_ns, &ReportOperation::gpu_caused_is_upper_bound});
    }
    columns.insert(columns.end(), {{"cpu only", &ReportOperation::cpu_only_ns},
                                   {kBothWork, &ReportOperation::cpu_gpu_ns},
                                   {kGpuOnly, &ReportOperation::gpu_only_ns},
                                   {"waiting", &ReportOperation::waiting_ns},
                                   {kIdle, &ReportOperation::idle_ns},
                                   {"unknown", &ReportOperation::unknown_ns}});
    if (options_.raw) return columns;
    const auto says_nothing = [&rows, this](const Column& column) {
      if (column.head == kCaused && !options_.attribution.empty()) return false;
      return std::all_of(rows.begin(), rows.end(),
                         [&column](const Breakdown& row) { return row.time.*column.value == 0; });
    };
    columns.erase(std::remove_if(columns.begin() + static_cast<std::ptrdiff_t>(asked),
                                 columns.end(), says_nothing),
                  columns.end());
    return columns;
  }

  // Columns that are left beside names, of which at most |most| count, and figures; negative where
  // they do not fit.
  int RoomBeside(const std::vector<Breakdown>& rows, const std::vector<Column>& columns,
                 int most) const {
    int longest = kNameWidth;
    for (const Breakdown& row : rows) {
      longest = std::max(longest, DisplayWidth(EscapeName(row.name)));
    }
    int left = options_.width - std::min(longest, most);
    for (const Column& column : columns) {
      size_t width = column.head.size();
      for (const Breakdown& row : rows) width = std::max(width, CellOf(row, column).size());
      left -= static_cast<int>(width) + kColumnGap;
    }
    return left;
  }

  // Of the bars; 0 where the figures leave no room for them. Names go before a long bar.
  int BarWidth(const std::vector<Breakdown>& rows, const std::vector<Column>& columns) const {
    if (options_.raw) return 0;
    const int beside_whole_names = RoomBeside(rows, columns, options_.width) - kColumnGap;
    if (beside_whole_names >= kSmallestBar) return std::min(beside_whole_names, kBarWidth);
    const int room = RoomBeside(rows, columns, kLongestNameWidth) - kColumnGap;
    return room < kSmallestBar ? 0 : std::min(room, kBarBesideCutNames);
  }

  void BreakdownTable(const char* title, std::vector<Breakdown> rows, int64_t span_ns) {
    if (options_.by.empty() && !options_.raw) rows = LongestRows(std::move(rows));
    std::vector<Column> columns = ColumnsOf(rows);
    // On a narrow terminal go first the figures that others imply, and of these the first one also
    // where a bar can have its place.
    for (const std::string_view dispensable : {kBothWork, kIdle, kCaused, kGpuOnly}) {
      const int wanted = dispensable == kBothWork ? kSmallestBar + kColumnGap : 0;
      if (options_.raw || RoomBeside(rows, columns, kLongestNameWidth) >= wanted) break;
      if (!options_.attribution.empty() && dispensable == kCaused) continue;
      const auto erased =
          std::erase_if(columns, [&](const Column& column) { return column.head == dispensable; });
      if (erased != 0) legend_.LeaveOut(dispensable);
    }
    std::vector<std::string> heads{title};
    for (const Column& column : columns) {
      heads.emplace_back(column.head);
      legend_.Show(column.head);
    }
    if (!rows.empty() && rows.front().time.scopes_missing) legend_.Show(kScopesMissing);
    TextTable table(heads);
    const int bar = BarWidth(rows, columns);
    if (bar > 0) legend_.ShowBar();
    for (const Breakdown& row : rows) {
      std::vector<std::string> cells{EscapeName(row.name)};
      for (const Column& column : columns) cells.push_back(CellOf(row, column));
      table.AddRow(std::move(cells), bar > 0 ? Bar(row.time, span_ns, bar, options_) : "");
    }
    text_ += "\n" + table.Render(options_.width, bar, options_.unicode);
  }

  void Transitions(const ReportProcess& process) {
    std::string text;
    for (const ReportOperation& row : process.operations) {
      if (row.transitions.empty()) continue;
      std::string line = EscapeName(row.operation) + ": ";
      bool first = true;
      for (const auto& [name, count] : row.transitions) {
        line += (first ? "" : ", ") + name + " " + FormatCount(count);
        first = false;
      }
      text += Wrap(line, options_.width, 2);
    }
    if (!text.empty()) text_ += "\nTransitions\n" + text;
  }

  void LedgerLines() {
    std::string lines;
    for (const ReportLedgerEntry& entry : report_.ledger) {
      if (entry.severity < Severity::kNotice) continue;
      lines += Wrap(std::string(SeverityName(entry.severity)) + ": " + entry.counter + " " +
                        FormatCount(entry.value) + ". " + entry.help,
                    options_.width, 2);
    }
    for (const std::string& note : report_.notes) {
      lines += Wrap("note: " + EscapeName(note), options_.width, 2);
    }
    if (!lines.empty()) text_ += "\n" + lines;
  }

  const Report& report_;
  TextOptions options_;
  TableLegend legend_;
  std::string text_;
};

}  // namespace

std::string RenderText(const Report& report, const TextOptions& options) {
  return TextReport(report, options).Render();
}

}  // namespace gpubound
