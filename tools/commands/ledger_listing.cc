// SPDX-License-Identifier: Apache-2.0
//
// Walks the table of counters.
#include "tools/commands/ledger_listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/base/text_table.h"
#include "proto/ledger_counters.h"

namespace gpubound {

std::string RenderZeroCounters(const Report& report, const TextOptions& options) {
  constexpr int kIndent = 11;
  std::string text = "Counted, and zero:\n";
  for (const LedgerCounterInfo& counter : kLedgerCounters) {
    const bool counted =
        std::any_of(report.ledger.begin(), report.ledger.end(),
                    [&](const ReportLedgerEntry& entry) { return entry.counter == counter.name; });
    if (counted) continue;
    // Laid out as analysis/output/text/ledger_text.cc does it.
    text += fmt::format("{:<11}{}\n", SeverityName(counter.severity), counter.name);
    text += Wrap(std::string(kIndent, ' ') + counter.help, std::max(options.width, 60), kIndent);
  }
  return text;
}

}  // namespace gpubound
