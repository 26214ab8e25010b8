// SPDX-License-Identifier: Apache-2.0
//
// Sums lanes up. No state.
#include "analysis/output/text/other_threads.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
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

std::vector<LaneTime> TimesOf(const ReportProcess& process, bool handed_over) {
  std::map<std::string, int64_t> times;
  for (const ReportLane& lane : process.lanes) {
    if (lane.handed_over != handed_over) continue;
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

// " (3.2 at once)": threads that worked on |row| at a time while the thread that handed it over was
// in it. Empty where that went on with something else.
std::string Width(const ReportProcess& process, const LaneTime& row, size_t threads) {
  for (const ReportOperation& of : process.operations) {
    if (of.operation != row.operation || of.inclusive_wall_ns <= 0) continue;
    const double width =
        static_cast<double>(row.wall_ns) / static_cast<double>(of.inclusive_wall_ns);
    if (width > static_cast<double>(threads)) return {};
    char text[32];
    std::snprintf(text, sizeof(text), " (%.1f at once)", width);
    return text;
  }
  return {};
}

}  // namespace

std::vector<LaneTime> LaneTimes(const ReportProcess& process) {
  return TimesOf(process, /*handed_over=*/false);
}

std::string OtherThreadsSentence(const ReportProcess& process, const TextOptions& options) {
  std::string text;
  for (const bool handed_over : {false, true}) {
    const std::vector<LaneTime> rows = TimesOf(process, handed_over);
    if (rows.empty()) continue;
    const auto threads = static_cast<size_t>(std::count_if(
        process.lanes.begin(), process.lanes.end(),
        [handed_over](const ReportLane& lane) { return lane.handed_over == handed_over; }));
    const std::string noun = threads == 1 ? " thread" : " threads";
    std::string line =
        handed_over ? "Handed over to " + std::to_string(threads) + noun + ": "
                    : "On " + std::to_string(threads) + " other" + noun + ", not in the table: ";
    for (size_t i = 0; i < rows.size() && i < kMostNamed; ++i) {
      line += (i == 0 ? "" : ", ") +
              ShortName(ShownName(rows[i].operation), kNameInSentence, options.unicode) + " " +
              FormatTime(rows[i].wall_ns, options.raw);
      if (handed_over) {
        line += Width(process, rows[i], threads);
        continue;
      }
      const int64_t caused_ns = CausedBeside(process, rows[i].operation);
      if (caused_ns > 0) line += " (caused " + FormatTime(caused_ns, options.raw) + ")";
    }
    if (rows.size() > kMostNamed)
      line += " and " + std::to_string(rows.size() - kMostNamed) + " more";
    const bool has_tables =
        std::find(options.by.begin(), options.by.end(), "thread") != options.by.end();
    text += Wrap(line + (has_tables ? "." : "; see --by thread."), options.width, 2);
  }
  return text;
}

}  // namespace gpubound
