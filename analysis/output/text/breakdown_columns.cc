// SPDX-License-Identifier: Apache-2.0
//
// Fits columns into a width. No state.
#include "analysis/output/text/breakdown_columns.h"

#include <algorithm>
#include <optional>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/table_legend.h"

namespace gpubound {
namespace {

constexpr int kLongestBar = 40;
constexpr int kLeastBar = 10;    // what a bar needs to tell shares from each other
constexpr int kSmallestBar = 5;  // on a narrow terminal

// How tightly a table is set.
struct Setting {
  int longest_name;
  int gap;
};
constexpr Setting kLoose{kLongestTableName, 2};
constexpr Setting kTight{kLongestTableName, 1};
constexpr Setting kTightest{kSmallestTableName, 1};

bool Asks(const TextOptions& options, std::string_view attribution) {
  return std::find(options.attribution.begin(), options.attribution.end(), attribution) !=
         options.attribution.end();
}

bool IsAskedFor(const BreakdownColumn& column, const TextOptions& options) {
  return (column.head == kCaused && Asks(options, "caused")) ||
         (column.head == kGpuBusy && Asks(options, "timeline"));
}

// Those that are asked for; without --raw, whose readers count columns, none of nothing but
// zeros.
std::vector<BreakdownColumn> WantedColumns(const std::vector<Breakdown>& rows,
                                           const TextOptions& options) {
  const bool any = options.attribution.empty();
  std::vector<BreakdownColumn> columns{{"wall", &ReportOperation::wall_ns}};
  if (any || Asks(options, "timeline")) {
    columns.push_back(
        {kGpuBusy, &ReportOperation::gpu_busy_ns, &ReportOperation::gpu_busy_is_upper_bound});
  }
  const size_t kept = columns.size();
  if ((any || Asks(options, "caused")) && !rows.empty() && rows.front().has_caused) {
    columns.push_back(
        {kCaused, &ReportOperation::gpu_caused_ns, &ReportOperation::gpu_caused_is_upper_bound});
  }
  columns.insert(columns.end(), {{"cpu only", &ReportOperation::cpu_only_ns},
                                 {kBothWork, &ReportOperation::cpu_gpu_ns},
                                 {kGpuOnly, &ReportOperation::gpu_only_ns},
                                 {"waiting", &ReportOperation::waiting_ns},
                                 {kIdle, &ReportOperation::idle_ns},
                                 {"unknown", &ReportOperation::unknown_ns}});
  if (options.raw) return columns;
  const auto says_nothing = [&](const BreakdownColumn& column) {
    if (IsAskedFor(column, options)) return false;
    return std::all_of(rows.begin(), rows.end(),
                       [&column](const Breakdown& row) { return row.time.*column.value == 0; });
  };
  columns.erase(std::remove_if(columns.begin() + static_cast<std::ptrdiff_t>(kept), columns.end(),
                               says_nothing),
                columns.end());
  return columns;
}

// The same of a run that is about the CPU alone: what it does besides working.
std::vector<BreakdownColumn> CpuColumns(const std::vector<Breakdown>& rows,
                                        const TextOptions& options) {
  std::vector<BreakdownColumn> columns = WantedColumns(rows, options);
  const bool only_works = std::all_of(rows.begin(), rows.end(), [](const Breakdown& row) {
    return row.time.cpu_only_ns == row.time.wall_ns;
  });
  std::erase_if(columns, [&](const BreakdownColumn& column) {
    return (column.head == kGpuBusy && !IsAskedFor(column, options)) ||
           (column.value == &ReportOperation::cpu_only_ns && only_works);
  });
  for (BreakdownColumn& column : columns) {
    if (column.value == &ReportOperation::cpu_only_ns) column.head = "CPU works";
  }
  return columns;
}

// Columns of the terminal that names and figures of |rows| leave to bars; negative where not even
// they fit.
class Room {
 public:
  Room(const std::vector<Breakdown>& rows, const TextOptions& options)
      : rows_(rows), options_(options) {
    for (const Breakdown& row : rows) {
      longest_name_ = std::max(longest_name_, DisplayWidth(ShownName(row.name)));
    }
  }

  int ForBars(const std::vector<BreakdownColumn>& columns, const Setting& setting) const {
    int left = options_.width - std::min(longest_name_, setting.longest_name) - setting.gap;
    for (const BreakdownColumn& column : columns) {
      size_t width = column.head.size();
      for (const Breakdown& row : rows_) {
        width = std::max(width, CellOf(row, column, options_).size());
      }
      left -= static_cast<int>(width) + setting.gap;
    }
    return left;
  }

  // A long bar takes no room from names.
  int Bar(const std::vector<BreakdownColumn>& columns) const {
    const int beside_whole_names = ForBars(columns, {options_.width, kLoose.gap});
    if (beside_whole_names >= kLeastBar) return std::min(beside_whole_names, kLongestBar);
    for (const Setting& setting : {kLoose, kTight}) {
      if (ForBars(columns, setting) >= kLeastBar) return kLeastBar;
    }
    const int room = std::min(ForBars(columns, kTightest), kLeastBar);
    return room < kSmallestBar ? 0 : room;
  }

 private:
  const std::vector<Breakdown>& rows_;
  const TextOptions& options_;
  int longest_name_ = kSmallestTableName;
};

}  // namespace

std::string CellOf(const Breakdown& row, const BreakdownColumn& column,
                   const TextOptions& options) {
  const bool at_most = column.is_upper_bound != nullptr && row.time.*column.is_upper_bound;
  const bool at_least = (column.head == kGpuBusy && row.time.unknown_ns > 0) ||
                        (column.head == kCaused && row.time.gpu_caused_is_lower_bound);
  const std::string figure =
      Bounded(at_most, at_least, FormatTime(row.time.*column.value, options.raw));
  const bool missing = column.value == &ReportOperation::wall_ns && row.time.scopes_missing;
  return missing ? std::string(kScopesMissing) + figure : figure;
}

BreakdownLayout LayOut(const std::vector<Breakdown>& rows, const TextOptions& options,
                       bool has_gpu) {
  BreakdownLayout layout;
  layout.columns =
      has_gpu || options.raw ? WantedColumns(rows, options) : CpuColumns(rows, options);
  if (options.raw) return layout;
  // What goes first, until a bar of |bar| columns fits: what the others and the bar imply.
  struct Step {
    std::string_view head;
    Setting setting;
    int bar;
  };
  const Room room(rows, options);
  for (const Step& step :
       {Step{kCaused, kLoose, kLeastBar}, Step{kGpuBusy, kTight, kLeastBar},
        Step{kBothWork, kTightest, kSmallestBar}, Step{kIdle, kTightest, kSmallestBar},
        Step{kGpuOnly, kTightest, kSmallestBar}}) {
    if (room.ForBars(layout.columns, step.setting) >= step.bar) continue;
    const auto gone = [&](const BreakdownColumn& column) {
      return column.head == step.head && !IsAskedFor(column, options);
    };
    if (std::erase_if(layout.columns, gone) != 0) layout.left_out.push_back(step.head);
  }
  layout.bar = room.Bar(layout.columns);
  return layout;
}

size_t ColumnsThatFit(const std::vector<Breakdown>& rows,
                      const std::vector<BreakdownColumn>& columns, size_t first,
                      const TextOptions& options) {
  if (!options.raw) return columns.size() - first;
  const Room room(rows, options);
  const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(first);
  // Names are whole where they leave half of the line.
  const Setting setting{std::max(options.width / 2, kLongestTableName), kLoose.gap};
  for (auto end = columns.end(); end - begin > 1; --end) {
    if (room.ForBars({begin, end}, setting) >= -kLoose.gap) return static_cast<size_t>(end - begin);
  }
  return 1;
}

}  // namespace gpubound
