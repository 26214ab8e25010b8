// SPDX-License-Identifier: Apache-2.0
//
// Lists what was said. No state.
#include "analysis/output/text/report_overview.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analysis/base/text_table.h"
#include "analysis/diagnosis/headline_facts.h"

namespace gpubound {
namespace {

// The screen says it above, and louder.
bool IsSaid(const ReportLedgerEntry& entry) { return entry.counter == "simulated_device"; }

}  // namespace

std::string MetadataLines(const Report& report, const TextOptions& options) {
  std::string lines;
  for (const auto& [key, value] : report.run.metadata) {
    lines += Wrap("metadata: " + EscapeName(key + " " + value), options.width, 2);
  }
  return lines.empty() ? lines : "\n" + lines;
}

std::string LedgerLines(const Report& report, const TextOptions& options) {
  std::string lines;
  for (const ReportLedgerEntry& entry : report.ledger) {
    if (entry.severity < Severity::kNotice || (!options.full && IsSaid(entry))) continue;
    lines += Wrap(std::string(SeverityName(entry.severity)) + ": " + entry.counter + " " +
                      FormatCount(entry.value) + ". " + entry.help,
                  options.width, 2);
  }
  for (const std::string& note : report.notes) {
    lines += Wrap("note: " + EscapeName(note), options.width, 2);
  }
  return lines.empty() ? lines : "\n" + lines;
}

std::string MoreLine(const Report& report, const TextOptions& options) {
  const size_t notes = report.notes.size();
  const std::string count =
      notes == 0 ? "" : " (" + std::to_string(notes) + (notes == 1 ? " note)" : " notes)");
  const char* const tables = UsesNoGpu(report)
                                 ? ", --by layer,phase,process,thread,iteration"
                                 : ", --kernels, --by layer,phase,process,thread,iteration,gap";
  return "\n" + Wrap("More: --full" + count + tables, options.width, 2);
}

}  // namespace gpubound
