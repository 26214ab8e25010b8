// SPDX-License-Identifier: Apache-2.0
//
// Sums up. No state.
#include "analysis/attribution/op_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/trace/op_cost.h"
#include "analysis/trace/work_category.h"

namespace gpubound {
namespace {

// Absent where either is.
void AddTo(std::optional<double>* sum, std::optional<double> value) {
  if (*sum) *sum = value ? std::optional(**sum + *value) : std::nullopt;
}

// A row that begins with nothing, of which everything is known.
ReportOp EmptyRow(const std::string& op, const std::string& shape, const std::string& types) {
  ReportOp row;
  row.op = op;
  row.shape = shape;
  row.types = types;
  row.flops = row.bytes = 0;
  return row;
}

void AddRow(const ReportOp& row, ReportOp* sum) {
  sum->calls += row.calls;
  sum->count += row.count;
  sum->sum_ns += row.sum_ns;
  AddTo(&sum->flops, row.flops);
  AddTo(&sum->bytes, row.bytes);
}

class Rows {
 public:
  void Add(const OpTime& time) {
    const auto [place, is_new] =
        rows_.try_emplace({time.op.name, time.op.dims, time.op.types},
                          EmptyRow(time.op.name, time.op.dims, time.op.types));
    ReportOp& row = place->second;
    ReportOp part;
    part.calls = time.calls;
    part.count = time.count;
    part.sum_ns = time.sum_ns;
    if (const std::optional<OpCost> cost = CostOf(time.op)) {
      const auto calls = static_cast<double>(time.calls);
      part.flops = cost->flops * calls;
      if (cost->bytes) part.bytes = *cost->bytes * calls;
    }
    AddRow(part, &row);
    categories_[place->first][CategoryOfWork(time)] += time.sum_ns;
  }

  std::vector<ReportOp> Take() {
    std::vector<ReportOp> rows;
    for (auto& [key, row] : rows_) {
      const auto& times = categories_[key];
      const auto longest =
          std::max_element(times.begin(), times.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      row.category = WorkCategoryName(longest->first);
      if (row.calls == 0) row.flops = row.bytes = std::nullopt;  // whose first work is not there
      rows.push_back(std::move(row));
    }
    Sort(&rows);
    if (rows.size() > kMostOpRows) FoldLast(&rows);
    return rows;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;

  // Names are few, and looked at once.
  WorkCategory CategoryOfWork(const OpTime& time) {
    const auto [place, is_new] = known_.try_emplace({time.name, time.op.name, time.work_class});
    if (is_new) place->second = CategoryOf(time.name, time.work_class, time.op.name);
    return place->second;
  }

  static void Sort(std::vector<ReportOp>* rows) {
    std::sort(rows->begin(), rows->end(), [](const ReportOp& a, const ReportOp& b) {
      return std::tie(b.sum_ns, a.op, a.shape, a.types) <
             std::tie(a.sum_ns, b.op, b.shape, b.types);
    });
  }

  static void FoldLast(std::vector<ReportOp>* rows) {
    std::map<std::string, ReportOp> others;
    for (size_t i = kMostOpRows; i < rows->size(); ++i) {
      const ReportOp& row = (*rows)[i];
      const auto [place, is_new] = others.try_emplace(row.op, EmptyRow(row.op, kOtherShapes, ""));
      if (is_new) place->second.category = row.category;
      AddRow(row, &place->second);
    }
    rows->resize(kMostOpRows);
    for (auto& [op, row] : others) rows->push_back(std::move(row));
    Sort(rows);
  }

  std::map<std::tuple<std::string, std::string, WorkClass>, WorkCategory> known_;
  std::map<Key, ReportOp> rows_;
  std::map<Key, std::map<WorkCategory, int64_t>> categories_;
};

}  // namespace

std::vector<ReportOp> OpRows(const std::vector<OpTime>& times, const DeviceKind* peak) {
  Rows rows;
  for (const OpTime& time : times) rows.Add(time);
  std::vector<ReportOp> taken = rows.Take();
  if (peak == nullptr) return taken;
  for (ReportOp& row : taken) {
    const double seconds = static_cast<double>(row.sum_ns) / 1e9;
    if (seconds <= 0) continue;
    const bool is_16_bit = row.types.starts_with("Half") || row.types.starts_with("BFloat16");
    if (row.flops && is_16_bit) row.peak_flops_share = *row.flops / seconds / peak->flops;
    if (row.bytes) row.peak_bytes_share = *row.bytes / seconds / peak->bytes;
  }
  return taken;
}

}  // namespace gpubound
