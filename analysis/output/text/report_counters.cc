// SPDX-License-Identifier: Apache-2.0
//
// One row for each operation that samples cover.
#include "analysis/output/text/report_counters.h"

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

std::string ShareText(const std::optional<double>& share) {
  return share ? FormatShare(*share) : "-";
}

}  // namespace

std::string CounterTable(const ReportProcess& process, const TextOptions& options) {
  if (process.counters.empty()) return {};
  TextTable table({"Hardware counters", "sampled", "SMs active", "warps active", "DRAM"});
  for (const ReportCounters& row : process.counters) {
    table.AddRow({ShownName(row.operation), FormatTime(row.sampled_ns, options.raw),
                  ShareText(row.sm_active_share), ShareText(row.warps_active_share),
                  ShareText(row.dram_throughput_share)});
  }
  return "\n" + table.Render(options.width, 0, options.unicode);
}

}  // namespace gpubound
