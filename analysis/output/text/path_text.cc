// SPDX-License-Identifier: Apache-2.0
//
// Writes the section. No state.
#include "analysis/output/text/path_text.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/pid_text.h"
#include "analysis/report/main_process.h"

namespace gpubound {
namespace {

constexpr size_t kMostPathParts = 8;

// Whether some of the first |count| parts are another process's than whose path it is.
bool LeadsThroughOthers(const Report& report, size_t count) {
  const std::vector<ReportPathPart>& parts = report.run.critical_path->parts;
  const ReportProcess* const owner = ToldProcess(report);
  const auto end = parts.begin() + static_cast<std::ptrdiff_t>(count);
  return std::any_of(parts.begin(), end, [owner](const ReportPathPart& part) {
    return owner == nullptr || part.pid != owner->pid || part.host != owner->host;
  });
}

}  // namespace

std::string OwnerText(const Report& report, const TextOptions& options) {
  const ReportProcess* const owner = ToldProcess(report);
  if (owner == nullptr || IsRoot(*owner, report.run)) return {};
  return " of " +
         ShortName(EscapeName(owner->name.empty() ? "process" : owner->name), kNameInSentence,
                   options.unicode) +
         " (pid " + PidText(report.processes, options.unicode).Of(owner->pid, owner->host) + ")";
}

std::string CriticalPathSection(const Report& report, const TextOptions& options) {
  if (!report.run.critical_path) return {};
  const ReportCriticalPath& path = *report.run.critical_path;
  const bool several = LeadsThroughOthers(report, path.parts.size());
  const bool loops = path.loop_ns > 0 && path.loop_ns < path.wall_ns;
  std::vector<std::string> heads{"Operation", "layer", "time", "share"};
  if (loops) heads.emplace_back("of the loop");
  if (several) heads.insert(heads.begin() + 1, "pid");
  const PidText pids(report.processes, options.unicode);
  TextTable table(heads);
  const auto add = [&](const ReportPathPart& part, const std::string& pid) {
    std::vector<std::string> cells{ShownName(part.operation), part.layer,
                                   FormatTime(part.ns, options.raw),
                                   FormatShare(ShareOf(part.ns, path.wall_ns))};
    if (loops) cells.push_back(FormatShare(ShareOf(part.loop_ns, path.loop_ns)));
    if (several) cells.insert(cells.begin() + 1, pid);
    table.AddRow(std::move(cells));
  };
  ReportPathPart others{"", 0, "(others)", "", path.wall_ns, path.loop_ns};
  const size_t rows = path.parts.size() > kMostPathParts + 1 ? kMostPathParts : path.parts.size();
  for (size_t i = 0; i < rows; ++i) {
    const ReportPathPart& part = path.parts[i];
    others.ns -= part.ns;
    others.loop_ns -= part.loop_ns;
    add(part, pids.Of(part.pid, part.host));
  }
  if (rows < path.parts.size()) add(others, "");
  const std::string heading =
      "Critical path" + OwnerText(report, options) + ", " + FormatTime(path.wall_ns, options.raw);
  return "\n" + Wrap(heading, options.width, 2) + table.Render(options.width, 0, options.unicode);
}

}  // namespace gpubound
