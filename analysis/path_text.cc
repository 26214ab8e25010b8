// SPDX-License-Identifier: Apache-2.0
//
// Writes the section. No state.
#include "analysis/path_text.h"

#include <cstddef>
#include <cstdint>

#include "analysis/text_table.h"

namespace gpubound {
namespace {

constexpr size_t kMostRows = 8;

std::string FreeText(const ReportCriticalPath& path, const TextOptions& options) {
  std::string text;
  for (const ReportSpeedup& speedup : path.speedups) {
    text += (text.empty() ? "It would take " : ", ") + FormatTime(speedup.wall_ns, options.raw) +
            " if " + EscapeName(speedup.part) + " took no time";
  }
  return text.empty() ? text : Wrap(text + ".", options.width, 2);
}

}  // namespace

std::string CriticalPathSection(const Report& report, const TextOptions& options) {
  if (!report.run.critical_path) return {};
  const ReportCriticalPath& path = *report.run.critical_path;
  TextTable table({"Operation", "layer", "time", "share"});
  int64_t others_ns = path.wall_ns;
  const size_t rows = path.parts.size() > kMostRows + 1 ? kMostRows : path.parts.size();
  for (size_t i = 0; i < rows; ++i) {
    const ReportPathPart& part = path.parts[i];
    others_ns -= part.ns;
    table.AddRow({EscapeName(part.operation), part.layer, FormatTime(part.ns, options.raw),
                  FormatShare(ShareOf(part.ns, path.wall_ns))});
  }
  if (rows < path.parts.size()) {
    table.AddRow({"(others)", "", FormatTime(others_ns, options.raw),
                  FormatShare(ShareOf(others_ns, path.wall_ns))});
  }
  return "\nCritical path, " + FormatTime(path.wall_ns, options.raw) + "\n" +
         table.Render(options.width, 1, options.unicode) + FreeText(path, options);
}

}  // namespace gpubound
