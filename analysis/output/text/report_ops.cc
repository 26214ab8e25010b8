// SPDX-License-Identifier: Apache-2.0
//
// Lays the tables out. No state.
#include "analysis/output/text/report_ops.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/report_categories.h"

namespace gpubound {
namespace {

constexpr char kNoOperators[] =
    "No operator is known: only imported PyTorch profiles (activities=[CPU, CUDA]) tell which one "
    "launched a kernel.";
constexpr size_t kMostOps = 40;
constexpr int kWidthWithAll = 110;  // else shapes would be cut
constexpr char kNoOp[] = "(no operator)";

std::string NothingKnown(const TextOptions& options) {
  return "\n" + Wrap(kNoOperators, options.width, 2);
}

// What no operator launched.
ReportOp RestOf(const ReportProcess& process) {
  ReportOp rest;
  rest.op = kNoOp;
  for (const ReportCategory& row : process.categories) {
    rest.count += row.count;
    rest.sum_ns += row.sum_ns;
  }
  for (const ReportOp& row : process.ops) {
    rest.count -= row.count;
    rest.sum_ns -= row.sum_ns;
  }
  return rest;
}

// "611", "0.52": how many |unit| a second.
std::string Rate(std::optional<double> amount, int64_t ns, double unit) {
  if (!amount || ns <= 0) return "-";
  std::array<char, 32> text;
  const double rate = *amount * 1e9 / static_cast<double>(ns) / unit;
  std::snprintf(text.data(), text.size(),
                rate < 9.995   ? "%.2f"
                : rate < 99.95 ? "%.1f"
                               : "%.0f",
                rate);
  return text.data();
}

// The nearer of the two limits.
std::string OfPeak(const ReportOp& row) {
  const double share = std::max(row.peak_flops_share.value_or(0), row.peak_bytes_share.value_or(0));
  return share > 0 ? FormatShare(share) : "-";
}

}  // namespace

std::string OpTable(const ReportProcess& process, const TextOptions& options) {
  if (process.ops.empty()) return NothingKnown(options);
  std::map<std::string, ReportOp> sums;
  for (const ReportOp& row : process.ops) {  // the longest in front, whose category it is
    ReportOp& sum = sums[row.op];
    if (sum.op.empty()) sum.category = row.category;
    sum.op = row.op;
    sum.calls += row.calls;
    sum.count += row.count;
    sum.sum_ns += row.sum_ns;
  }
  std::vector<ReportOp> rows;
  for (const auto& [op, sum] : sums) rows.push_back(sum);
  if (const ReportOp rest = RestOf(process); rest.count > 0) rows.push_back(rest);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ReportOp& a, const ReportOp& b) { return a.sum_ns > b.sum_ns; });
  const int64_t all_ns = AllWorkNs(process);
  TextTable table({"Operator", "category", "calls", "kernels", "GPU time", "share"});
  for (const ReportOp& row : rows) {
    const bool is_rest = row.op == kNoOp;
    table.AddRow({ShownName(row.op), row.category, is_rest ? "" : FormatCount(row.calls),
                  FormatCount(row.count), FormatTime(row.sum_ns, options.raw),
                  FormatShare(ShareOf(row.sum_ns, all_ns))});
  }
  return "\n" + table.Render(options.width, 0, options.unicode);
}

std::string ShapeTable(const ReportProcess& process, const TextOptions& options) {
  if (process.ops.empty()) return NothingKnown(options);
  const bool is_wide = options.width >= kWidthWithAll;
  std::vector<std::string> heads{"Operator, shapes of its inputs"};
  if (is_wide) heads.insert(heads.end(), {"type", "calls", "share"});
  heads.insert(heads.end(), {"GPU time", "TFLOP/s", "GB/s", "peak"});
  TextTable table(std::move(heads));
  const int64_t all_ns = AllWorkNs(process);
  const size_t shown = options.full ? process.ops.size() : std::min(process.ops.size(), kMostOps);
  for (size_t i = 0; i < shown; ++i) {
    const ReportOp& row = process.ops[i];
    std::vector<std::string> cells{ShownName(row.op) + " " + EscapeName(row.shape)};
    if (is_wide) {
      cells.push_back(EscapeName(row.types.substr(0, row.types.find(", "))));
      cells.push_back(FormatCount(row.calls));
      cells.push_back(FormatShare(ShareOf(row.sum_ns, all_ns)));
    }
    cells.push_back(FormatTime(row.sum_ns, options.raw));
    cells.push_back(Rate(row.flops, row.sum_ns, 1e12));
    cells.push_back(Rate(row.bytes, row.sum_ns, 1e9));
    cells.push_back(OfPeak(row));
    table.AddRow(std::move(cells));
  }
  std::string text = "\n" + table.Render(options.width, 0, options.unicode);
  if (shown < process.ops.size()) {
    text += Wrap("and " + std::to_string(process.ops.size() - shown) + " more (--full).",
                 options.width, 2);
  }
  return text;
}

}  // namespace gpubound
