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

constexpr size_t kMostRows = 8;
constexpr size_t kNamedParts = 3;  // in a sentence

// "the device" of "device", "Python" of "layer python".
std::string SubjectOf(const std::string& part, const TextOptions& options) {
  constexpr std::string_view kOperation = "operation ";
  if (part == "device") return "the device";
  if (part == "layer python") return "Python";
  if (part == "layer simulator") return "the simulator";
  const std::string_view name = part;
  return ShortName(ShownName(name.substr(part.starts_with(kOperation) ? kOperation.size() : 0)),
                   kNameInSentence, options.unicode);
}

// What device work takes is not taken out where it could not be recorded, and too much is where it
// is only known at most. Of a layer of the CPU it is left as it was.
std::string FreeText(const Report& report, const TextOptions& options) {
  std::string text;
  for (const ReportSpeedup& speedup : report.run.critical_path->speedups) {
    const bool device = !speedup.part.starts_with("layer ");
    text += (text.empty() ? "It would take " : ", ") +
            Bounded(device && report.run.whole_unknown.share > 0,
                    device && report.run.whole_gpu_busy_is_upper_bound,
                    FormatTime(speedup.wall_ns, options.raw)) +
            " (" + FormatTime(speedup.wall_low_ns, options.raw) + " to " +
            FormatTime(speedup.wall_high_ns, options.raw) + ") if " +
            SubjectOf(speedup.part, options) + " took no time";
  }
  return text.empty() ? text : text + ".";
}

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

std::string CriticalPathSentence(const Report& report, const TextOptions& options) {
  if (!report.run.critical_path) return {};
  const ReportCriticalPath& path = *report.run.critical_path;
  std::string text;
  const size_t named = std::min(path.parts.size(), kNamedParts);
  const bool several = LeadsThroughOthers(report, named);
  const PidText pids(report.processes, options.unicode);
  for (size_t i = 0; i < named; ++i) {
    const ReportPathPart& part = path.parts[i];
    text += (i == 0 ? ": " : ", ") +
            ShortName(ShownName(part.operation), kNameInSentence, options.unicode) + " (" +
            part.layer + (several ? ", pid " + pids.Of(part.pid, part.host) : "") + ") " +
            FormatShare(ShareOf(part.ns, path.wall_ns));
  }
  text = "Critical path" + OwnerText(report, options) + ", " +
         FormatTime(path.wall_ns, options.raw) + text + ".";
  const std::string free = FreeText(report, options);
  return Wrap(text + (free.empty() ? "" : " " + free), options.width, 2);
}

std::string CriticalPathSection(const Report& report, const TextOptions& options) {
  if (!report.run.critical_path) return {};
  const ReportCriticalPath& path = *report.run.critical_path;
  const bool several = LeadsThroughOthers(report, path.parts.size());
  std::vector<std::string> heads{"Operation", "layer", "time", "share"};
  if (several) heads.insert(heads.begin() + 1, "pid");
  const PidText pids(report.processes, options.unicode);
  TextTable table(heads);
  const auto add = [&](const ReportPathPart& part, const std::string& pid) {
    std::vector<std::string> cells{ShownName(part.operation), part.layer,
                                   FormatTime(part.ns, options.raw),
                                   FormatShare(ShareOf(part.ns, path.wall_ns))};
    if (several) cells.insert(cells.begin() + 1, pid);
    table.AddRow(std::move(cells));
  };
  ReportPathPart others{"", 0, "(others)", "", path.wall_ns};
  const size_t rows = path.parts.size() > kMostRows + 1 ? kMostRows : path.parts.size();
  for (size_t i = 0; i < rows; ++i) {
    const ReportPathPart& part = path.parts[i];
    others.ns -= part.ns;
    add(part, pids.Of(part.pid, part.host));
  }
  if (rows < path.parts.size()) add(others, "");
  const std::string heading =
      "Critical path" + OwnerText(report, options) + ", " + FormatTime(path.wall_ns, options.raw);
  const std::string free = FreeText(report, options);
  return "\n" + Wrap(heading, options.width, 2) + table.Render(options.width, 0, options.unicode) +
         (free.empty() ? "" : Wrap(free, options.width, 2));
}

}  // namespace gpubound
