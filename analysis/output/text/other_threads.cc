// SPDX-License-Identifier: Apache-2.0
//
// Sums lanes up. No state.
#include "analysis/output/text/other_threads.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

constexpr size_t kMostNamed = 6;

bool IsOperation(const std::string& name) { return name != kNoOperation; }

// GPU time of what |operation| launched, where its row is not in the table.
int64_t CausedBeside(const ReportProcess& process, const std::string& operation) {
  for (const ReportOperation& row : process.operations) {
    if (row.operation == operation && row.other_threads_only) return row.gpu_caused_ns;
  }
  return 0;
}

}  // namespace

std::vector<LaneTime> LaneTimes(const ReportProcess& process) {
  std::map<std::string, int64_t> times;
  for (const ReportLane& lane : process.lanes) {
    for (const ReportOperation& row : lane.operations) {
      if (IsOperation(row.operation)) times[row.operation] += row.wall_ns;
    }
  }
  std::vector<LaneTime> rows;
  for (const auto& [operation, wall_ns] : times) rows.push_back({operation, wall_ns});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const LaneTime& a, const LaneTime& b) { return a.wall_ns > b.wall_ns; });
  return rows;
}

std::string OtherThreadsSentence(const ReportProcess& process, const TextOptions& options) {
  const std::vector<LaneTime> rows = LaneTimes(process);
  if (rows.empty()) return {};
  const size_t threads = process.lanes.size();
  std::string line = "On " + std::to_string(threads) +
                     (threads == 1 ? " other thread" : " other threads") + ", not in the table: ";
  for (size_t i = 0; i < rows.size() && i < kMostNamed; ++i) {
    line += (i == 0 ? "" : ", ") +
            ShortName(ShownName(rows[i].operation), kNameInSentence, options.unicode) + " " +
            FormatTime(rows[i].wall_ns, options.raw);
    const int64_t caused_ns = CausedBeside(process, rows[i].operation);
    if (caused_ns > 0) line += " (caused " + FormatTime(caused_ns, options.raw) + ")";
  }
  if (rows.size() > kMostNamed)
    line += " and " + std::to_string(rows.size() - kMostNamed) + " more";
  const bool has_tables =
      std::find(options.by.begin(), options.by.end(), "thread") != options.by.end();
  return Wrap(line + (has_tables ? "." : "; see --by thread."), options.width, 2);
}

}  // namespace gpubound
