// SPDX-License-Identifier: Apache-2.0
//
// Sorts the times of each row by length. No state.
#include "analysis/report/distribution.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/report/main_process.h"
#include "analysis/report/rank_times.h"

namespace gpubound {
namespace {

using Json = OrderedJson;
using ProcessKey = std::pair<std::string, int64_t>;  // host, pid

constexpr size_t kMostNamedOutliers = 64;

std::map<ProcessKey, size_t> IndicesOf(const Report& report) {
  std::map<ProcessKey, size_t> indices;
  for (size_t i = 0; i < report.processes.size(); ++i) {
    indices.try_emplace({report.processes[i].host, report.processes[i].pid}, i);
  }
  return indices;
}

Spread SpreadOf(const RankTimes& times) {
  const auto at = [&times](size_t percent) {
    const size_t below = (times.size() * percent + 99) / 100;
    return times[std::max<size_t>(below, 1) - 1].ns;
  };
  const int64_t max_ns = times.back().ns;
  const auto first_max = std::lower_bound(times.begin(), times.end(), RankTime{max_ns, 0});
  return {times.front().ns,  at(5), at(50), at(95), max_ns, times.front().process,
          first_max->process};
}

std::vector<DistributionRow> RowsOf(const RowTimes& times) {
  std::vector<DistributionRow> rows;
  std::map<std::string, std::pair<int64_t, int64_t>> whole;  // median and longest by operation
  for (const auto& [row, of_row] : times) {
    const auto& [operation, layer] = row;
    rows.push_back({operation, layer, SpreadOf(of_row)});
    const Spread& wall = rows.back().wall;
    if (layer.empty()) whole[operation] = {wall.median_ns, wall.max_ns};
  }
  const auto order = [&whole](const DistributionRow& row) {
    const auto& [median_ns, max_ns] = whole.at(row.operation);
    return std::tuple(-median_ns, -max_ns, row.operation, !row.layer.empty(), -row.wall.median_ns,
                      -row.wall.max_ns, row.layer);
  };
  std::sort(rows.begin(), rows.end(),
            [&order](const auto& a, const auto& b) { return order(a) < order(b); });
  return rows;
}

void ChooseProcesses(const Report& report, const std::map<ProcessKey, size_t>& indices,
                     Distribution* made) {
  std::set<size_t> chosen;
  made->of = kOfRanks;
  for (const ReportRank& rank : report.ranks) {
    const auto found = indices.find({rank.host, rank.pid});
    if (found != indices.end()) chosen.insert(found->second);
  }
  if (chosen.empty()) {
    made->of = "gpu_processes";
    for (size_t i = 0; i < report.processes.size(); ++i) {
      if (report.processes[i].gpu_busy_ns > 0) chosen.insert(i);
    }
  }
  if (chosen.empty()) {
    made->of = "processes";
    for (size_t i = 0; i < report.processes.size(); ++i) chosen.insert(i);
  }
  made->processes.assign(chosen.begin(), chosen.end());
}

void FindSlowest(const Report& report, const std::map<ProcessKey, size_t>& indices,
                 Distribution* made) {
  std::map<size_t, SlowRank> ranks;
  for (const ReportRank& rank : report.ranks) {
    made->collectives += rank.late;
    const auto found = indices.find({rank.host, rank.pid});
    if (rank.late == 0 || found == indices.end()) continue;
    SlowRank& slow = ranks[found->second];
    slow.process = found->second;
    slow.collectives += rank.collectives;
    slow.late += rank.late;
    slow.waited_for_ns += rank.waited_for_ns;
    slow.late_is_doubtful |= rank.late_is_doubtful;
  }
  for (const auto& [process, slow] : ranks) made->slowest.push_back(slow);
  std::stable_sort(
      made->slowest.begin(), made->slowest.end(),
      [](const SlowRank& a, const SlowRank& b) { return a.waited_for_ns > b.waited_for_ns; });
  if (made->slowest.size() > kMostSlowRanks) made->slowest.resize(kMostSlowRanks);
}

using RankNumbers = std::map<ProcessKey, std::optional<int64_t>>;

RankNumbers RankNumbersOf(const Report& report) {
  RankNumbers numbers;
  for (const ReportRank& rank : report.ranks) numbers[{rank.host, rank.pid}] = rank.rank;
  return numbers;
}

Json NameJson(const ReportProcess& process, const RankNumbers& numbers) {
  const auto found = numbers.find({process.host, process.pid});
  return Json{{"rank", found == numbers.end() ? Json() : OrNull(found->second)},
              {"host", process.host},
              {"pid", process.pid}};
}

Json RowsJson(const Report& report, const RankNumbers& numbers,
              const std::vector<DistributionRow>& rows) {
  return ArrayOf(rows, [&](const DistributionRow& row) {
    return Json{{"operation", row.operation},
                {"layer", row.layer.empty() ? Json() : Json(row.layer)},
                {"min_ns", row.wall.min_ns},
                {"p5_ns", row.wall.p5_ns},
                {"median_ns", row.wall.median_ns},
                {"p95_ns", row.wall.p95_ns},
                {"max_ns", row.wall.max_ns},
                {"min_of", NameJson(report.processes[row.wall.min_process], numbers)},
                {"max_of", NameJson(report.processes[row.wall.max_process], numbers)}};
  });
}

Json OutliersJson(const Report& report, const RankNumbers& numbers, const OutlierGroup& group) {
  Json of = Json::array();
  for (const size_t process : group.processes) {
    if (of.size() == kMostNamedOutliers) break;
    of.push_back(NameJson(report.processes[process], numbers));
  }
  return Json{{"processes", group.processes.size()},
              {"of", std::move(of)},
              {"hosts", group.hosts},
              {"local_rank", OrNull(group.local_rank)},
              {"gpu", group.gpu.empty() ? Json() : Json(group.gpu)},
              {"times", ArrayOf(group.times, [](const OutlierTime& time) {
                 return Json{{"operation", time.operation},
                             {"median_ns", time.median_ns},
                             {"others_median_ns", time.others_median_ns}};
               })}};
}

}  // namespace

Distribution DistributionOf(const Report& report) {
  Distribution made;
  const std::map<ProcessKey, size_t> indices = IndicesOf(report);
  ChooseProcesses(report, indices, &made);
  const RowTimes times = TimesOf(report, made.processes);
  made.rows = RowsOf(times);
  std::map<std::string, std::vector<size_t>> by_host;
  for (const size_t i : made.processes) by_host[report.processes[i].host].push_back(i);
  for (auto& [host, processes] : by_host) {
    std::vector<DistributionRow> rows = RowsOf(TimesOf(report, processes));
    made.machines.push_back({host, std::move(processes), std::move(rows)});
  }
  FindSlowest(report, indices, &made);
  if (made.of == kOfRanks) made.outliers = OutlierGroupsOf(report, made.processes, times);
  return made;
}

OrderedJson DistributionJson(const Report& report, const Distribution& distribution) {
  const RankNumbers numbers = RankNumbersOf(report);
  const auto machine = [&](const MachineDistribution& of) {
    return Json{{"host", of.host},
                {"processes", of.processes.size()},
                {"rows", RowsJson(report, numbers, of.rows)}};
  };
  const auto slow = [&](const SlowRank& rank) {
    Json json = NameJson(report.processes[rank.process], numbers);
    json["collectives"] = rank.collectives;
    json["late"] = rank.late;
    json["waited_for_ns"] = rank.waited_for_ns;
    json["late_is_doubtful"] = rank.late_is_doubtful;
    return json;
  };
  return Json{{"of", distribution.of},
              {"processes", distribution.processes.size()},
              {"rows", RowsJson(report, numbers, distribution.rows)},
              {"machines", ArrayOf(distribution.machines, machine)},
              {"collectives", distribution.collectives},
              {"slowest", ArrayOf(distribution.slowest, slow)},
              {"outlier_groups", ArrayOf(distribution.outliers, [&](const OutlierGroup& group) {
                 return OutliersJson(report, numbers, group);
               })}};
}

std::vector<size_t> ProcessesWorthNaming(const Report& report, const Distribution& distribution,
                                         size_t most) {
  std::vector<size_t> order;
  for (const ReportProcess* const process :
       {MainProcess(report), ToldProcess(report), SteppingProcess(report)}) {
    if (process != nullptr) order.push_back(static_cast<size_t>(process - report.processes.data()));
  }
  for (const SlowRank& rank : distribution.slowest) order.push_back(rank.process);
  for (const OutlierGroup& group : distribution.outliers) order.push_back(group.processes.front());
  for (const DistributionRow& row : distribution.rows) {
    order.insert(order.end(), {row.wall.max_process, row.wall.min_process});
  }
  for (size_t i = 0; i < report.processes.size(); ++i) order.push_back(i);
  std::set<size_t> chosen;
  for (const size_t process : order) {
    if (chosen.size() == most) break;
    chosen.insert(process);
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace gpubound
