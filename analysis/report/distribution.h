// SPDX-License-Identifier: Apache-2.0
//
// How the time of operations is spread over the ranks of a run, for runs of so many processes that
// nobody reads a table of each. Worked out from the report model. Pure.
#ifndef GPUBOUND_ANALYSIS_REPORT_DISTRIBUTION_H_
#define GPUBOUND_ANALYSIS_REPORT_DISTRIBUTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/json_rows.h"
#include "analysis/report/outlier_groups.h"
#include "analysis/report/report.h"

namespace gpubound {

// Of the time of all counted processes; one that never was in the row counts as 0. Percentiles are
// values that occur: the smallest that p percent do not exceed. Of equals the first process.
struct Spread {
  int64_t min_ns = 0;
  int64_t p5_ns = 0;
  int64_t median_ns = 0;
  int64_t p95_ns = 0;
  int64_t max_ns = 0;
  size_t min_process = 0;  // into Report::processes
  size_t max_process = 0;
};

struct DistributionRow {
  std::string operation;
  std::string layer;  // empty: all layers
  Spread wall;
};

// A rank that was the last to enter collectives; the ranks of a process on several devices as one.
struct SlowRank {
  size_t process = 0;
  uint64_t collectives = 0;
  uint64_t late = 0;
  int64_t waited_for_ns = 0;
  bool late_is_doubtful = false;
};

struct MachineDistribution {
  std::string host;
  std::vector<size_t> processes;  // that are counted
  std::vector<DistributionRow> rows;
};

inline constexpr char kOfRanks[] = "ranks";

struct Distribution {
  std::string of;                 // what is counted: kOfRanks, "gpu_processes" or "processes"
  std::vector<size_t> processes;  // into Report::processes
  // By operation, that with the largest median first; of each the whole, then its layers likewise.
  std::vector<DistributionRow> rows;
  std::vector<MachineDistribution> machines;  // by host
  std::vector<SlowRank> slowest;              // at most kMostSlowRanks, waited for longest first
  uint64_t collectives = 0;                   // that had a last rank
  std::vector<OutlierGroup> outliers;         // of ranks
};
inline constexpr size_t kMostSlowRanks = 10;

// Ranks are the processes that ran collectives. Without any, the processes that used a GPU are
// counted; without those, all.
Distribution DistributionOf(const Report& report);

OrderedJson DistributionJson(const Report& report, const Distribution& distribution);

// The processes that a report with at most |most| of them has, ascending: those that other figures
// name (the main one, the one that is shown, the slowest and the fastest ranks), then the first.
std::vector<size_t> ProcessesWorthNaming(const Report& report, const Distribution& distribution,
                                         size_t most);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_DISTRIBUTION_H_
