// SPDX-License-Identifier: Apache-2.0
//
// The report on a terminal: what is wrong first, then where the time went. No state.
#include "analysis/output/text/report_text.h"

#include <algorithm>
#include <optional>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/advice.h"
#include "analysis/output/text/breakdown_table.h"
#include "analysis/output/text/headline.h"
#include "analysis/output/text/other_threads.h"
#include "analysis/output/text/paint.h"
#include "analysis/output/text/path_text.h"
#include "analysis/output/text/pid_text.h"
#include "analysis/output/text/process_list.h"
#include "analysis/output/text/report_communication.h"
#include "analysis/output/text/report_counters.h"
#include "analysis/output/text/report_kernels.h"
#include "analysis/output/text/report_overview.h"
#include "analysis/output/text/report_sections.h"
#include "analysis/output/text/report_waits.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/span_end.h"

namespace gpubound {
namespace {

constexpr int kSmallestWidth = 60;
constexpr size_t kMostOperations = 8;  // of the overview; its table is one screen with the rest
constexpr size_t kMostRows = 40;       // of the tables of the long report

class TextReport {
 public:
  TextReport(const Report& report, const TextOptions& options)
      : report_(report), told_(ToldProcess(report)), options_(options) {
    options_.width = std::max(options.width, kSmallestWidth);
  }

  std::string Render() {
    Headline();
    options_.by.empty() && !options_.full ? Overview() : Tables();
    text_ += MetadataLines(report_, options_) + LedgerLines(report_, options_);
    if (options_.names_more && !options_.full) text_ += MoreLine(options_);
    return std::move(text_);
  }

 private:
  bool Asked(const char* dimension) const {
    return std::find(options_.by.begin(), options_.by.end(), dimension) != options_.by.end();
  }
  std::string Time(int64_t ns) const { return FormatTime(ns, options_.raw); }

  void Headline() {
    const auto paint = [this](const std::string& lines, Paint color) {
      text_ += Painted(lines.substr(0, lines.size() - 1), color, options_) + "\n";
    };
    if (const std::string failure = FailureLine(report_, options_); !failure.empty()) {
      paint(failure, Paint::kWarning);
    }
    paint(Wrap(HeadlineText(report_, options_.unicode), options_.width, 2), Paint::kBold);
    if (options_.raw) text_ += "Times are in ns.\n";
    text_ += WallTimeLine(report_, options_) + LoopLine(report_, options_);
    const bool doubtful = !report_.run.verdict.starts_with("complete");
    paint(Wrap("Trust: " + EscapeName(report_.run.verdict), options_.width, 2),
          doubtful ? Paint::kWarning : Paint::kPlain);
    text_ += HeadlineScope(report_, options_);
    if (!report_.run.steps.empty()) text_ += StepsSentence();
    if (report_.device_kind == "simulated") {
      const std::string mark = "SIMULATED DEVICE";
      const std::string line =
          Wrap(mark + ": GPU times are those of a model, not of hardware.", options_.width, 2);
      text_ += Painted(mark, Paint::kWarning, options_) + line.substr(mark.size());
    } else if (report_.device_kind == "imported") {
      text_ += "Imported from another tool's trace.\n";
    }
  }

  // Those that ended, which may be fewer than were asked for.
  std::string StepsSentence() const {
    const auto ends_some = [](const ReportProcess& process) {
      return process.iterations && !process.iterations->every.empty();
    };
    const auto any = std::find_if(report_.processes.begin(), report_.processes.end(), ends_some);
    std::string which = "no iteration that ended";
    if (any != report_.processes.end()) {
      const ReportProcess& main = *MainProcess(report_);
      const ReportProcess& process = ends_some(main) ? main : *any;
      const std::vector<ReportIteration>& every = process.iterations->every;
      const std::string first = std::to_string(every.front().number);
      const std::string last = std::to_string(every.back().number);
      which = every.size() == 1 ? "iteration " + first : "iterations " + first + " to " + last;
    }
    return Wrap("Recorded: " + which + " (--steps " + report_.run.steps +
                    "); all else here is about their time.",
                options_.width, 2);
  }

  void Advice() {
    for (const std::string& advice : AdviceFor(report_, options_.unicode)) {
      text_ += Wrap("> " + advice, options_.width, 2);
    }
  }

  // One screen, and then what is worth a sentence.
  void Overview() {
    const ReportProcess* const process = told_;
    if (process != nullptr) {
      std::string table = tables_.Operations(*process, kMostOperations);
      const size_t processes = report_.processes.size();
      if (processes > 1) {
        table = "\n" +
                Wrap(NameOf(*process) + ", one of " + std::to_string(processes) + " processes:",
                     options_.width, 2) +
                table.substr(1);
      }
      text_ += table + tables_.Legend() + OtherThreadsSentence(*process, options_) +
               LayerSentence(*process, options_) + IdleSentence(report_, *process, options_) +
               IterationSentence(*process, options_);
    }
    Advice();
    const std::string what = process == nullptr ? "" : " " + ProcessLine(*process);
    text_ += "\n" + Wrap(DeviceLine(report_) + what, options_.width, 2);
    if (process != nullptr) {
      text_ += WaitSentence(*process, options_) + CorrectionSentence(*process, options_, has_gpu_);
    }
    text_ += CriticalPathSentence(report_, options_);
    text_ += ProcessList(report_, options_, /*unfold=*/false);
    if (process != nullptr) {
      text_ += CounterTable(*process, options_);
      if (options_.kernels) text_ += KernelTable(*process, options_);
    }
    text_ += CommunicationSection(report_, options_);
  }

  void Tables() {
    text_ += Wrap(DeviceLine(report_), options_.width, 2);
    Advice();
    text_ += ProcessList(report_, options_, Asked("process"));
    if (Asked("process")) text_ += ProcessTrees(report_, options_);
    for (const ReportProcess& process : report_.processes) {
      if (IsShown(process)) ProcessDetail(process);
    }
    if (options_.by.empty()) text_ += CriticalPathSection(report_, options_);
    text_ += CommunicationSection(report_, options_);
    if (Asked("device")) text_ += DeviceTables(report_, options_);
  }

  // Of several processes one tells the story, the others on request.
  bool IsShown(const ReportProcess& process) const { return Asked("process") || &process == told_; }

  // Of the span of |process|.
  static std::string BusyShare(const ReportProcess& process, int64_t ns) {
    return Bounded(process.gpu_busy_is_upper_bound && ns > 0, process.unknown_ns > 0,
                   FormatShare(ShareOf(ns, process.span_ns)));
  }

  std::string NameOf(const ReportProcess& process) const {
    return ShortName(EscapeName(process.name.empty() ? "process" : process.name), kNameInSentence,
                     options_.unicode) +
           " (pid " + PidText(report_.processes, options_.unicode).Of(process.pid, process.host) +
           ")";
  }

  std::string ProcessLine(const ReportProcess& process) const {
    std::string line =
        NameOf(process) + ", span " + Time(process.span_ns) +
        (process.span_end == SpanEnd::kClosed ? "" : " (" + SpanEndText(process.span_end) + ")");
    if (!has_gpu_) return line + ".";
    line += ": GPU busy " + BusyShare(process, process.gpu_busy_ns) +
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
    return line + ".";
  }

  void ProcessDetail(const ReportProcess& process) {
    text_ += "\n" + Wrap(ProcessLine(process), options_.width, 2);
    text_ += IdleSentence(report_, process, options_) + WaitSentence(process, options_) +
             IterationSentence(process, options_) + CorrectionSentence(process, options_, has_gpu_);
    const size_t most = options_.by.empty() ? kMostRows : 0;
    const bool has_operations = options_.by.empty() || Asked("operation");
    if (has_operations) text_ += tables_.Operations(process, most);
    text_ += CounterTable(process, options_);
    if (Asked("phase")) text_ += tables_.Groups(process, "Phase", &ReportCell::phase, most);
    if (options_.by.empty() || Asked("layer")) {
      text_ += tables_.Groups(process, "Layer", &ReportCell::layer, most);
    }
    text_ += tables_.Legend();
    if (has_operations) text_ += OtherThreadsSentence(process, options_);
    if (Asked("transition")) Transitions(process);
    if (options_.kernels) text_ += KernelTable(process, options_);
    if (Asked("iteration")) text_ += IterationTables(process, options_);
    if (Asked("gap")) text_ += GapTable(report_, process, options_);
    if (Asked("thread")) text_ += LaneTables(process, options_);
  }

  void Transitions(const ReportProcess& process) {
    std::string text;
    for (const ReportOperation& row : process.operations) {
      if (row.transitions.empty()) continue;
      std::string line =
          ShortName(ShownName(row.operation), kNameInSentence, options_.unicode) + ": ";
      bool first = true;
      for (const auto& [name, count] : row.transitions) {
        line += (first ? "" : ", ") + name + " " + FormatCount(count);
        first = false;
      }
      text += Wrap(line, options_.width, 2);
    }
    if (!text.empty()) text_ += "\nTransitions\n" + text;
  }

  const Report& report_;
  const ReportProcess* const told_;
  const bool has_gpu_ = !UsesNoGpu(report_);
  TextOptions options_;
  BreakdownTables tables_{options_, has_gpu_};
  std::string text_;
};

}  // namespace

std::string RenderText(const Report& report, const TextOptions& options) {
  return TextReport(report, options).Render();
}

}  // namespace gpubound
