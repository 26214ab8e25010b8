// SPDX-License-Identifier: Apache-2.0
//
// Sums the cells of each process. No state.
#include "analysis/report/rank_times.h"

#include <algorithm>

namespace gpubound {

RowTimes TimesOf(const Report& report, const std::vector<size_t>& processes) {
  std::map<std::pair<std::string, std::string>, std::map<size_t, int64_t>> sums;
  for (const size_t process : processes) {
    for (const ReportCell& cell : report.processes[process].cells) {
      sums[{cell.operation, ""}][process] += cell.ns;
      sums[{cell.operation, cell.layer}][process] += cell.ns;
    }
  }
  RowTimes times;
  for (auto& [row, of_processes] : sums) {
    RankTimes& sorted = times[row];
    for (const size_t process : processes) sorted.push_back({of_processes[process], process});
    std::sort(sorted.begin(), sorted.end());
  }
  return times;
}

}  // namespace gpubound
