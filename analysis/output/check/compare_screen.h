// SPDX-License-Identifier: Apache-2.0
//
// The parts that texts of a comparison are put together from. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_SCREEN_H_
#define GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_SCREEN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/output/check/compare.h"

namespace gpubound {

// What times of a comparison are for: "1,000 env steps", "Each iteration", "Whole run".
std::string TitleOf(const GroupComparison& comparison);

// A line for each group: its runs.
std::string GroupLines(const std::vector<RunGroup>& groups, const TextOptions& options);

// How fast |group| is, in bold, and what made it so.
std::string SentenceLines(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                          size_t group, const TextOptions& options);

// Every figure of every group.
std::string FullComparison(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                           const TextOptions& options);

// A time of both groups.
struct DifferingRow {
  std::string name;
  const ComparedRow* row = nullptr;  // null: of several, or of all
  double before_ns = 0;
  double after_ns = 0;
};
// "-7.08 ms"; empty of less than 1 ns.
std::string DifferenceText(double ns);

// All operations together, or the run where they are not all of it.
DifferingRow AllOf(const GroupComparison& comparison, size_t group);

// Name, both times, their difference, the change, its interval and a mark.
std::vector<std::string> CellsOf(const DifferingRow& row, size_t group);

// The operations or causes of a comparison, those first whose time differs most; beyond |most| rows
// the others are one.
std::vector<DifferingRow> MostDifferingRows(const GroupComparison& comparison,
                                            ComparedFigure figure, size_t group, size_t most);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_SCREEN_H_
