// SPDX-License-Identifier: Apache-2.0
//
// Figures for papers: where the time of each operation went, as stacked bars, and how often it
// crossed layers, for groups of runs that have the same metadata. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_PLOT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_PLOT_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

// Columns of the report: gpu only, cpu+gpu, cpu only, waiting, idle, unknown.
inline constexpr size_t kPlotColumns = 6;

struct PlotOperation {
  std::string operation;
  std::array<int64_t, kPlotColumns> ns{};       // mean of the group's runs, rounded down
  std::map<std::string, uint64_t> transitions;  // likewise, by name
  int64_t wall_ns() const;
};

struct PlotGroup {
  std::string name;
  size_t runs = 0;
  bool simulated = false;                 // one of its runs is on a simulated device
  std::vector<PlotOperation> operations;  // by wall time, longest first; ties by name
};

// A run as it takes part in a plot: of its processes the one with the most GPU time counts, without
// any the first one.
struct PlotRun {
  std::string name;  // of the run; names its group where the metadata does not
  std::map<std::string, std::string> metadata;
  const Report* report = nullptr;
};

// Runs with the same values of |keys| are one group; runs with none of them are one group each.
// Groups are in the order of their first run.
std::vector<PlotGroup> GroupForPlot(const std::vector<PlotRun>& runs,
                                    const std::vector<std::string>& keys);

// As SVG. All bars of time have one scale, which is the root's attribute data-ns-per-unit; bars of
// counts have data-count-per-unit.
std::string RenderPlot(const std::vector<PlotGroup>& groups);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_PLOT_H_
