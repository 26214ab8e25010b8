// SPDX-License-Identifier: Apache-2.0
//
// Lays the table out. No state.
#include "analysis/output/text/report_categories.h"

#include <numeric>

#include "analysis/base/text_table.h"

namespace gpubound {

int64_t AllWorkNs(const ReportProcess& process) {
  return std::accumulate(
      process.categories.begin(), process.categories.end(), int64_t{0},
      [](int64_t sum_ns, const ReportCategory& row) { return sum_ns + row.sum_ns; });
}

std::string CategoryTable(const ReportProcess& process, const TextOptions& options) {
  if (process.categories.empty()) return "\nNo GPU work was recorded.\n";
  const int64_t all_ns = AllWorkNs(process);
  TextTable table({"Category", "count", "GPU time", "share"});
  for (const ReportCategory& row : process.categories) {
    table.AddRow({row.category, FormatCount(row.count), FormatTime(row.sum_ns, options.raw),
                  FormatShare(ShareOf(row.sum_ns, all_ns))});
  }
  return "\n" + table.Render(options.width, 0, options.unicode);
}

}  // namespace gpubound
