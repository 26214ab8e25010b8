// SPDX-License-Identifier: Apache-2.0
//
// Renders savings. No state.
#include "analysis/output/text/savings_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "analysis/base/demangle.h"
#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/diagnose.h"
#include "analysis/output/text/bars.h"
#include "analysis/output/text/path_text.h"
#include "analysis/report/main_process.h"

namespace gpubound {
namespace {

constexpr double kLeast = 0.01;  // less is left out
constexpr int kWidestBar = 16;
constexpr int kPercent = 100;

std::string BarOf(double share, const TextOptions& options) {
  return Repeat(options.unicode ? "█" : "#", std::lround(share * kWidestBar));
}

// Of a GPU whose work is not all known, what it takes is not all taken out.
std::string Share(const Report& report, const ReportSaving& saving) {
  const bool gpu = saving.part != "layer" && saving.part != "operation_cpu";
  return Bounded(gpu && report.run.whole_gpu_busy_is_upper_bound,
                 gpu && report.run.whole_unknown.share > 0, SavesText(saving));
}

}  // namespace

std::string SavingName(const std::string& part, const std::string& of, const TextOptions& options) {
  const auto name = [&](int width) {
    return ShortName(ShownName(Demangled(of)), width, options.unicode);
  };
  constexpr int kWide = 22;
  if (part == "gpu") return "all GPU work";
  if (part == "kernel") return "kernel " + name(kWide);
  if (part == "operation_gpu") return "GPU work of " + name(kWide);
  if (part == "operation_cpu") return "CPU code of " + name(kWide);
  if (part == "layer" && of == "python") return "all Python code";
  if (part == "layer" && of == "simulator") return "the simulator";
  return name(kWide);
}

std::string SavesText(const ReportSaving& saving) {
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), " (%.0f to %.0f)",
                std::floor(saving.saves_low * kPercent), std::ceil(saving.saves_high * kPercent));
  return FormatShare(std::max(0.0, saving.saves)) + text.data();
}

std::string SavingsSection(const Report& report, const TextOptions& options, size_t most) {
  if (!report.run.critical_path) return {};
  const std::string owner = OnlyLaunches(report) ? OwnerText(report, options) : "";
  TextTable table({"If this were twice as fast", "run" + owner + " takes", "saves (95 %)"});
  const bool bars = options.width >= kWidthForBars;
  size_t rows = 0;
  for (const ReportSaving& saving : report.run.savings) {
    if (rows == most || saving.saves < kLeast) break;
    table.AddRow({SavingName(saving.part, saving.name, options),
                  FormatTime(saving.wall_ns, options.raw), Share(report, saving)},
                 bars ? BarOf(saving.saves, options) : "");
    ++rows;
  }
  std::string text;
  if (LargestSaving(report.run) == nullptr) {
    text = "\n" + Wrap("No single part that is made twice as fast would save 5 % of the time.",
                       options.width, 2);
  }
  if (rows == 0) return text;
  return text + (text.empty() ? "\n" : "") +
         table.Render(options.width, bars ? kWidestBar : 0, options.unicode);
}

}  // namespace gpubound
