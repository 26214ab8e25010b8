// SPDX-License-Identifier: Apache-2.0
//
// Reads the model. No state.
#include "analysis/diagnosis/headline_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/base/text_table.h"
#include "analysis/report/main_process.h"

namespace gpubound {
namespace {

// How much of |idle_ns|, in which the devices of |process| had no work of its own, others' work ran
// on them, at most.
int64_t OthersAloneNs(const Report& report, const ReportProcess& process, int64_t idle_ns) {
  if (!SharesADevice(report, process)) return 0;
  const std::optional<double> own = OwnShare(report);
  if (!own) return idle_ns;
  const double others = std::max(0.0, report.run.gpu_busy_share - *own);
  const double device_ns =
      static_cast<double>(report.run.devices_used) * static_cast<double>(report.run.headline_ns);
  return std::min<int64_t>(idle_ns, std::llround(others * device_ns));
}

}  // namespace

std::map<std::string, int64_t> IdleByCause(const ReportProcess& process) {
  std::map<std::string, int64_t> sums;
  for (const ReportOperation& row : process.operations) {
    for (const CauseTime& cause : row.device_idle) sums[cause.cause] += cause.ns;
  }
  return sums;
}

int64_t DeviceCount(const ReportProcess& process) {
  std::set<std::pair<std::string, uint32_t>> devices;
  for (const ReportDeviceShare& share : process.device_shares) {
    devices.insert({share.uuid, share.ordinal});
  }
  return static_cast<int64_t>(std::max<size_t>(devices.size(), 1));
}

int64_t SmFilledNs(const ReportProcess& process) {
  int64_t filled_ns = 0;
  for (const ReportOperation& row : process.operations) filled_ns += row.sm_filled_ns;
  return filled_ns;
}

HeadlinePath PathOfHeadline(const Report& report) {
  HeadlinePath of;
  if (!report.run.critical_path) return of;
  const ReportCriticalPath& path = *report.run.critical_path;
  of.is_loop = path.loop_ns > 0 && report.run.headline == "iterations" && HeadlineIsPart(report);
  of.length_ns = of.is_loop ? path.loop_ns : path.wall_ns;
  for (const ReportPathPart& part : path.parts) {
    of.parts.emplace_back(&part, of.is_loop ? part.loop_ns : part.ns);
  }
  return of;
}

bool UsesNoGpu(const Report& report) {
  const ReportRun& run = report.run;
  return run.devices_used == 0 && run.unknown.share == 0 && run.whole_unknown.share == 0 &&
         std::all_of(report.processes.begin(), report.processes.end(),
                     [](const ReportProcess& process) {
                       return process.gpu_busy_ns == 0 && process.unknown_ns == 0;
                     });
}

const ReportProcess* HeadlineProcess(const Report& report) {
  return report.run.headline == "iterations" ? SteppingProcess(report) : MainProcess(report);
}

bool HeadlineIsPart(const Report& report) {
  constexpr double kNearlyAll = 0.95;  // what this leaves out no figure shows
  return report.run.headline != "span" &&
         ShareOf(report.run.headline_ns, report.run.wall_ns) < kNearlyAll;
}

IdleExplained HeadlineIdle(const Report& report) {
  const ReportProcess* process = HeadlineProcess(report);
  // Causes are known of the whole time, that before and after all work among it.
  if (process == nullptr || report.run.headline == "work") return {};
  std::map<std::string, int64_t> sums;
  if (report.run.headline == "iterations") {
    for (const auto& [cause, idle_ns] : process->iterations->series.idle_ns) {
      for (const int64_t ns : idle_ns) sums[cause] += ns;
    }
  } else {
    sums = IdleByCause(*process);
  }
  IdleExplained idle;
  for (const auto& [cause, ns] : sums) idle.idle_ns += ns;
  idle.others_ns = OthersAloneNs(report, *process, idle.idle_ns);
  idle.idle_ns -= idle.others_ns;
  for (const auto& [cause, ns] : sums) {
    if (ns > idle.others_ns) idle.causes.push_back({cause, ns - idle.others_ns});
  }
  std::stable_sort(idle.causes.begin(), idle.causes.end(),
                   [](const CauseTime& a, const CauseTime& b) { return a.ns > b.ns; });
  return idle;
}

bool SharesADevice(const Report& report, const ReportProcess& process) {
  const auto is_its = [&process](const ReportDeviceBand& band) {
    return band.host == process.host && band.pid == process.pid;
  };
  return std::any_of(report.devices.begin(), report.devices.end(), [&](const ReportDevice& device) {
    return device.used && device.processes.size() > 1 &&
           std::any_of(device.processes.begin(), device.processes.end(), is_its);
  });
}

std::optional<double> OwnShare(const Report& report) {
  const ReportProcess* process = HeadlineProcess(report);
  if (process == nullptr || process->gpu_busy_ns == 0) return std::nullopt;
  const bool shared = std::any_of(
      report.devices.begin(), report.devices.end(),
      [](const ReportDevice& device) { return device.used && device.processes.size() > 1; });
  if (!shared) return std::nullopt;
  const double device_ns =
      static_cast<double>(report.run.devices_used) * static_cast<double>(report.run.headline_ns);
  if (report.run.headline != "iterations") {  // all work lies within
    int64_t busy_ns = 0;
    for (const ReportDeviceShare& share : process->device_shares) busy_ns += share.busy_ns;
    return Ratio(static_cast<double>(busy_ns), device_ns);
  }
  // Busy time within iterations is kept for all devices of the process together.
  if (report.run.devices_used != 1) return std::nullopt;
  // Nor is it known by instant: what there is of it after the end of the run.
  if (process->iterations->total_ns > report.run.headline_ns) return std::nullopt;
  return Ratio(static_cast<double>(process->iterations->gpu_busy_ns), device_ns);
}

}  // namespace gpubound
