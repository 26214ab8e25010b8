// SPDX-License-Identifier: Apache-2.0
//
// Draws the tables. One report, one object.
#include "analysis/output/text/breakdown_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/bars.h"
#include "analysis/output/text/breakdown_columns.h"
#include "analysis/output/text/paint.h"

namespace gpubound {
namespace {

// Length by share of the span, filling by what the GPU did in it.
std::string Bar(const ReportOperation& row, int64_t span_ns, int width,
                const TextOptions& options) {
  const int64_t length = std::lround(ShareOf(row.wall_ns, span_ns) * width);
  struct Part {
    int64_t columns;
    double rest;  // of a column
  };
  const auto part_of = [&](int64_t ns) {
    const double columns = ShareOf(ns, span_ns) * width;
    return Part{static_cast<int64_t>(columns), columns - std::floor(columns)};
  };
  std::array parts{part_of(row.gpu_busy_ns), part_of(row.cpu_only_ns),
                   part_of(row.idle_ns + row.waiting_ns), part_of(row.unknown_ns)};
  // What the parts have beyond whole columns goes to those that have most of it.
  int64_t drawn = 0;
  for (const Part& part : parts) drawn += part.columns;
  for (; drawn < length; ++drawn) {
    const auto most = std::max_element(
        parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.rest < b.rest; });
    ++most->columns;
    most->rest = 0;
  }
  const auto [busy, cpu, idle, unknown] = parts;
  const bool unicode = options.unicode;
  return Painted(Repeat(unicode ? "█" : "#", busy.columns), Paint::kBusy, options) +
         Painted(Repeat(unicode ? "▒" : "-", cpu.columns), Paint::kCpu, options) +
         Repeat(unicode ? "·" : ".", idle.columns) +
         Painted(Repeat("?", unknown.columns), Paint::kWarning, options);
}

}  // namespace

std::string BreakdownTables::Operations(const ReportProcess& process, size_t most) {
  std::vector<Breakdown> rows;
  for (const ReportOperation& row : process.operations) {
    if (row.other_threads_only) continue;  // OtherThreadsSentence
    rows.push_back({row.operation + (row.inherited ? " (inherited)" : ""), row,
                    /*has_caused=*/true});
  }
  return Table("Operation", std::move(rows), most, process.span_ns);
}

std::string BreakdownTables::Groups(const ReportProcess& process, const char* title,
                                    std::string ReportCell::*dimension, size_t most) {
  std::map<std::string, ReportOperation> groups;
  for (const ReportCell& cell : process.cells) AddCellTo(cell, &groups[cell.*dimension]);
  std::vector<Breakdown> rows;
  for (auto& [name, time] : groups) {
    time.scopes_missing = AnyScopesMissing(process.operations);
    rows.push_back({name, time});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Breakdown& a, const Breakdown& b) {
    return a.time.wall_ns > b.time.wall_ns;
  });
  return Table(title, std::move(rows), most, process.span_ns);
}

std::string BreakdownTables::Table(const char* title, std::vector<Breakdown> rows, size_t most,
                                   int64_t span_ns) {
  if (most > 0 && !options_.raw) rows = LongestRows(std::move(rows), most);
  const BreakdownLayout layout = LayOut(rows, options_, has_gpu_);
  for (const std::string_view head : layout.left_out) legend_.LeaveOut(head);
  for (const BreakdownColumn& column : layout.columns) legend_.Show(column.head);
  if (!rows.empty() && rows.front().time.scopes_missing) legend_.Show(kScopesMissing);
  if (layout.bar > 0) legend_.ShowBar(has_gpu_);
  std::string text;
  for (size_t first = 0; first < layout.columns.size();) {
    const size_t count = ColumnsThatFit(rows, layout.columns, first, options_);
    std::vector<std::string> heads{title};
    for (size_t i = first; i < first + count; ++i) heads.emplace_back(layout.columns[i].head);
    TextTable table(heads);
    for (const Breakdown& row : rows) {
      std::vector<std::string> cells{ShownName(row.name)};
      for (size_t i = first; i < first + count; ++i) {
        cells.push_back(CellOf(row, layout.columns[i], options_));
      }
      table.AddRow(std::move(cells),
                   layout.bar > 0 ? Bar(row.time, span_ns, layout.bar, options_) : "");
    }
    text += "\n" + table.Render(options_.width, layout.bar, options_.unicode);
    first += count;
  }
  return text;
}

}  // namespace gpubound
