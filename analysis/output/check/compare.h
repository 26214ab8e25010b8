// SPDX-License-Identifier: Apache-2.0
//
// Differences between groups of runs: iterations and GPU, then each operation's wall and GPU time,
// then idle time by cause; each with the interval that analysis/output/check/bootstrap.h gives it.
// Per iteration where every run has iterations, else over whole runs. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/output/check/bootstrap.h"
#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

struct RunGroup {
  std::string name;
  std::vector<std::string> runs;  // as the user names them
  std::vector<Report> reports;    // one for each
};

enum class ComparedFigure : uint8_t {
  kRunWall,          // of the whole run, start-up and shutdown included
  kIterationMedian,  // the next three are there where every run has iterations
  kIterationMean,
  kProcessBusyShare,  // of the iterations' time, by any device: of the process that steps
  kGpuBusyShare,      // the run's, mean of its devices: of iterations or of whole runs, as the next
  kOperationWall,
  kOperationBusy,
  kIdleCause,
};

// A group's value and how it differs from the first group's.
struct ComparedValue {
  // A run of the group has no such figure: one without a device has no idle time.
  bool absent = false;
  double value = 0;                    // ns or a share, 0..1
  double difference = 0;               // 0 where it or the first group's value is absent
  std::optional<Confidence> interval;  // 95 %, of the difference; absent for the first group too
  // Of some run of the group the figure is only known to be at most, or at least, what it says.
  bool is_upper_bound = false;
  bool is_lower_bound = false;
  // The interval excludes zero, and so do the bounds.
  bool significant = false;
};

struct ComparedRow {
  ComparedFigure figure = ComparedFigure::kRunWall;
  std::string name;                   // of the operation or cause; empty for figures of the run
  std::vector<ComparedValue> groups;  // as many as there are groups
};

struct GroupComparison {
  bool per_iteration = false;
  uint64_t seed = 0;
  std::vector<Resampling> resampling;  // by group, against the first
  std::vector<ComparedRow> rows;       // by figure; within one in order of first appearance
  std::vector<std::string> notes;      // what limits the comparison, as prose
};

// |groups| are at least two, of at least one run each.
GroupComparison CompareGroups(const std::vector<RunGroup>& groups, uint64_t seed);

// A share of 0..1; other figures are times.
inline bool IsShare(ComparedFigure figure) {
  return figure == ComparedFigure::kGpuBusyShare || figure == ComparedFigure::kProcessBusyShare;
}

// For a terminal. Only significant differences are coloured and marked.
std::string RenderComparison(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                             const TextOptions& options);

// "gpubound.compare.v1", documented in docs/report.md.
std::string RenderComparisonJson(const GroupComparison& comparison,
                                 const std::vector<RunGroup>& groups);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_H_
