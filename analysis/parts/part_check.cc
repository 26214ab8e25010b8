// SPDX-License-Identifier: Apache-2.0
//
// No state.
#include "analysis/parts/part_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gpubound {
namespace {

// Times of a trace are those of a clock since its machine started. Beyond these nothing adds up.
constexpr int64_t kFarthestNs = int64_t{1} << 61;

bool IsTime(int64_t time_ns) { return time_ns >= -kFarthestNs && time_ns <= kFarthestNs; }

template <typename Numbers>
bool AreBelow(const Numbers& numbers, uint64_t limit) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [limit](const auto number) { return number < limit; });
}

bool IsSoundTable(const ReportIterations& iterations) {
  const ReportIterationSeries& series = iterations.series;
  const auto fits = [&series](const auto& column) {
    return column.size() == series.iterations.size();
  };
  return AreBelow(series.iterations, iterations.every.size()) &&
         series.operation_wall_ns.size() == iterations.operations.size() &&
         series.operation_busy_ns.size() == iterations.operations.size() &&
         std::all_of(series.operation_wall_ns.begin(), series.operation_wall_ns.end(), fits) &&
         std::all_of(series.operation_busy_ns.begin(), series.operation_busy_ns.end(), fits) &&
         std::all_of(series.idle_ns.begin(), series.idle_ns.end(),
                     [&fits](const auto& of_cause) { return fits(of_cause.second); });
}

// Callers come before whom they call.
bool IsSoundTree(const ReportStacks& stacks) {
  for (size_t f = 0; f < stacks.frames.size(); ++f) {
    if (stacks.frames[f].caller > f) return false;
  }
  return true;
}

bool IsSound(const ReportProcess& process) {
  return (!process.iterations || IsSoundTable(*process.iterations)) &&
         std::all_of(process.stacks.begin(), process.stacks.end(), IsSoundTree);
}

bool IsSound(const CollectiveColumns& columns) {
  const size_t kernels = columns.begins_ns.size();
  if (columns.lengths_ns.size() != kernels || columns.name.size() != kernels ||
      columns.stream.size() != kernels || columns.devices.size() != columns.streams.size()) {
    return false;
  }
  if (!AreBelow(columns.name, columns.names.size()) ||
      !AreBelow(columns.stream, columns.streams.size())) {
    return false;
  }
  // An id is one of few rows.
  constexpr uint32_t kMostRows = 1 << 20;
  if (!AreBelow(columns.streams, kMostRows) || !AreBelow(columns.devices, kMostRows)) return false;
  int64_t begin_ns = 0;
  for (size_t k = 0; k < kernels; ++k) {
    if (!IsTime(columns.begins_ns[k]) || (k > 0 && columns.begins_ns[k] < 0)) return false;
    begin_ns += columns.begins_ns[k];
    if (!IsTime(begin_ns) || columns.lengths_ns[k] > static_cast<uint64_t>(kFarthestNs)) {
      return false;
    }
  }
  return true;
}

bool IsSound(const RunTraining& training, size_t processes) {
  if (!training.roles) return true;
  const std::vector<ReportRole>& roles = training.roles->roles;
  return std::all_of(roles.begin(), roles.end(), [processes](const ReportRole& role) {
    return std::all_of(
        role.processes.begin(), role.processes.end(),
        [processes](const ReportRoleProcess& process) { return process.place < processes; });
  });
}

bool IsSound(const PartProcess& process) {
  const ProcessTrace& facts = process.facts;
  const bool goes_on = facts.span_end_ns == kOpenEnded;
  return IsTime(facts.span_begin_ns) && (goes_on || IsTime(facts.span_end_ns)) &&
         IsSound(process.share.report) && IsSound(process.collectives);
}

bool IsSound(const MachineShare& machine, size_t processes) {
  const RunWindows& cut = machine.cut;
  const size_t windows = cut.windows.size();
  const bool has_work = cut.work != 0;
  if (windows == 0 || cut.parts.size() + 1 + (has_work ? 1 : 0) != windows) return false;
  if (has_work && cut.work != windows - 1) return false;
  for (const Interval& window : cut.windows) {
    if (!IsTime(window.begin_ns) || !IsTime(window.end_ns)) return false;
  }
  if (machine.processes.empty() || !AreBelow(machine.processes, processes)) return false;
  return std::all_of(
      machine.devices.begin(), machine.devices.end(), [&](const DeviceUsage& device) {
        return device.windows.size() == windows && AreBelow(device.seen_by, processes) &&
               std::all_of(
                   device.bands.begin(), device.bands.end(),
                   [processes](const DeviceBand& band) { return band.process < processes; });
      });
}

}  // namespace

bool IsSound(const MachinePart& part) {
  const size_t processes = part.processes.size();
  if (!std::all_of(part.processes.begin(), part.processes.end(),
                   [](const PartProcess& process) { return IsSound(process); })) {
    return false;
  }
  const auto is_of_process = [processes](const LateRank& rank) { return rank.process < processes; };
  if (part.training && !IsSound(*part.training, processes)) return false;
  if (!std::all_of(part.late.begin(), part.late.end(), is_of_process)) return false;
  return processes == 0 || (IsSound(part.machine, processes) && IsSound(part.as_root, processes));
}

}  // namespace gpubound
