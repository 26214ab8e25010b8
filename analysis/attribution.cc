// SPDX-License-Identifier: Apache-2.0
//
// Sums cells into rows. No state.
#include "analysis/attribution.h"

#include <algorithm>
#include <tuple>

namespace gpubound {
namespace {

bool CpuWaits(Layer layer) { return layer == Layer::kCudaSync || layer == Layer::kWait; }

void AddCell(const Cell& cell, ReportOperation* row) {
  row->wall_ns += cell.ns;
  if (cell.gpu == kGpuUnknown) {
    row->unknown_ns += cell.ns;
    return;
  }
  const bool waits = CpuWaits(cell.layer);
  if (!IsBusy(cell.gpu)) {
    // Column `waiting` needs a recorded wait on another process; none is recorded yet, and a wait
    // on something unknown is idle.
    (waits ? row->idle_ns : row->cpu_only_ns) += cell.ns;
    return;
  }
  (waits ? row->gpu_only_ns : row->cpu_gpu_ns) += cell.ns;
  row->gpu_busy_ns += cell.ns;
  if (HasClass(cell.gpu, kCompute)) row->gpu_compute_ns += cell.ns;
  if (HasClass(cell.gpu, kComm)) row->gpu_comm_ns += cell.ns;
  if (HasClass(cell.gpu, kCopy)) row->gpu_copy_ns += cell.ns;
  if (cell.layer == Layer::kCudaSync) row->gpu_wait_ns += cell.ns;
}

void AddTransitions(const OperationCounts& counts, ReportOperation* row) {
  for (size_t from = 0; from < kLayerCount; ++from) {
    for (size_t to = 0; to < kLayerCount; ++to) {
      if (counts.transitions[from][to] == 0) continue;
      row->transitions.emplace_back(std::string(LayerName(static_cast<Layer>(from))) + "->" +
                                        LayerName(static_cast<Layer>(to)),
                                    counts.transitions[from][to]);
    }
  }
  std::sort(row->transitions.begin(), row->transitions.end());
}

bool IsEmpty(const ReportOperation& row) {
  return row.wall_ns == 0 && row.count == 0 && row.gpu_caused_ns == 0 && row.transitions.empty();
}

}  // namespace

std::vector<int64_t> CausedTime(const std::vector<GpuItem>& work,
                                const std::vector<OperationIndex>& operation_of,
                                const Interval& span, size_t operations) {
  std::vector<int64_t> caused_ns(operations);
  std::vector<int64_t> covered_until_ns(operations, span.begin_ns);
  for (size_t i = 0; i < work.size(); ++i) {
    const OperationIndex operation = operation_of[i];
    const Interval fresh = Interval{work[i].begin_ns, work[i].end_ns}.ClippedTo(
        {covered_until_ns[operation], span.end_ns});
    if (fresh.empty()) continue;
    caused_ns[operation] += fresh.length();
    covered_until_ns[operation] = fresh.end_ns;
  }
  return caused_ns;
}

std::vector<ReportOperation> OperationRows(const AttributionInput& input) {
  std::vector<ReportOperation> rows(input.operations->size());
  for (const Cell& cell : input.sweep->cells) AddCell(cell, &rows[cell.operation]);
  for (size_t operation = 0; operation < rows.size(); ++operation) {
    ReportOperation& row = rows[operation];
    const OperationCounts& counts = (*input.counts)[operation];
    row.operation = (*input.operations)[operation];
    row.gpu_caused_ns = (*input.caused_ns)[operation];
    row.gpu_sum_ns = input.sweep->by_operation[operation].sum_ns;
    row.sm_filled_ns = input.sweep->by_operation[operation].sm_filled_ns;
    row.count = counts.opened;
    // Nothing encloses the row without an operation, so its inclusive time is its own.
    row.inclusive_wall_ns = operation == kNoOperationIndex ? row.wall_ns : counts.inclusive_wall_ns;
    AddTransitions(counts, &row);
  }
  std::vector<ReportOperation> kept;
  for (size_t operation = 0; operation < rows.size(); ++operation) {
    if (operation != kNoOperationIndex && IsEmpty(rows[operation])) continue;
    kept.push_back(std::move(rows[operation]));
  }
  std::stable_sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
    return std::tie(b.wall_ns, a.operation) < std::tie(a.wall_ns, b.operation);
  });
  return kept;
}

}  // namespace gpubound
