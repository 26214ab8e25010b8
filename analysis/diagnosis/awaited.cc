// SPDX-License-Identifier: Apache-2.0
//
// Joins waits with what the awaited did. No state.
#include "analysis/diagnosis/awaited.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/base/text_table.h"
#include "analysis/diagnosis/headline_facts.h"
#include "analysis/trace/name_lists.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

constexpr char kSimulation[] = "simulation";  // as a cause of idle time, and as what somebody did
constexpr char kWaitingCause[] = "waiting";

// What an activity is to somebody who waits for it under |operation|, which names what has no name
// of its own: the messages of an environment's worker are simulation too.
std::string NameOf(const ReportActivity& activity, const std::string& operation) {
  const std::string& name = activity.operation == kNoOperation ? operation : activity.operation;
  if (activity.layer == "simulator" || SimulationNames().Matches(name)) return kSimulation;
  return name;
}

// By pid and the operation of the waiting process.
using AwaitedRows = std::map<std::pair<int64_t, std::string>, const ReportAwaited*>;

AwaitedRows AwaitedRowsOf(const ReportProcess& process) {
  AwaitedRows awaited;
  for (const ReportAwaited& row : process.awaited) awaited[{row.pid, row.operation}] = &row;
  return awaited;
}

// What the awaited processes of |wait| did most meanwhile.
std::string MainActivity(const ReportWait& wait, const AwaitedRows& awaited) {
  std::map<std::string, int64_t> sums;
  for (const int64_t pid : wait.pids) {
    const auto found = awaited.find({pid, wait.operation});
    if (found == awaited.end()) continue;
    for (const ReportActivity& activity : found->second->meanwhile) {
      sums[NameOf(activity, wait.operation)] += activity.ns;
    }
  }
  if (sums.empty()) return NameOf({kNoOperation, "", 0}, wait.operation);
  const auto most = std::max_element(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

// The part of an operation's time that the headline is about; of a process that counts no
// iterations all of it.
double CoveredPart(const Report& report, const ReportProcess& process, const ReportOperation& row) {
  if (report.run.headline != "iterations" || !process.iterations) return 1;
  for (const ReportIterationOperation& covered : process.iterations->operations) {
    if (covered.operation == row.operation) return ShareOf(covered.wall_ns, row.wall_ns);
  }
  return 0;
}

}  // namespace

int64_t TimeOfCause(const std::vector<CauseTime>& causes, const std::string& cause) {
  for (const CauseTime& time : causes) {
    if (time.cause == cause) return time.ns;
  }
  return 0;
}

std::vector<WaitGroup> WaitGroups(const ReportProcess& process) {
  const AwaitedRows awaited = AwaitedRowsOf(process);
  std::map<std::string, WaitGroup> by_activity;
  for (const ReportWait& wait : process.waits) {
    const std::string activity = MainActivity(wait, awaited);
    WaitGroup& group = by_activity[activity];
    group.activity = activity;
    group.ns += wait.ns;
    group.pids.insert(wait.pids.begin(), wait.pids.end());
    for (const int64_t pid : wait.pids) {
      const auto row = awaited.find({pid, wait.operation});
      group.workers &= row != awaited.end() && row->second->worker;
    }
  }
  std::vector<WaitGroup> groups;
  for (auto& [activity, group] : by_activity) groups.push_back(std::move(group));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const WaitGroup& a, const WaitGroup& b) { return a.ns > b.ns; });
  return groups;
}

std::vector<const ReportWait*> WaitsThatExplain(const ReportProcess& process,
                                                const std::string& cause) {
  const AwaitedRows awaited = AwaitedRowsOf(process);
  std::vector<const ReportWait*> waits;
  for (const ReportWait& wait : process.waits) {
    const bool simulation =
        SimulationNames().Matches(wait.operation) || MainActivity(wait, awaited) == kSimulation;
    if (cause == (simulation ? kSimulation : kWaitingCause)) waits.push_back(&wait);
  }
  return waits;
}

AwaitedWhileIdle AwaitedFor(const Report& report, const ReportProcess& process,
                            const std::string& cause) {
  const int64_t devices = DeviceCount(process);
  const std::vector<const ReportWait*> waits = WaitsThatExplain(process, cause);
  AwaitedWhileIdle awaited;
  double cause_ns = 0;
  double waits_ns = 0;
  for (const ReportOperation& row : process.operations) {
    const double part = CoveredPart(report, process, row);
    const int64_t row_ns = TimeOfCause(row.device_idle, cause);
    if (part == 0 || row_ns == 0) continue;
    int64_t row_waits_ns = 0;
    for (const ReportWait* wait : waits) {
      if (wait->operation != row.operation) continue;
      row_waits_ns += wait->ns;
      awaited.pids.insert(wait->pids.begin(), wait->pids.end());
    }
    const int64_t idle_waits_ns = std::min(row_waits_ns, row.waiting_ns) * devices;
    cause_ns += part * static_cast<double>(row_ns);
    waits_ns += part * static_cast<double>(std::min(row_ns, idle_waits_ns));
  }
  awaited.share = Ratio(waits_ns, cause_ns);
  return awaited;
}

}  // namespace gpubound
