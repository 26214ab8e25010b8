// SPDX-License-Identifier: Apache-2.0
//
// Prints the trust ledger. No state.
#include "analysis/output/text/ledger_text.h"

#include <algorithm>

#include "analysis/base/text_table.h"

namespace gpubound {

std::string RenderLedger(const Report& report, const TextOptions& options) {
  const int width = std::max(options.width, 60);
  std::string text = "Verdict: " + EscapeName(report.run.verdict) + "\n";
  text = Wrap(text.substr(0, text.size() - 1), width, 2);
  if (report.device_kind == "simulated") text = "SIMULATED DEVICE\n" + text;
  text += report.ledger.empty() ? "The ledger is empty.\n" : "\n";
  for (const ReportLedgerEntry& entry : report.ledger) {
    const std::string severity = SeverityName(entry.severity);
    text += PadRight(severity, 9, options.unicode) + "  " + entry.counter + " = " +
            std::to_string(entry.value) + "\n";
    text += Wrap(std::string(11, ' ') + entry.help, width, 11);
  }
  for (const ReportNotCounted& what : report.not_counted) {
    text += PadRight("unknown", 9, options.unicode) + "  " + what.counter + "\n";
    text += Wrap(std::string(11, ' ') + EscapeName(what.why), width, 11);
  }
  for (const std::string& note : report.notes) {
    text += Wrap("note       " + EscapeName(note), width, 11);
  }
  return text;
}

bool LedgerHasError(const Report& report) {
  return std::any_of(
      report.ledger.begin(), report.ledger.end(),
      [](const ReportLedgerEntry& entry) { return entry.severity == Severity::kError; });
}

}  // namespace gpubound
