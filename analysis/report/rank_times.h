// SPDX-License-Identifier: Apache-2.0
//
// The time of processes in an operation, side by side. Pure.
#ifndef GPUBOUND_ANALYSIS_REPORT_RANK_TIMES_H_
#define GPUBOUND_ANALYSIS_REPORT_RANK_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

struct RankTime {
  int64_t ns = 0;
  size_t process = 0;  // into Report::processes
  bool operator<(const RankTime& other) const {
    return std::tie(ns, process) < std::tie(other.ns, other.process);
  }
};

// One of each process, shortest first; of equals the first process.
using RankTimes = std::vector<RankTime>;

// By operation and layer; an empty layer stands for all of them.
using RowTimes = std::map<std::pair<std::string, std::string>, RankTimes>;

// Of |processes|, indices into Report::processes; one that never was in a row has 0 there.
RowTimes TimesOf(const Report& report, const std::vector<size_t>& processes);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_RANK_TIMES_H_
