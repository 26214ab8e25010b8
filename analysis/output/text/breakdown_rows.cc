// SPDX-License-Identifier: Apache-2.0
//
// Sums up cells and rows. No state.
#include "analysis/output/text/breakdown_rows.h"

#include <algorithm>
#include <utility>

#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

// The times that the columns and the bar show.
void AddRowTo(const ReportOperation& row, ReportOperation* sum) {
  for (int64_t ReportOperation::*const time :
       {&ReportOperation::wall_ns, &ReportOperation::gpu_busy_ns, &ReportOperation::gpu_caused_ns,
        &ReportOperation::cpu_only_ns, &ReportOperation::cpu_gpu_ns, &ReportOperation::gpu_only_ns,
        &ReportOperation::waiting_ns, &ReportOperation::idle_ns, &ReportOperation::unknown_ns}) {
    sum->*time += row.*time;
  }
  sum->gpu_busy_is_upper_bound |= row.gpu_busy_is_upper_bound;
  sum->gpu_caused_is_lower_bound |= row.gpu_caused_is_lower_bound;
  sum->scopes_missing |= row.scopes_missing;
}

}  // namespace

void AddCellTo(const ReportCell& cell, ReportOperation* row) {
  row->wall_ns += cell.ns;
  const bool waits = cell.layer == "cuda_sync" || cell.layer == "wait";
  if (cell.gpu == "unknown") {
    row->unknown_ns += cell.ns;
  } else if (cell.gpu == "idle") {
    row->waiting_ns += cell.waiting_ns;
    (waits ? row->idle_ns : row->cpu_only_ns) += cell.ns - cell.waiting_ns;
  } else {
    (waits ? row->gpu_only_ns : row->cpu_gpu_ns) += cell.ns;
    row->gpu_busy_ns += cell.ns;
    row->gpu_busy_is_upper_bound |= cell.gpu_busy_is_upper_bound;
  }
}

bool AnyScopesMissing(const std::vector<ReportOperation>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const ReportOperation& row) { return row.scopes_missing; });
}

std::vector<Breakdown> LongestRows(std::vector<Breakdown> rows, size_t most) {
  if (rows.size() <= most + 1) return rows;
  std::stable_sort(rows.begin(), rows.end(), [](const Breakdown& a, const Breakdown& b) {
    return a.time.wall_ns > b.time.wall_ns;
  });
  Breakdown others;
  others.name = "(" + FormatCount(rows.size() - most) + " others)";
  others.has_caused = rows.front().has_caused;
  for (size_t i = most; i < rows.size(); ++i) AddRowTo(rows[i].time, &others.time);
  // Work of several rows may run at the same time.
  others.time.gpu_caused_is_upper_bound = others.time.gpu_caused_ns > 0;
  rows.resize(most);
  rows.push_back(std::move(others));
  return rows;
}

}  // namespace gpubound
