// SPDX-License-Identifier: Apache-2.0
//
// Groups waits by what the awaited did. No state.
#include "analysis/report_waits.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analysis/name_lists.h"
#include "analysis/text_table.h"

namespace gpubound {
namespace {

constexpr size_t kShownGroups = 3;

using AwaitedByPid = std::map<int64_t, const ReportAwaited*>;

// What an activity is to somebody who waits for it; empty where nothing says.
std::string NameOf(const ReportActivity& activity) {
  if (activity.layer == "simulator" || SimulationNames().Matches(activity.operation)) {
    return "simulation";
  }
  return activity.operation == kNoOperation ? "" : activity.operation;
}

// What the processes of |pids| did most while they were waited for.
std::string MainActivity(const std::vector<int64_t>& pids, const AwaitedByPid& awaited) {
  std::map<std::string, int64_t> sums;
  for (const int64_t pid : pids) {
    const auto found = awaited.find(pid);
    if (found == awaited.end()) continue;
    for (const ReportActivity& activity : found->second->meanwhile) {
      sums[NameOf(activity)] += activity.ns;
    }
  }
  const auto most = std::max_element(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == sums.end() ? "" : most->first;
}

struct Group {
  std::set<int64_t> pids;
  int64_t ns = 0;
};

std::string GroupText(const std::string& activity, const Group& group, const AwaitedByPid& awaited,
                      int64_t span_ns, const TextOptions& options) {
  const bool workers = std::all_of(group.pids.begin(), group.pids.end(), [&](int64_t pid) {
    const auto found = awaited.find(pid);
    return found != awaited.end() && found->second->worker;
  });
  std::string text = "for ";
  if (!activity.empty()) text += EscapeName(activity) + " in ";
  text += FormatCount(group.pids.size());
  if (workers) {
    text += group.pids.size() == 1 ? " worker" : " workers";
  } else {
    text += group.pids.size() == 1 ? " process" : " processes";
  }
  const double share =
      span_ns > 0 ? static_cast<double>(group.ns) / static_cast<double>(span_ns) : 0;
  return text + ": " + FormatTime(group.ns, options.raw) + " (" + FormatShare(share) + ")";
}

}  // namespace

std::string WaitSentence(const ReportProcess& process, const TextOptions& options) {
  AwaitedByPid awaited;
  for (const ReportAwaited& row : process.awaited) awaited[row.pid] = &row;
  std::map<std::string, Group> groups;
  for (const ReportWait& wait : process.waits) {
    Group& group = groups[MainActivity(wait.pids, awaited)];
    group.pids.insert(wait.pids.begin(), wait.pids.end());
    group.ns += wait.ns;
  }
  std::vector<std::pair<std::string, Group>> longest(groups.begin(), groups.end());
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  if (longest.empty()) return {};
  std::string line = "Waiting ";
  for (size_t i = 0; i < std::min(longest.size(), kShownGroups); ++i) {
    line += (i == 0 ? "" : ", ") +
            GroupText(longest[i].first, longest[i].second, awaited, process.span_ns, options);
  }
  return Wrap(line + ".", options.width, 2);
}

}  // namespace gpubound
