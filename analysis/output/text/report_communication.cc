// SPDX-License-Identifier: Apache-2.0
//
// Renders ranks. No state.
#include "analysis/output/text/report_communication.h"

#include <algorithm>
#include <vector>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/pid_text.h"

namespace gpubound {
namespace {

constexpr size_t kMostRanks = 16;

// As the launcher calls it, where no other row is called the same.
std::string NameOf(const Report& report, const ReportRank& rank, const PidText& pids) {
  const auto is_alike = [&rank](const ReportRank& other) {
    return rank.rank && other.rank == rank.rank;
  };
  if (std::count_if(report.ranks.begin(), report.ranks.end(), is_alike) == 1) {
    return "rank " + std::to_string(*rank.rank) + pids.On(rank.host);
  }
  return "pid " + pids.With(rank.pid, rank.host, "device " + std::to_string(rank.ordinal));
}

// The ranks of a table: all, or those that the others waited for most where they are many.
std::vector<const ReportRank*> ShownRanks(const Report& report) {
  std::vector<const ReportRank*> ranks;
  for (const ReportRank& rank : report.ranks) ranks.push_back(&rank);
  if (ranks.size() <= kMostRanks) return ranks;
  std::stable_sort(ranks.begin(), ranks.end(), [](const ReportRank* a, const ReportRank* b) {
    return a->waited_for_ns > b->waited_for_ns;
  });
  ranks.resize(kMostRanks);
  return ranks;
}

// Of ranks that the table leaves out.
std::string OthersSentence(const Report& report, const TextOptions& options) {
  if (report.ranks.size() <= kMostRanks) return {};
  std::vector<double> shares;
  for (const ReportRank& rank : report.ranks) {
    shares.push_back(ShareOf(rank.peer_wait_ns, rank.comm_sum_ns));
  }
  std::sort(shares.begin(), shares.end());
  return Wrap("These are the " + std::to_string(kMostRanks) + " of " +
                  FormatCount(report.ranks.size()) +
                  " ranks that the others waited for most. Of its time in collectives a rank "
                  "waited " +
                  FormatShare(shares.front()) + " to " + FormatShare(shares.back()) + ", median " +
                  FormatShare(shares[shares.size() / 2]) + ".",
              options.width, 2) +
         "\n";
}

// About the rank that the others waited for most.
std::string LateSentence(const Report& report, const TextOptions& options) {
  const auto late = std::max_element(
      report.ranks.begin(), report.ranks.end(),
      [](const auto& a, const auto& b) { return a.waited_for_ns < b.waited_for_ns; });
  if (late->waited_for_ns == 0) return {};
  int64_t waits_ns = 0;
  for (const ReportRank& rank : report.ranks) waits_ns += rank.peer_wait_ns;
  const char* const hedge = late->late_is_doubtful ? "If the clocks of the hosts agree, "
                            : late->lacks_ranks    ? "Of the ranks that are here, "
                                                   : "";
  const PidText pids(report.processes, options.unicode);
  std::string text =
      hedge + NameOf(report, *late, pids) + " entered " + std::to_string(late->late) + " of its " +
      Counted(late->collectives, "collective") + " last, and " +
      FormatShare(ShareOf(late->waited_for_ns, waits_ns)) + " of all waiting was for it";
  if (!late->while_late.empty()) {
    const ReportActivity& first = late->while_late.front();
    int64_t late_ns = 0;
    for (const ReportActivity& activity : late->while_late) late_ns += activity.ns;
    text += "; meanwhile it was in " + ShownName(first.operation) + " (" + first.layer + ") for " +
            FormatShare(ShareOf(first.ns, late_ns)) + " of the time";
  }
  return "\n" + Wrap(text + ".", options.width, 2);
}

}  // namespace

std::string CommunicationSection(const Report& report, const TextOptions& options) {
  if (report.ranks.empty()) return {};
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  TextTable table({"Collectives of", "count", "time", "peer wait", "share", "moving", "unmatched"});
  const PidText pids(report.processes, options.unicode);
  for (const ReportRank* const shown : ShownRanks(report)) {
    const ReportRank& rank = *shown;
    const auto wait = [&rank](const std::string& figure) {
      return Bounded(rank.peer_wait_is_upper_bound, rank.peer_wait_is_lower_bound, figure);
    };
    table.AddRow({NameOf(report, rank, pids), FormatCount(rank.collectives), time(rank.comm_sum_ns),
                  wait(time(rank.peer_wait_ns)),
                  wait(FormatShare(ShareOf(rank.peer_wait_ns, rank.comm_sum_ns))),
                  time(rank.moving_ns), time(rank.unmatched_ns)});
  }
  return "\n" + table.Render(options.width, 0, options.unicode) + OthersSentence(report, options) +
         LateSentence(report, options);
}

}  // namespace gpubound
