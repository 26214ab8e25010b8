// SPDX-License-Identifier: Apache-2.0
//
// The HTML of a run in a notebook. No state.
#include "analysis/output/page/notebook_html.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include "analysis/base/estimate.h"
#include "analysis/base/text_table.h"
#include "analysis/base/xml_text.h"
#include "analysis/diagnosis/headline_facts.h"
#include "analysis/diagnosis/saving_words.h"
#include "analysis/output/text/rates.h"
#include "analysis/output/text/training_text.h"
#include "analysis/report/simulated_mark.h"

namespace gpubound {
namespace {

constexpr size_t kMostOperations = 8;
constexpr size_t kMostSavings = 4;
constexpr int kNameWidth = 40;

// The colours of operations have at least 3:1 against black and against white.
constexpr std::array kColours = {"#3f7fd0", "#c8641e", "#2f8f5b", "#b04f9e",
                                 "#8a7a1f", "#1f8a94", "#c04a4a", "#7a6fc8"};
// Of what is left where the GPU was idle: so much of the colour.
constexpr char kPale[] = "66";
constexpr char kStyle[] =
    "<style>.gpubound{font:13px/1.45 system-ui,sans-serif;color:inherit;max-width:46rem}"
    ".gpubound p{margin:.2em 0}.gpubound .v{font-size:15px;font-weight:600}"
    ".gpubound .q{opacity:.75}.gpubound .f{display:flex;flex-wrap:wrap;gap:.4em 2em;margin:.7em 0}"
    ".gpubound .f b{display:block;font-size:19px}.gpubound .f span{opacity:.75}"
    ".gpubound .b{display:flex;height:18px;border-radius:3px;overflow:hidden;margin:.3em 0}"
    ".gpubound .b i{display:block;min-width:1px}.gpubound .b i "
    "u{display:block;height:100%}"
    ".gpubound table{border-collapse:collapse;margin:.3em "
    "0;background:none;color:inherit;font:inherit}"
    ".gpubound td,.gpubound th{padding:.1em .9em .1em 0;text-align:right;border:0;background:none;"
    "color:inherit;white-space:nowrap}.gpubound th{font-weight:400;opacity:.75}"
    ".gpubound td:first-child,.gpubound th:first-child{text-align:left}"
    ".gpubound s{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.5em}"
    "</style>";

struct Part {
  std::string name;
  int64_t wall_ns = 0;
  int64_t gpu_busy_ns = 0;
};

// What the bar is of: the mean iteration, or the process where it has none.
struct Stack {
  std::string title;
  int64_t whole_ns = 0;
  uint64_t times = 1;
  std::vector<Part> parts;  // longest first; what is short is one
};

template <typename Operations>
std::vector<Part> PartsOf(const Operations& operations) {
  std::vector<Part> parts;
  for (const auto& row : operations) {
    if (row.wall_ns > 0) parts.push_back({row.operation, row.wall_ns, row.gpu_busy_ns});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.wall_ns > b.wall_ns; });
  if (parts.size() <= kMostOperations) return parts;
  Part others{std::to_string(parts.size() - kMostOperations + 1) + " more", 0, 0};
  for (size_t i = kMostOperations - 1; i < parts.size(); ++i) {
    others.wall_ns += parts[i].wall_ns;
    others.gpu_busy_ns += parts[i].gpu_busy_ns;
  }
  parts.resize(kMostOperations - 1);
  parts.push_back(others);
  return parts;
}

Stack StackOf(const Report& report, const ReportProcess& process) {
  if (report.run.headline == "iterations" && process.iterations) {
    const ReportIterations& all = *process.iterations;
    return {"Mean iteration, " + FormatTime(all.mean_ns), all.total_ns,
            std::max<uint64_t>(all.count, 1), PartsOf(all.operations)};
  }
  return {"The process, " + FormatTime(process.span_ns), process.span_ns, 1,
          PartsOf(process.operations)};
}

std::string Number(const char* format, double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string Percent(double share) { return Number("%.3f%%", 100 * share); }

std::string BarOf(const Stack& stack) {
  std::string html = "<div class=\"b\" role=\"img\" aria-label=\"" + EscapeXml(stack.title) + "\">";
  for (size_t i = 0; i < stack.parts.size(); ++i) {
    const Part& part = stack.parts[i];
    const std::string colour = kColours[i % kColours.size()];
    html += "<i style=\"width:" + Percent(ShareOf(part.wall_ns, stack.whole_ns)) +
            ";background:" + colour + kPale + "\" title=\"" + EscapeXml(EscapeName(part.name)) +
            "\"><u style=\"width:" + Percent(ShareOf(part.gpu_busy_ns, part.wall_ns)) +
            ";background:" + colour + "\"></u></i>";
  }
  return html + "</div>";
}

std::string RowsOf(const Stack& stack, bool without_gpu) {
  std::string html =
      "<table><tr><th>" + EscapeXml(stack.title) + "</th><th>time</th><th>share</th>";
  html += without_gpu ? "</tr>" : "<th>GPU busy</th></tr>";
  for (size_t i = 0; i < stack.parts.size(); ++i) {
    const Part& part = stack.parts[i];
    html += "<tr><td><s style=\"background:" + std::string(kColours[i % kColours.size()]) +
            "\"></s>" + EscapeXml(EscapeName(part.name)) + "</td><td>" +
            FormatTime(part.wall_ns / static_cast<int64_t>(stack.times)) + "</td><td>" +
            FormatShare(ShareOf(part.wall_ns, stack.whole_ns)) + "</td>";
    if (!without_gpu) {
      html += "<td>" + FormatShare(ShareOf(part.gpu_busy_ns, part.wall_ns)) + "</td>";
    }
    html += "</tr>";
  }
  return html + "</table>";
}

using Figure = std::pair<std::string, std::string>;  // value and name

std::vector<Figure> FiguresOf(const Report& report, const ReportProcess& process,
                              bool without_gpu) {
  const ReportRun& run = report.run;
  std::vector<Figure> figures;
  if (!without_gpu) {
    figures.emplace_back(Bounded(run.gpu_busy_is_upper_bound, run.gpu_busy_is_lower_bound,
                                 FormatShare(run.gpu_busy_share)),
                         "GPU busy");
    figures.emplace_back(FormatShare(process.smi_model), "at most, in nvidia-smi");
  }
  if (process.iterations) {
    figures.emplace_back(FormatTime(process.iterations->median_ns), "median iteration");
    for (const ReportThroughput& work : process.throughput) {
      figures.emplace_back(RateText(work.per_second), WorkText(work.counter) + " a second");
    }
    figures.emplace_back(FormatTime(process.iterations->p95_ns), "95 % of iterations, at most");
  }
  figures.emplace_back(FormatTime(run.wall_ns), "run");
  constexpr size_t kMostFigures = 4;
  if (figures.size() > kMostFigures) figures.resize(kMostFigures);
  return figures;
}

std::string SavingsOf(const ReportRun& run) {
  std::string html;
  for (size_t i = 0; i < std::min(kMostSavings, run.savings.size()); ++i) {
    const ReportSaving& saving = run.savings[i];
    if (saving.saves_high <= 0.005) continue;
    html += "<tr><td>" + EscapeXml(SavingName(saving.part, saving.name, kNameWidth, true)) +
            "</td><td>" + FormatTime(saving.wall_ns) + "</td><td>" + EscapeXml(SavesText(saving)) +
            "</td></tr>";
  }
  if (html.empty()) return "";
  return "<table><tr><th>If this were twice as fast</th><th>" +
         std::string(run.savings.front().of_iteration ? "iteration" : "run") +
         " takes</th><th>saves (95 %)</th></tr>" + html + "</table>";
}

std::string Paragraph(const char* of_class, const std::string& text) {
  return "<p class=\"" + std::string(of_class) + "\">" + EscapeXml(text) + "</p>";
}

}  // namespace

std::string RenderNotebookHtml(const Report& report, const std::string& name) {
  std::string html = "<div class=\"gpubound\">" + std::string(kStyle);
  if (const std::string mark = SimulatedMark(report); !mark.empty()) html += Paragraph("q", mark);
  if (!report.diagnosis.empty()) {
    const ReportDiagnosis& verdict = report.diagnosis.front();
    html += Paragraph("v", verdict.finding);
    if (!verdict.action.empty()) html += Paragraph("a", "Try: " + verdict.action);
    if (!verdict.gain.empty()) html += Paragraph("a", "Gain: " + verdict.gain);
  }
  if (const ReportProcess* const process = HeadlineProcess(report); process != nullptr) {
    const bool without_gpu = UsesNoGpu(report);
    html += "<div class=\"f\">";
    for (const auto& [value, of] : FiguresOf(report, *process, without_gpu)) {
      html += "<div><b>" + EscapeXml(value) + "</b><span>" + EscapeXml(of) + "</span></div>";
    }
    const Stack stack = StackOf(report, *process);
    html += "</div>" + BarOf(stack) + RowsOf(stack, without_gpu);
    const std::string roles = WordsOfTraining(report, {}).bound;
    if (!roles.empty()) html += Paragraph("a", roles + ".");
    html += SavingsOf(report.run);
  }
  html += Paragraph("q", EscapeName(name) + ". Data quality: " + report.run.verdict);
  return html + "</div>";
}

}  // namespace gpubound
