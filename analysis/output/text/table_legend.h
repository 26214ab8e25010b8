// SPDX-License-Identifier: Apache-2.0
//
// What the columns and bars of the report's tables mean, said once beneath them. One report, one
// object.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_TABLE_LEGEND_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_TABLE_LEGEND_H_

#include <set>
#include <string>
#include <string_view>

#include "analysis/output/text/report_text.h"

namespace gpubound {

// Heads of columns that are named in more than one place.
inline constexpr std::string_view kGpuBusy = "GPU busy";
inline constexpr std::string_view kCaused = "caused";
inline constexpr std::string_view kBothWork = "cpu+gpu";
inline constexpr std::string_view kGpuOnly = "gpu only";
inline constexpr std::string_view kIdle = "idle";

// Before the wall time of a row of which scopes are missing.
inline constexpr std::string_view kScopesMissing = "~";

class TableLegend {
 public:
  void Show(std::string_view head) { shown_.insert(head); }
  void ShowBar(bool has_gpu) { shown_.insert(has_gpu ? kBar : kCpuBar); }
  void LeaveOut(std::string_view head) { left_out_.insert(head); }

  // A line on what was shown and left out so far; empty where all of that was said before.
  std::string Take(const TextOptions& options);

 private:
  static constexpr std::string_view kBar = "bar";
  static constexpr std::string_view kCpuBar = "bar without a GPU";

  std::set<std::string_view> shown_;
  std::set<std::string_view> left_out_;
  std::set<std::string> said_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_TABLE_LEGEND_H_
