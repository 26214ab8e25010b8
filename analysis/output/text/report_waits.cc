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
#include "analysis/diagnosis/awaited.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

constexpr size_t kShownGroups = 3;
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
