// SPDX-License-Identifier: Apache-2.0
//
// The report on a terminal: what is wrong first, then where the time went. No state.
#include "analysis/output/text/report_text.h"

#include <algorithm>
#include <cstdint>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/headline_facts.h"
#include "analysis/output/text/breakdown_table.h"
#include "analysis/output/text/distribution_text.h"
#include "analysis/output/text/headline.h"
#include "analysis/output/text/naming_text.h"
#include "analysis/output/text/other_threads.h"
#include "analysis/output/text/paint.h"
#include "analysis/output/text/path_text.h"
#include "analysis/output/text/pid_text.h"
#include "analysis/output/text/process_list.h"
#include "analysis/output/text/report_categories.h"
#include "analysis/output/text/report_communication.h"
#include "analysis/output/text/report_counters.h"
#include "analysis/output/text/report_cpu.h"
#include "analysis/output/text/report_kernels.h"
#include "analysis/output/text/report_ops.h"
#include "analysis/output/text/report_overview.h"
#include "analysis/output/text/report_screen.h"
#include "analysis/output/text/report_sections.h"
#include "analysis/output/text/report_stacks.h"
#include "analysis/output/text/report_waits.h"
#include "analysis/output/text/savings_text.h"
#include "analysis/output/text/training_text.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/span_end.h"

namespace gpubound {
namespace {

constexpr int kSmallestWidth = 60;
constexpr size_t kMostTableRows = 40;  // of the tables of the long report
constexpr size_t kAllSavings = SIZE_MAX;

class TextReport {
 public:
  TextReport(const Report& report, const TextOptions& options)
      : report_(report), told_(ToldProcess(report)), options_(options) {
    options_.width = std::max(options.width, kSmallestWidth);
    const bool asks = !options.by.empty() || options.kernels || options.full;
    if (!asks && !options.attribution.empty()) options_.by = {"operation"};
    if (!asks && options_.by.empty() && options.raw) options_.full = true;  // every column
  }

  std::string Render() {
    if (!options_.by.empty() || options_.kernels) {
      text_ = VerdictLines(report_, options_, /*with_action=*/false);
      Marks();
      AskedTables();
    } else if (options_.full) {
      text_ = VerdictLines(report_, options_, /*with_action=*/true);
      Full();
    } else {
      text_ = RenderScreen(report_, options_);
    }
    if (options_.names_more && !options_.full) text_ += MoreLine(report_, options_);
    return std::move(text_);
  }

 private:
  bool Asked(const char* dimension) const {
    return std::find(options_.by.begin(), options_.by.end(), dimension) != options_.by.end();
  }
  std::string Time(int64_t ns) const { return FormatTime(ns, options_.raw); }

  // What nobody may overlook, whatever is asked for.
  void Marks() {
    if (options_.raw) text_ += "Times are in ns.\n";
    text_ += SimulatedLine(report_, options_);
    if (report_.device_kind == "imported") text_ += "Imported from another tool's trace.\n";
  }

  void Headline() {
    text_ += "\n" + Wrap(HeadlineText(report_), options_.width, 2);
    text_ += WallTimeLine(report_, options_) + LoopLine(report_, options_) +
             TargetLines(report_, options_);
    const bool doubtful = !report_.run.verdict.starts_with("complete");
    const std::string quality =
        Wrap("Data quality: " + EscapeName(report_.run.verdict), options_.width, 2);
    text_ += Painted(quality.substr(0, quality.size() - 1),
                     doubtful ? Paint::kWarning : Paint::kPlain, options_) +
             "\n";
    text_ += HeadlineScope(report_, options_) + StepsLine(report_, options_);
    Marks();
    for (size_t i = 1; i < report_.diagnosis.size(); ++i) {
      const ReportDiagnosis& finding = report_.diagnosis[i];
      text_ += Wrap("> " + finding.finding + " " + finding.action, options_.width, 2);
    }
  }

  // Every section at length.
  void Full() {
    Headline();
    text_ += Wrap(DeviceLine(report_), options_.width, 2);
    text_ += ProcessList(report_, options_, /*unfold=*/false);
    if (told_ != nullptr) ProcessDetail(*told_);
    text_ += TrainingSection(report_, options_);
    text_ += CriticalPathSection(report_, options_);
    text_ += SavingsSection(report_, options_, kAllSavings);
    text_ += CommunicationSection(report_, options_);
    text_ += DistributionSection(report_, options_);
    text_ += MetadataLines(report_, options_) + LedgerLines(report_, options_);
  }

  // The tables that were asked for and nothing else.
  void AskedTables() {
    if (Asked("process")) {
      text_ += ProcessList(report_, options_, /*unfold=*/true) + ProcessTrees(report_, options_);
    }
    for (const ReportProcess& process : report_.processes) {
      if (IsShown(process)) ProcessTables(process);
    }
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
    const int64_t filled_ns = SmFilledNs(process);
    if (filled_ns > 0 && process.gpu_busy_ns > 0) {
      line += ", SM fill " + std::string(process.sm_fill_is_upper_bound ? "at most " : "about ") +
              FormatShare(ShareOf(filled_ns, process.gpu_busy_ns)) + " of that";
    }
    return line + ".";
  }

  void ProcessDetail(const ReportProcess& process) {
    text_ += "\n" + Wrap(ProcessLine(process), options_.width, 2);
    text_ += IdleSentence(report_, process, options_) + WaitSentence(process, options_) +
             IterationSentence(process, options_) + NamingSentence(process, options_) +
             CorrectionSentence(process, options_, has_gpu_);
    // One after the other: the legend is of what was shown before it.
    text_ += tables_.Operations(process, kMostTableRows);
    text_ += CounterTable(process, options_) + CpuTable(process, options_);
    text_ += tables_.Groups(process, "Layer", &ReportCell::layer, kMostTableRows);
    text_ += tables_.Legend();
    text_ += SyncLineTable(process, options_) + OtherThreadsSentence(process, options_);
  }

  void ProcessTables(const ReportProcess& process) {
    if (Asked("process")) text_ += "\n" + Wrap(ProcessLine(process), options_.width, 2);
    // What a process is like is said by its operations, unless something else is asked for.
    const bool operations =
        Asked("operation") || (Asked("process") && options_.by.size() == 1 && !options_.kernels);
    if (operations) text_ += tables_.Operations(process, 0) + CounterTable(process, options_);
    if (Asked("phase")) text_ += tables_.Groups(process, "Phase", &ReportCell::phase, 0);
    if (Asked("layer")) text_ += tables_.Groups(process, "Layer", &ReportCell::layer, 0);
    text_ += tables_.Legend();
    if (operations) text_ += OtherThreadsSentence(process, options_);
    if (Asked("transition")) Transitions(process);
    if (options_.kernels) text_ += KernelTable(process, options_);
    if (Asked("category")) text_ += CategoryTable(process, options_);
    if (Asked("op")) text_ += OpTable(process, options_);
    if (Asked("shape")) text_ += ShapeTable(process, options_);
    if (Asked("iteration")) text_ += IterationTables(process, options_);
    if (Asked("gap")) text_ += GapTable(report_, process, options_);
    if (Asked("frame")) {
      text_ += SyncLineTable(process, options_) + StackTables(process, options_);
    }
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
