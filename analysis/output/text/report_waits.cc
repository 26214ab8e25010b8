// SPDX-License-Identifier: Apache-2.0
//
// Puts groups of waits into words. No state.
#include "analysis/output/text/report_waits.h"

#include <algorithm>
#include <vector>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/awaited.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

constexpr size_t kShownGroups = 3;

std::string GroupText(const WaitGroup& group, int64_t span_ns, const TextOptions& options) {
  std::string text = "for ";
  const bool named = group.activity != kNoOperation;
  if (named) text += ShownName(group.activity) + " in ";
  text += FormatCount(group.pids.size());
  if (group.workers) {
    text += group.pids.size() == 1 ? " worker" : " workers";
  } else {
    text += group.pids.size() == 1 ? " process" : " processes";
  }
  if (!named) text += " outside operations";
  return text + ": " + FormatTime(group.ns, options.raw) + " (" +
         FormatShare(ShareOf(group.ns, span_ns)) + ")";
}

}  // namespace

std::string WaitSentence(const ReportProcess& process, const TextOptions& options) {
  const std::vector<WaitGroup> longest = WaitGroups(process);
  if (longest.empty()) return {};
  std::string line = "Waiting ";
  for (size_t i = 0; i < std::min(longest.size(), kShownGroups); ++i) {
    line += (i == 0 ? "" : ", ") + GroupText(longest[i], process.span_ns, options);
  }
  return Wrap(line + ".", options.width, 2);
}

}  // namespace gpubound
