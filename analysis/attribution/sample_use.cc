// SPDX-License-Identifier: Apache-2.0
//
// Follows the records of all processes in order of time. No state.
#include "analysis/attribution/sample_use.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/trace/counter_records.h"

namespace gpubound {
namespace {

constexpr std::array<std::string_view, 3> kRolloutOperations = {"simulation", "inference",
                                                                "rollout"};

bool IsDiscarded(std::string_view name) {
  return name == kDiscardedCounter || name.starts_with(std::string(kDiscardedCounter) + ":");
}

bool IsWanted(std::string_view name) {
  return name == kPolicyVersionCounter || name == kConsumedVersionCounter ||
         name == kConsumedCounter || IsDiscarded(name);
}

struct Record {
  int64_t time_ns = 0;  // of the reference clock
  size_t process = 0;
  CounterRecord counter;
};

std::vector<Record> RecordsOf(const Run& run, const ClockAlignment& clocks) {
  std::vector<Record> records;
  const std::vector<std::vector<CounterRecord>> all = ReadCountersOfAll(run, IsWanted);
  for (size_t p = 0; p < all.size(); ++p) {
    for (const CounterRecord& record : all[p]) {
      records.push_back({record.time_ns + clocks.offset_ns[p], p, record});
    }
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  return records;
}

// Which version is the newest, by what processes announced so far.
class Versions {
 public:
  explicit Versions(size_t processes) : of_process_(processes) {}
  void Announce(size_t process, double version) {
    of_process_[process] = version;
    newest_ = std::max(newest_.value_or(version), version);
  }
  // As |process| sees it: its own where it announces any, else the newest of all.
  std::optional<double> SeenBy(size_t process) const {
    return of_process_[process] ? of_process_[process] : newest_;
  }

 private:
  std::vector<std::optional<double>> of_process_;
  std::optional<double> newest_;
};

int64_t RolloutGpuTime(const Report& report) {
  int64_t ns = 0;
  for (const ReportProcess& process : report.processes) {
    for (const ReportDeviceShare& share : process.device_shares) {
      const bool rollout = std::find(kRolloutOperations.begin(), kRolloutOperations.end(),
                                     share.operation) != kRolloutOperations.end();
      if (rollout) ns += share.wall_ns;
    }
  }
  return ns;
}

void AddGoodput(const Report& report, ReportSamples* samples) {
  samples->rollout_gpu_ns = RolloutGpuTime(report);
  const double all = samples->consumed + samples->discarded;
  if (samples->rollout_gpu_ns == 0) {
    samples->why_no_goodput = "no device time lies in simulation, inference or rollout";
  } else if (samples->discarded_share) {
    samples->goodput = samples->consumed / all;
  } else {
    samples->why_no_goodput = "no sample was consumed or discarded";
  }
}

}  // namespace

std::optional<ReportSamples> SampleUse(const Run& run, const ClockAlignment& clocks,
                                       const Report& report) {
  ReportSamples samples;
  Versions versions(run.processes.size());
  std::map<std::pair<size_t, uint32_t>, double> pending;  // version, by process and thread
  std::map<int64_t, double> behind;
  std::map<std::string, double> reasons;
  bool any = false;
  for (const auto& [time_ns, process, record] : RecordsOf(run, clocks)) {
    const std::string& name = run.processes[process].LabelOf(record.label).text;
    const std::pair thread{process, record.thread};
    if (record.after_loss) pending.erase(thread);
    if (name == kPolicyVersionCounter) {
      versions.Announce(process, record.value);
      continue;
    }
    if (name == kConsumedVersionCounter) {
      pending[thread] = record.value;
      continue;
    }
    if (record.value < 0) continue;
    any = true;
    if (IsDiscarded(name)) {
      const size_t colon = name.find(':');
      samples.discarded += record.value;
      reasons[colon == std::string::npos ? "" : name.substr(colon + 1)] += record.value;
      continue;
    }
    samples.consumed += record.value;
    const auto version = pending.extract(thread);
    const std::optional<double> now = versions.SeenBy(process);
    if (version.empty() || !now) {
      samples.unknown_version += record.value;
    } else {
      behind[std::llround(*now - version.mapped())] += record.value;
    }
  }
  if (!any) return std::nullopt;
  double sum = 0;
  for (const auto& [versions_behind, count] : behind) {
    samples.versions_behind.push_back({versions_behind, count});
    sum += static_cast<double>(versions_behind) * count;
  }
  const double known = samples.consumed - samples.unknown_version;
  if (known > 0) samples.mean_behind = sum / known;
  for (const auto& [reason, count] : reasons) samples.reasons.push_back({reason, count});
  std::stable_sort(samples.reasons.begin(), samples.reasons.end(),
                   [](const auto& a, const auto& b) { return a.samples > b.samples; });
  const double all = samples.consumed + samples.discarded;
  if (all > 0) samples.discarded_share = samples.discarded / all;
  AddGoodput(report, &samples);
  return samples;
}

}  // namespace gpubound
