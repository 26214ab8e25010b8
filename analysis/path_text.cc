// SPDX-License-Identifier: Apache-2.0
//
// Writes the section. No state.
#include "analysis/path_text.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/main_process.h"
#include "analysis/text_table.h"

namespace gpubound {
namespace {

constexpr size_t kMostRows = 8;

// "the device" of "device", "Python" of "layer python".
std::string SubjectOf(const std::string& part) {
  constexpr std::string_view kOperation = "operation ";
  if (part == "device") return "the device";
  if (part == "layer python") return "Python";
  if (part == "layer simulator") return "the simulator";
  if (part.starts_with(kOperation)) return EscapeName(part.substr(kOperation.size()));
  return EscapeName(part);
}

std::string FreeText(const ReportCriticalPath& path, const TextOptions& options) {
  std::string text;
  for (const ReportSpeedup& speedup : path.speedups) {
    text += (text.empty() ? "It would take " : ", ") + FormatTime(speedup.wall_ns, options.raw) +
            " if " + SubjectOf(speedup.part) + " took no time";
  }
  return text.empty() ? text : Wrap(text + ".", options.width, 2);
}

// Whose path it is, where that is not the run's own: its root was not recorded.
std::string OwnerText(const Report& report) {
  const ReportProcess* const main = MainProcess(report);
  if (main == nullptr || report.run.root == main->pid) return {};
  return " of " + EscapeName(main->name.empty() ? "process" : main->name) + " (pid " +
         std::to_string(main->pid) + ")";
}

}  // namespace

std::string CriticalPathSection(const Report& report, const TextOptions& options) {
  if (!report.run.critical_path) return {};
  const ReportCriticalPath& path = *report.run.critical_path;
  const bool several = std::any_of(
      path.parts.begin(), path.parts.end(),
      [&path](const ReportPathPart& part) { return part.pid != path.parts.front().pid; });
  std::vector<std::string> heads{"Operation", "layer", "time", "share"};
  if (several) heads.insert(heads.begin() + 1, "pid");
  TextTable table(heads);
  const auto add = [&](const ReportPathPart& part, const std::string& pid) {
    std::vector<std::string> cells{EscapeName(part.operation), part.layer,
                                   FormatTime(part.ns, options.raw),
                                   FormatShare(ShareOf(part.ns, path.wall_ns))};
    if (several) cells.insert(cells.begin() + 1, pid);
    table.AddRow(std::move(cells));
  };
  ReportPathPart others{0, "(others)", "", path.wall_ns};
  const size_t rows = path.parts.size() > kMostRows + 1 ? kMostRows : path.parts.size();
  for (size_t i = 0; i < rows; ++i) {
    const ReportPathPart& part = path.parts[i];
    others.ns -= part.ns;
    add(part, std::to_string(part.pid));
  }
  if (rows < path.parts.size()) add(others, "");
  const std::string heading =
      "Critical path" + OwnerText(report) + ", " + FormatTime(path.wall_ns, options.raw);
  return "\n" + Wrap(heading, options.width, 2) + table.Render(options.width, 1, options.unicode) +
         FreeText(path, options);
}

}  // namespace gpubound
