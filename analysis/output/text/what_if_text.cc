// SPDX-License-Identifier: Apache-2.0
//
// Predictions in words and tables. No state.
#include "analysis/output/text/what_if_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/path_text.h"
#include "analysis/output/text/savings_text.h"
#include "analysis/report/main_process.h"
#include "analysis/report/simulated_mark.h"

namespace gpubound {
namespace {

// "saves 12 % (10 to 14)"; of what takes longer "takes longer by 12 % (10 to 14)".
std::string SavedText(const SpanRatio& ratio) {
  ReportSaving saving;
  saving.saves = 1 - ratio.part;
  saving.saves_low = 1 - ratio.high;
  saving.saves_high = 1 - ratio.low;
  if (ratio.part <= 1) return "saves " + SavesText(saving);
  ReportSaving more;
  more.saves = -saving.saves;
  more.saves_low = -saving.saves_high;
  more.saves_high = -saving.saves_low;
  return "takes longer by " + SavesText(more);
}

// What the loop alone gains, where much of the run is something else: start-up, or the time between
// the cells of a notebook. Empty without iterations.
std::string IterationText(const WhatIfReport& report) {
  if (report.iteration_ratio.part <= 0) return "";
  if (SaysNothing(report.iteration_ratio)) return "";
  return "Of an iteration, without what lies before, between and after them, it " +
         SavedText(report.iteration_ratio) + ".";
}

// The GPU work and the CPU code of each operation that was asked about.
std::string HalvesText(const WhatIfReport& report, const TextOptions& options, int width) {
  std::string text;
  for (const OperationHalf& half : report.halves) {
    const double saves = 1 - (report.span_ns > 0 ? static_cast<double>(half.span_ns) /
                                                       static_cast<double>(report.span_ns)
                                                 : 1);
    text += Wrap(SavingName(half.part, half.name, options) + " alone: " + FormatTime(half.span_ns) +
                     ", " + (saves >= 0 ? "saves " : "takes longer by ") +
                     FormatShare(std::abs(saves)) + ".",
                 width, 2);
  }
  return text;
}

// What is to be known of graphs and fused kernels that the prediction rests on; empty without any.
std::string CaptureText(const WhatIfReport& report) {
  const bool fuses = report.asks_for_fusion;
  if (report.captures == 0) {
    if (!fuses && !report.asks_for_graphs) return "";
    return std::string("No launch lies in what is to be ") + (fuses ? "fused" : "captured") +
           ", so that there is nothing to change.";
  }
  const std::string counted = Counted(report.captures, fuses ? "fused kernel" : "graph");
  if (report.captures_broken == 0) {
    if (!fuses) return counted + "; no call that was recorded forbids their capture.";
    return counted +
           ". It may be shorter still: what passed through memory between its parts need "
           "not.";
  }
  return FormatCount(report.captures_broken) + " of " + counted +
         " could not be made so as the program is: after a wait for the GPU or an "
         "allocation more work is launched. The prediction has all of it in one.";
}

// What another GPU, or more environments, are taken to change.
std::string KernelsText(const WhatIfReport& report) {
  std::string text;
  if (!report.gpu_to.empty()) {
    text =
        report.gpu_to + " in place of " + report.gpu_from +
        ": the interval is from the more to the less favourable of memory traffic and "
        "arithmetic, for each kernel. CPU code, launches, collectives and copies to and from the "
        "host are as they were.";
  }
  if (report.environments != 1) {
    std::array<char, 128> line;
    std::snprintf(line.data(), line.size(),
                  "%.6g times as many environments a launch: at most %.3g times the throughput",
                  report.environments, ThroughputRatio(report));
    if (!text.empty()) text += " ";
    text += line.data();
    text += ", if CPU code takes no longer for them.";
  }
  return text;
}

// What moving GPUs from one role to another is taken to change; empty where none is moved.
std::string MovedText(const MovedGpus& moved) {
  if (moved.gpus == 0) return "";
  return moved.from + " with " + Counted(moved.from_had - moved.gpus, "GPU") + " instead of " +
         FormatCount(moved.from_had) + ", " + moved.to + " with " +
         FormatCount(moved.to_had + moved.gpus) + " instead of " + FormatCount(moved.to_had) +
         ": the work of each divides evenly over its GPUs, at the rate that they have now. "
         "Weight sync is as it was.";
}

std::string NotCorrectedText(const WhatIfReport& report, int width) {
  std::string why = EscapeName(report.not_corrected);
  if (why.empty()) return "";
  if (why.ends_with('.')) why.pop_back();
  return Wrap(
      "What the profiler cost is in these times: not corrected for profiling (" + why + ").", width,
      2);
}

std::string CopiesText(const WhatIfReport& report, int width, bool unicode) {
  TextTable table({"Runs", "each takes", "throughput", "under MPS", "throughput"});
  const auto one_ns = static_cast<double>(report.copies.front().sliced_ns);
  const auto times = [one_ns](const CopiesPoint& point, int64_t ns) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "x %.2f",
                  ns > 0 ? point.copies * one_ns / static_cast<double>(ns) : 0.0);
    return std::string(text.data());
  };
  for (const CopiesPoint& point : report.copies) {
    table.AddRow({FormatCount(point.copies), FormatTime(point.sliced_ns),
                  times(point, point.sliced_ns), FormatTime(point.beside_ns),
                  times(point, point.beside_ns)});
  }
  const auto enough = [&report](bool beside) {
    const uint32_t runs = EnoughCopies(report, beside);
    return runs == report.copies.back().copies
               ? "each one adds to what all get done"
               : "more than " + FormatCount(runs) + " get nothing more done together";
  };
  const std::string fill =
      report.sm_fill
          ? "of which those of one run fill " + FormatShare(*report.sm_fill) + " of the GPU"
          : "of which each is taken to fill the GPU, since it is not known how much "
            "they do";
  std::string text = "Time-sliced, " + enough(false) +
                     ". Under MPS kernels run beside each other, " + fill + ": " + enough(true) +
                     ".";
  if (report.cores > 0) {
    std::array<char, 64> cores;
    std::snprintf(cores.data(), cores.size(), " Each keeps %.2g CPU cores busy", report.cores);
    text += cores.data() + std::string(", and enough of them are assumed.");
  }
  if (report.fit_in_memory) {
    text += " Its memory holds at least " + Counted(*report.fit_in_memory, "such run") +
            ", by the most that was in use there at once.";
  }
  return "Runs like this one that share its GPU\n" + table.Render(width, 0, unicode) +
         Wrap(text, width, 2);
}

}  // namespace

std::string RenderWhatIfText(const WhatIfReport& report, int width, bool unicode) {
  const ReportRun& before = report.before.run;
  const ReportRun& after = report.after.run;
  const std::string mark = SimulatedMark(report.before);
  std::string text = mark.empty() ? "" : Wrap(mark, width, 2);
  TextOptions options;
  options.unicode = unicode;
  if (report.only_copies) {
    text += NotCorrectedText(report, width);
    return text + (text.empty() ? "" : "\n") + CopiesText(report, width, unicode);
  }
  const std::string owner = OnlyLaunches(report.before) ? OwnerText(report.before, options) : "";
  if (SaysNothing(report.ratio) && report.gpu_to.empty()) {
    return text + Wrap("No prediction: the run" + owner +
                           " waits for something that was not recorded, and depending on that it " +
                           SavedText(report.ratio) + ". " + IterationText(report),
                       width, 2);
  }
  text += Wrap("Predicted span" + owner + " " + FormatTime(report.predicted_span_ns) +
                   " instead of " + FormatTime(report.span_ns) + ": " + SavedText(report.ratio) +
                   "; GPU busy " + FormatShare(after.gpu_busy_share) + " instead of " +
                   FormatShare(before.gpu_busy_share) + ".",
               width, 2);
  if (const std::string iteration = IterationText(report); !iteration.empty()) {
    text += Wrap(iteration, width, 2);
  }
  if (const std::string kernels = KernelsText(report); !kernels.empty()) {
    text += Wrap(kernels, width, 2);
  }
  if (const std::string moved = MovedText(report.moved); !moved.empty()) {
    text += Wrap(moved, width, 2);
  }
  text += HalvesText(report, options, width);
  text += NotCorrectedText(report, width);
  if (const std::string graphs = CaptureText(report); !graphs.empty()) {
    text += Wrap(graphs, width, 2);
  }
  const ReportProcess* const was = ToldProcess(report.before);
  if (was != nullptr) {
    const ReportProcess* const is =
        &report.after.processes[static_cast<size_t>(was - report.before.processes.data())];
    TextTable table({"Operation", "wall", "predicted", "GPU busy", "predicted"});
    for (const ReportOperation& row : was->operations) {
      if (row.other_threads_only) continue;
      const auto now = std::find_if(
          is->operations.begin(), is->operations.end(),
          [&row](const ReportOperation& other) { return other.operation == row.operation; });
      const ReportOperation none;
      const ReportOperation& then = now == is->operations.end() ? none : *now;
      table.AddRow({ShownName(row.operation), FormatTime(row.wall_ns), FormatTime(then.wall_ns),
                    FormatTime(row.gpu_busy_ns), FormatTime(then.gpu_busy_ns)});
    }
    text += "\n" + table.Render(width, 0, unicode);
  }
  TextTable curves({"Time of", "x 2", "as it is", "x 0.5", "x 0.25", "x 0"});
  std::vector<std::string> names;
  std::vector<std::string> whole;
  for (const SpeedCurve& curve : report.curves) {
    names.push_back(SavingName(curve.part, curve.name, options));
    whole.push_back(WholeSavingName(curve.part, curve.name));
  }
  TellApart(whole, &names);
  for (size_t i = 0; i < names.size(); ++i) {
    std::vector<std::string> cells{names[i]};
    for (const SpeedPoint& point : report.curves[i].points) {
      cells.push_back(FormatTime(point.wall_ns));
    }
    curves.AddRow(std::move(cells));
  }
  if (!report.copies.empty()) text += "\n" + CopiesText(report, width, unicode);
  return text + "\nSpan" + (owner.empty() ? " of the run" : owner) +
         " with the time of one more part multiplied\n" + curves.Render(width, 0, unicode);
}

}  // namespace gpubound
