// SPDX-License-Identifier: Apache-2.0
//
// Renders savings. No state.
#include "analysis/output/text/savings_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/base/text_table.h"
#include "analysis/output/text/bars.h"
#include "analysis/output/text/path_text.h"
#include "analysis/report/main_process.h"

namespace gpubound {
namespace {

constexpr double kLeast = 0.01;  // less is left out
constexpr int kWidestBar = 16;
constexpr int kAnyWidth = 1'000'000;

std::string BarOf(double share, const TextOptions& options) {
  return Repeat(options.unicode ? "█" : "#", std::lround(share * kWidestBar));
}

// Of a GPU whose work is not all known, what it takes is not all taken out.
std::string Share(const Report& report, const ReportSaving& saving) {
  const bool gpu = saving.part != "layer" && saving.part != "operation_cpu";
  return Bounded(gpu && report.run.whole_gpu_busy_is_upper_bound,
                 gpu && report.run.whole_unknown.share > 0, SavesText(saving));
}

// The simulator is often all that the CPU does in one operation: one row says so.
bool IsSaidBefore(const std::vector<ReportSaving>& savings, size_t i) {
  constexpr double kAlike = 0.005;
  return i > 0 && savings[i].part == "layer" && savings[i].name == "simulator" &&
         savings[i - 1].part == "operation_cpu" && savings[i - 1].saves - savings[i].saves < kAlike;
}

}  // namespace

std::string SavingName(const std::string& part, const std::string& of, const TextOptions& options) {
  constexpr int kWide = 22;
  return SavingName(part, of, kWide, options.unicode);
}

std::string WholeSavingName(const std::string& part, const std::string& of) {
  return SavingName(part, of, kAnyWidth, /*unicode=*/true);
}

void TellApart(const std::vector<std::string>& whole, std::vector<std::string>* names) {
  std::map<std::string, std::set<std::string>> alike;
  for (size_t i = 0; i < names->size(); ++i) alike[(*names)[i]].insert(whole[i]);
  for (size_t i = 0; i < names->size(); ++i) {
    if (alike.at((*names)[i]).size() > 1) (*names)[i] = whole[i];
  }
}

std::vector<std::string> SavingsHeads(const Report& report, const TextOptions& options) {
  const std::string owner = OnlyLaunches(report) ? OwnerText(report, options) : "";
  const std::vector<ReportSaving>& savings = report.run.savings;
  const bool of_iteration = !savings.empty() && savings.front().of_iteration;
  return {"If this were twice as fast",
          of_iteration ? "iteration" + owner : "run" + owner + " takes", "saves (95 %)"};
}

std::vector<std::vector<std::string>> SavingsRows(const Report& report, const TextOptions& options,
                                                  size_t most, std::vector<std::string>* bars) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> names;
  std::vector<std::string> whole;
  const std::vector<ReportSaving>& all = report.run.savings;
  for (size_t i = 0; report.run.critical_path && i < all.size() && rows.size() < most; ++i) {
    const ReportSaving& saving = all[i];
    if (saving.saves < kLeast) break;
    if (!options.full && IsSaidBefore(all, i)) continue;
    names.push_back(SavingName(saving.part, saving.name, options));
    whole.push_back(WholeSavingName(saving.part, saving.name));
    rows.push_back({"", FormatTime(saving.wall_ns, options.raw), Share(report, saving)});
    if (bars != nullptr) bars->push_back(BarOf(saving.saves, options));
  }
  TellApart(whole, &names);
  for (size_t i = 0; i < rows.size(); ++i) rows[i][0] = names[i];
  return rows;
}

std::string SavingsSection(const Report& report, const TextOptions& options, size_t most) {
  std::vector<std::string> bars;
  const std::vector<std::vector<std::string>> rows = SavingsRows(report, options, most, &bars);
  if (rows.empty()) return {};
  const bool has_bars = options.width >= kWidthForBars;
  TextTable table(SavingsHeads(report, options));
  for (size_t i = 0; i < rows.size(); ++i) table.AddRow(rows[i], has_bars ? bars[i] : "");
  return "\n" + table.Render(options.width, has_bars ? kWidestBar : 0, options.unicode);
}

}  // namespace gpubound
