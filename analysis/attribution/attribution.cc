// SPDX-License-Identifier: Apache-2.0
//
// Sums booked time into rows. No state.
#include "analysis/attribution/attribution.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "analysis/timeline/sm_fill.h"

namespace gpubound {
namespace {

using CauseTimes = std::array<int64_t, kIdleCauses>;

bool CpuWaits(Layer layer) { return layer == Layer::kCudaSync || layer == Layer::kWait; }

void AddCell(const CellBook::Row& booked, GpuState gpu, int64_t ns, ReportOperation* row) {
  row->wall_ns += ns;
  if (gpu == kGpuUnknown) {
    row->unknown_ns += ns;
    return;
  }
  const bool waits = CpuWaits(booked.state.layer);
  if (!IsBusy(gpu)) {
    // A wait for something that is not known to be another process is idle.
    (booked.waiting ? row->waiting_ns : waits ? row->idle_ns : row->cpu_only_ns) += ns;
    return;
  }
  (waits ? row->gpu_only_ns : row->cpu_gpu_ns) += ns;
  row->gpu_busy_ns += ns;
  if (HasClass(gpu, kCompute)) row->gpu_compute_ns += ns;
  if (HasClass(gpu, kComm)) row->gpu_comm_ns += ns;
  if (HasClass(gpu, kCopy)) row->gpu_copy_ns += ns;
  if (booked.state.layer == Layer::kCudaSync) row->gpu_wait_ns += ns;
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

void AddCounts(const OperationCounts& counts, ReportOperation* row) {
  row->count = counts.opened;
  row->inclusive_wall_ns = counts.inclusive_wall_ns;
  AddTransitions(counts, row);
}

// Ready time is counted late, so a sum may be more than its time.
void AddCpu(const CpuSplits& splits, OperationIndex operation, ReportOperation* row) {
  if (splits.empty()) return;
  const auto found = splits.find(operation);
  const CpuSplit split = found == splits.end() ? CpuSplit{} : found->second;
  ReportCpu& cpu = row->cpu.emplace();
  cpu.unknown_ns = std::max<int64_t>(0, row->wall_ns - split.told_ns);
  int64_t left_ns = row->wall_ns - cpu.unknown_ns;
  cpu.on_cpu_ns = std::clamp<int64_t>(split.on_cpu_ns, 0, left_ns);
  left_ns -= cpu.on_cpu_ns;
  cpu.ready_ns = std::clamp<int64_t>(split.ready_ns, 0, left_ns);
  cpu.blocked_ns = left_ns - cpu.ready_ns;
  cpu.error_ns = split.error_ns;
}

bool IsEmpty(const ReportOperation& row) {
  return row.wall_ns == 0 && row.count == 0 && row.gpu_caused_ns == 0 && row.launches.count == 0 &&
         row.transitions.empty();
}

std::vector<CauseTime> NonZero(const CauseTimes& times) {
  std::vector<CauseTime> causes;
  for (size_t cause = 0; cause < kIdleCauses; ++cause) {
    if (times[cause] == 0) continue;
    causes.push_back({IdleCauseName(static_cast<IdleCause>(cause)), times[cause]});
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const CauseTime& a, const CauseTime& b) { return a.ns > b.ns; });
  return causes;
}

// What the CPU did while a device's next work had been launched already is no cause: adds to
// |idle|, by operation, what that changes for |device|.
void MoveQueued(const AttributionInput& input, size_t device, std::vector<CauseTimes>* idle) {
  if (input.queued == nullptr || device >= input.queued->size()) return;
  for (const MovedIdle& moved : (*input.queued)[device].moved) {
    CauseTimes& times = (*idle)[moved.operation];
    times[static_cast<size_t>(moved.from)] -= moved.ns;
    times[static_cast<size_t>(moved.to)] += moved.ns;
  }
}

// Idle time of the used devices by operation and cause.
std::vector<CauseTimes> IdleCauses(const AttributionInput& input) {
  std::vector<CauseTimes> idle(input.roles->operations().size());
  if (input.device_used == nullptr) return idle;
  for (const CellBook::Row& row : *input.rows) {
    int64_t& ns = idle[row.state.operation][static_cast<size_t>(row.state.cause)];
    for (size_t device = 0; device < row.busy_ns.size(); ++device) {
      if (!(*input.device_used)[device]) continue;
      ns += row.Wall() - row.busy_ns[device] - row.unknown_ns[device];
    }
  }
  for (size_t device = 0; device < input.device_used->size(); ++device) {
    if ((*input.device_used)[device]) MoveQueued(input, device, &idle);
  }
  return idle;
}

ReportLaunches LaunchesOf(const LaunchTime& time) {
  ReportLaunches launches;
  launches.count = time.lead_ns.count();
  if (launches.count == 0) return launches;
  const LengthCounts::Quantiles lead = time.lead_ns.QuantilesNs();
  const LengthCounts::Quantiles depth = time.depth.QuantilesNs();
  launches.lead_mean_ns = time.lead_ns.MeanNs();
  launches.lead_median_ns = lead.median_ns;
  launches.lead_p95_ns = lead.p95_ns;
  launches.depth_mean =
      static_cast<double>(time.depth.sum_ns()) / static_cast<double>(launches.count);
  launches.depth_median = depth.median_ns;
  launches.depth_p95 = depth.p95_ns;
  if (time.kernels > 0) {
    launches.shorter_kernels_share =
        static_cast<double>(time.shorter_kernels) / static_cast<double>(time.kernels);
  }
  return launches;
}

}  // namespace

ReportLaunches AllLaunches(const AttributionInput& input) {
  LaunchTime all;
  for (const LaunchTime& time : *input.launches) {
    all.lead_ns.Add(time.lead_ns);
    all.depth.Add(time.depth);
    all.kernels += time.kernels;
    all.shorter_kernels += time.shorter_kernels;
  }
  return LaunchesOf(all);
}

ReportQueuedGaps QueuedGaps(const AttributionInput& input, IdleCause cause) {
  ReportQueuedGaps gaps;
  for (const QueuedIdle& device : *input.queued) {
    gaps.count += cause == IdleCause::kQueued ? device.queued_gaps : device.event_wait_gaps;
    for (const MovedIdle& moved : device.moved) gaps.ns += moved.to == cause ? moved.ns : 0;
  }
  if (gaps.count > 0) gaps.mean_ns = gaps.ns / static_cast<int64_t>(gaps.count);
  return gaps;
}

std::vector<ReportCell> NamedCells(const AttributionInput& input) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, ReportCell> cells;
  for (const CellBook::Row& row : *input.rows) {
    for (GpuState gpu = 0; gpu < kGpuStates; ++gpu) {
      const int64_t ns = row.time.by_state[gpu];
      if (ns == 0) continue;
      const std::tuple key{input.roles->phases()[row.state.phase],
                           input.roles->operations()[row.state.operation],
                           std::string(LayerName(row.state.layer)), GpuStateName(gpu)};
      ReportCell& cell = cells[key];
      std::tie(cell.phase, cell.operation, cell.layer, cell.gpu) = key;
      cell.ns += ns;
      if (IsBusy(gpu) && row.time.graph_ns > 0) cell.gpu_busy_is_upper_bound = true;
      if (gpu == kGpuIdle && row.waiting) cell.waiting_ns += ns;
    }
  }
  std::vector<ReportCell> ordered;
  ordered.reserve(cells.size());
  for (auto& [key, cell] : cells) ordered.push_back(std::move(cell));
  return ordered;
}

std::vector<ReportOperation> OperationRows(const AttributionInput& input) {
  const std::vector<std::string>& names = input.roles->operations();
  std::vector<ReportOperation> rows(names.size());
  std::vector<FilledTime> filled(names.size());
  for (const CellBook::Row& booked : *input.rows) {
    ReportOperation& row = rows[booked.state.operation];
    for (GpuState gpu = 0; gpu < kGpuStates; ++gpu) {
      AddCell(booked, gpu, booked.time.by_state[gpu], &row);
    }
    row.gpu_sum_ns += booked.time.sum_ns;
    row.gpu_busy_is_upper_bound |= booked.time.graph_ns > 0;
    filled[booked.state.operation] += booked.time.filled;
  }
  const std::vector<CauseTimes> idle = IdleCauses(input);
  for (size_t operation = 0; operation < rows.size(); ++operation) {
    ReportOperation& row = rows[operation];
    row.operation = names[operation];
    row.sm_filled_ns = static_cast<int64_t>(filled[operation] / kFillOne);
    row.device_idle = NonZero(idle[operation]);
    if (input.caused_ns != nullptr) row.gpu_caused_ns = (*input.caused_ns)[operation];
    if (input.launches != nullptr && operation < input.launches->size()) {
      row.launches = LaunchesOf((*input.launches)[operation]);
    }
    if (input.cpu != nullptr) AddCpu(*input.cpu, static_cast<OperationIndex>(operation), &row);
    if (input.counts != nullptr) AddCounts((*input.counts)[operation], &row);
    if (input.lane != nullptr) {
      const LaneScopes::Counts counts = input.lane->Find(static_cast<OperationIndex>(operation));
      row.count = counts.opened;
      row.inclusive_wall_ns = counts.inclusive_wall_ns;
    }
    // What is no scope of this process, as (no operation) and what it inherits, has nothing nested in
    // it: its inclusive time is its own.
    row.inclusive_wall_ns = std::max(row.inclusive_wall_ns, row.wall_ns);
    row.other_threads_only = operation != kNoOperationIndex && row.count == 0 && row.wall_ns == 0 &&
                             row.inclusive_wall_ns == 0;
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

std::vector<ReportDeviceShare> DeviceShares(const AttributionInput& input,
                                            const ProcessTrace& process) {
  std::vector<ReportDeviceShare> shares;
  for (uint32_t device = 0; device < input.device_used->size(); ++device) {
    if (!(*input.device_used)[device]) continue;
    std::vector<ReportDeviceShare> of_device(input.roles->operations().size());
    std::vector<CauseTimes> idle(of_device.size());
    for (const CellBook::Row& row : *input.rows) {
      ReportDeviceShare& share = of_device[row.state.operation];
      const int64_t wall_ns = row.Wall();
      const int64_t idle_ns = wall_ns - row.busy_ns[device] - row.unknown_ns[device];
      share.wall_ns += wall_ns;
      share.busy_ns += row.busy_ns[device];
      share.busy_is_upper_bound |=
          (*input.device_ran_graph)[device] && row.busy_ns[device] > 0 && row.time.graph_ns > 0;
      share.unknown_ns += row.unknown_ns[device];
      share.idle_ns += idle_ns;
      idle[row.state.operation][static_cast<size_t>(row.state.cause)] += idle_ns;
    }
    MoveQueued(input, device, &idle);
    const Device& row = process.DeviceOf(static_cast<DeviceId>(device));
    for (size_t operation = 0; operation < of_device.size(); ++operation) {
      ReportDeviceShare& share = of_device[operation];
      if (share.wall_ns == 0) continue;
      share.uuid = row.uuid;
      share.ordinal = row.info.index;
      share.operation = input.roles->operations()[operation];
      share.idle_causes = NonZero(idle[operation]);
      shares.push_back(std::move(share));
    }
  }
  return shares;
}

}  // namespace gpubound
