// SPDX-License-Identifier: Apache-2.0
//
// Groups waits by what the awaited did. No state.
#include "analysis/output/text/report_waits.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/trace/name_lists.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

constexpr size_t kShownGroups = 3;
constexpr char kSimulation[] = "simulation";  // as a cause of idle time, and as what somebody did
constexpr char kWaiting[] = "waiting";

// By pid and the operation of the waiting process.
using AwaitedRows = std::map<std::pair<int64_t, std::string>, const ReportAwaited*>;

// What an activity is to somebody who waits for it under |operation|, which names what has no name
// of its own: the messages of an environment's worker are simulation too.
std::string NameOf(const ReportActivity& activity, const std::string& operation) {
  const std::string& name = activity.operation == kNoOperation ? operation : activity.operation;
  if (activity.layer == "simulator" || SimulationNames().Matches(name)) return kSimulation;
  return name;
}

AwaitedRows AwaitedRowsOf(const ReportProcess& process) {
  AwaitedRows awaited;
  for (const ReportAwaited& row : process.awaited) awaited[{row.pid, row.operation}] = &row;
  return awaited;
}

// What the awaited processes of |wait| did most meanwhile.
std::string MainActivity(const ReportWait& wait, const AwaitedRows& awaited) {
  std::map<std::string, int64_t> sums;
  for (const int64_t pid : wait.pids) {
    const auto found = awaited.find({pid, wait.operation});
    if (found == awaited.end()) continue;
    for (const ReportActivity& activity : found->second->meanwhile) {
      sums[NameOf(activity, wait.operation)] += activity.ns;
    }
  }
  if (sums.empty()) return NameOf({kNoOperation, "", 0}, wait.operation);
  const auto most = std::max_element(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

struct Group {
  std::set<int64_t> pids;
  bool workers = true;  // all of them
  int64_t ns = 0;
};

std::string GroupText(const std::string& activity, const Group& group, int64_t span_ns,
                      const TextOptions& options) {
  std::string text = "for ";
  const bool named = activity != kNoOperation;
  if (named) text += ShownName(activity) + " in ";
  text += FormatCount(group.pids.size());
  if (group.workers) {
    text += group.pids.size() == 1 ? " worker" : " workers";
  } else {
    text += group.pids.size() == 1 ? " process" : " processes";
  }
  if (!named) text += " outside operations";
  const double share =
      span_ns > 0 ? static_cast<double>(group.ns) / static_cast<double>(span_ns) : 0;
  return text + ": " + FormatTime(group.ns, options.raw) + " (" + FormatShare(share) + ")";
}

}  // namespace

std::vector<const ReportWait*> WaitsThatExplain(const ReportProcess& process,
                                                const std::string& cause) {
  const AwaitedRows awaited = AwaitedRowsOf(process);
  std::vector<const ReportWait*> waits;
  for (const ReportWait& wait : process.waits) {
    const bool simulation =
        SimulationNames().Matches(wait.operation) || MainActivity(wait, awaited) == kSimulation;
    if (cause == (simulation ? kSimulation : kWaiting)) waits.push_back(&wait);
  }
  return waits;
}

std::string WaitSentence(const ReportProcess& process, const TextOptions& options) {
  const AwaitedRows awaited = AwaitedRowsOf(process);
  std::map<std::string, Group> groups;
  for (const ReportWait& wait : process.waits) {
    Group& group = groups[MainActivity(wait, awaited)];
    group.ns += wait.ns;
    for (const int64_t pid : wait.pids) {
      const auto row = awaited.find({pid, wait.operation});
      group.workers &= row != awaited.end() && row->second->worker;
      group.pids.insert(pid);
    }
  }
  std::vector<std::pair<std::string, Group>> longest(groups.begin(), groups.end());
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  if (longest.empty()) return {};
  std::string line = "Waiting ";
  for (size_t i = 0; i < std::min(longest.size(), kShownGroups); ++i) {
    line += (i == 0 ? "" : ", ") +
            GroupText(longest[i].first, longest[i].second, process.span_ns, options);
  }
  return Wrap(line + ".", options.width, 2);
}

}  // namespace gpubound
