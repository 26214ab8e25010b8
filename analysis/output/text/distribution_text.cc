// SPDX-License-Identifier: Apache-2.0
//
// Renders a distribution. No state.
#include "analysis/output/text/distribution_text.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/pid_text.h"
#include "analysis/report/distribution.h"

namespace gpubound {
namespace {

constexpr size_t kFewestRanks = 8;   // of fewer, each has rows of its own to look at
constexpr size_t kMostRows = 12;     // operations and layers
constexpr size_t kMostMachines = 6;  // that differ most
constexpr size_t kMostOutlierGroupsShown = 3;
constexpr size_t kMostOfGroup = 2;  // hosts, or operations

class Names {
 public:
  Names(const Report& report, bool unicode) : report_(report), pids_(report.processes, unicode) {
    for (const ReportRank& rank : report.ranks) ranks_[{rank.host, rank.pid}] = rank.rank;
  }

  // "rank 13", or "pid 4711", with the host where there are several.
  std::string Of(size_t process) const {
    const ReportProcess& of = report_.processes[process];
    const auto found = ranks_.find({of.host, of.pid});
    if (found != ranks_.end() && found->second) {
      return "rank " + std::to_string(*found->second) + pids_.On(of.host);
    }
    return "pid " + pids_.Of(of.pid, of.host);
  }

 private:
  const Report& report_;
  const PidText pids_;
  std::map<std::pair<std::string, int64_t>, std::optional<int64_t>> ranks_;
};

// Of a machine in the operation whose medians differ most between machines.
struct MachineMedian {
  std::string host;
  size_t processes = 0;
  Spread wall;
};

std::string SpreadTable(const Distribution& distribution, const Names& names,
                        const TextOptions& options) {
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  TextTable table({"Over " + FormatCount(distribution.processes.size()) + " ranks", "min", "p5",
                   "median", "p95", "max", "shortest", "longest"});
  size_t rows = 0;
  for (const DistributionRow& row : distribution.rows) {
    if (row.wall.max_ns == 0 || rows++ >= kMostRows) continue;
    const std::string name =
        row.layer.empty() ? ShownName(row.operation) : "  " + EscapeName(row.layer);
    const Spread& wall = row.wall;
    table.AddRow({name, time(wall.min_ns), time(wall.p5_ns), time(wall.median_ns),
                  time(wall.p95_ns), time(wall.max_ns), names.Of(wall.min_process),
                  names.Of(wall.max_process)});
  }
  return "\n" + table.Render(options.width, 0, options.unicode) +
         (rows > kMostRows ? Wrap("--json has " + FormatCount(rows - kMostRows) + " more rows.",
                                  options.width, 2)
                           : "");
}

// The operation in which machines differ most, by their medians; the machines with the longest.
std::string MachineTable(const Distribution& distribution, const Names& names,
                         const TextOptions& options) {
  if (distribution.machines.size() < 2) return {};
  std::map<std::string, std::vector<MachineMedian>> by_operation;
  for (const MachineDistribution& machine : distribution.machines) {
    for (const DistributionRow& row : machine.rows) {
      if (!row.layer.empty()) continue;
      by_operation[row.operation].push_back({machine.host, machine.processes.size(), row.wall});
    }
  }
  const auto difference = [&](const std::vector<MachineMedian>& machines) {
    const auto [least, most] = std::minmax_element(
        machines.begin(), machines.end(),
        [](const auto& a, const auto& b) { return a.wall.median_ns < b.wall.median_ns; });
    // A machine without the operation spends no time in it.
    const bool all = machines.size() == distribution.machines.size();
    return most->wall.median_ns - (all ? least->wall.median_ns : 0);
  };
  const auto chosen = std::max_element(
      by_operation.begin(), by_operation.end(),
      [&](const auto& a, const auto& b) { return difference(a.second) < difference(b.second); });
  if (chosen == by_operation.end() || difference(chosen->second) == 0) return {};
  std::vector<MachineMedian> machines = chosen->second;
  std::stable_sort(machines.begin(), machines.end(), [](const auto& a, const auto& b) {
    return a.wall.median_ns > b.wall.median_ns;
  });
  if (machines.size() > kMostMachines) machines.resize(kMostMachines);
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  TextTable table(
      {"Machine, in " + ShownName(chosen->first), "processes", "min", "median", "max", "longest"});
  for (const MachineMedian& machine : machines) {
    table.AddRow({EscapeName(machine.host), FormatCount(machine.processes),
                  time(machine.wall.min_ns), time(machine.wall.median_ns),
                  time(machine.wall.max_ns), names.Of(machine.wall.max_process)});
  }
  return "\n" + table.Render(options.width, 0, options.unicode) +
         (machines.size() < distribution.machines.size()
              ? Wrap("These are the slowest " + FormatCount(machines.size()) + " of " +
                         FormatCount(distribution.machines.size()) + " machines there.",
                     options.width, 2)
              : "");
}

std::string SlowestTable(const Distribution& distribution, const Names& names,
                         const TextOptions& options) {
  if (distribution.slowest.empty()) return {};
  TextTable table({"Slowest ranks", "last in", "of all", "others waited"});
  const SlowRank* most_often = &distribution.slowest.front();
  for (const SlowRank& rank : distribution.slowest) {
    if (rank.late > most_often->late) most_often = &rank;
    table.AddRow({names.Of(rank.process), FormatCount(rank.late),
                  FormatShare(ShareOf(static_cast<int64_t>(rank.late),
                                      static_cast<int64_t>(distribution.collectives))),
                  FormatTime(rank.waited_for_ns, options.raw)});
  }
  return "\n" + table.Render(options.width, 0, options.unicode) +
         Wrap((most_often->late_is_doubtful ? "If the clocks of the hosts agree, " : "") +
                  names.Of(most_often->process) + " was the last rank in " +
                  FormatCount(most_often->late) + " of " +
                  Counted(distribution.collectives, "collective") + ".",
              options.width, 2);
}

// "all 8 on node3, on NVIDIA A100", "local rank 0 of each machine", "rank 13 on node1 and 2 more".
std::string GroupText(const OutlierGroup& group, const Names& names) {
  const size_t count = group.processes.size();
  std::string text;
  if (count == 1) {
    text = names.Of(group.processes.front());
  } else if (!group.hosts.empty() && group.hosts.size() <= kMostOfGroup) {
    text = "all " + FormatCount(count) + " on " + EscapeName(group.hosts.front());
    for (size_t i = 1; i < group.hosts.size(); ++i) text += ", " + EscapeName(group.hosts[i]);
  } else if (!group.hosts.empty()) {
    text = "all " + FormatCount(count) + " on " + FormatCount(group.hosts.size()) + " machines";
  } else if (group.local_rank) {
    text = "local rank " + FormatCount(*group.local_rank) + " of each machine";
  } else {
    text = names.Of(group.processes.front()) + " and " + FormatCount(count - 1) + " more";
  }
  return text + (group.gpu.empty() ? "" : ", on " + EscapeName(group.gpu));
}

std::string OutlierTable(const Distribution& distribution, const Names& names,
                         const TextOptions& options) {
  if (distribution.outliers.empty()) return {};
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  TextTable table({"Ranks apart from the others", "median", "of the others"});
  size_t shown = 0;
  for (const OutlierGroup& group : distribution.outliers) {
    if (shown++ >= kMostOutlierGroupsShown) break;
    table.AddRow({GroupText(group, names), "", ""});
    for (size_t i = 0; i < std::min(group.times.size(), kMostOfGroup); ++i) {
      const OutlierTime& of = group.times[i];
      table.AddRow({"  " + ShownName(of.operation), time(of.median_ns), time(of.others_median_ns)});
    }
  }
  std::string about =
      "Apart: further from the others than these are from each other, by 2 % of a rank's time at "
      "least.";
  if (distribution.outliers.size() > kMostOutlierGroupsShown) {
    about += " --json has " +
             Counted(distribution.outliers.size() - kMostOutlierGroupsShown, "more group") + ".";
  }
  return "\n" + table.Render(options.width, 0, options.unicode) + Wrap(about, options.width, 2);
}

}  // namespace

std::string DistributionSection(const Report& report, const TextOptions& options) {
  const Distribution distribution = DistributionOf(report);
  // Processes that are no ranks have different jobs: their times have nothing to be alike in.
  if (distribution.of != kOfRanks || distribution.processes.size() < kFewestRanks) return {};
  const Names names(report, options.unicode);
  return SpreadTable(distribution, names, options) + MachineTable(distribution, names, options) +
         OutlierTable(distribution, names, options) + SlowestTable(distribution, names, options);
}

}  // namespace gpubound
