// SPDX-License-Identifier: Apache-2.0
//
// Puts sections into sentences. No state.
#include "analysis/report_overview.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analysis/text_table.h"

namespace gpubound {
namespace {

constexpr double kWorthNaming = 0.005;  // of the span
constexpr size_t kShownEntries = 3;     // of the ledger, and of the notes

// The report says it above, and louder.
bool IsSaid(const ReportLedgerEntry& entry) { return entry.counter == "simulated_device"; }

}  // namespace

std::string LayerSentence(const ReportProcess& process, const TextOptions& options) {
  std::map<std::string, int64_t> sums;
  for (const ReportCell& cell : process.cells) sums[cell.layer] += cell.ns;
  std::vector<std::pair<std::string, int64_t>> layers(sums.begin(), sums.end());
  std::stable_sort(layers.begin(), layers.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string line;
  for (const auto& [layer, ns] : layers) {
    const double share = ShareOf(ns, process.span_ns);
    if (share < kWorthNaming) break;
    line += (line.empty() ? "" : ", ") + layer + " " + FormatShare(share);
  }
  return line.empty() ? line : Wrap("Layers: " + line + ".", options.width, 2);
}

std::string LedgerLines(const Report& report, const TextOptions& options) {
  std::string lines;
  std::string others;
  size_t shown = 0;
  for (const ReportLedgerEntry& entry : report.ledger) {
    if (entry.severity < Severity::kNotice || (!options.full && IsSaid(entry))) continue;
    const std::string figure = entry.counter + " " + FormatCount(entry.value);
    if (options.full || shown++ < kShownEntries) {
      lines += Wrap(std::string(SeverityName(entry.severity)) + ": " + figure + ". " + entry.help,
                    options.width, 2);
    } else {
      others += (others.empty() ? "" : ", ") + figure;
    }
  }
  if (!others.empty()) {
    lines += Wrap(
        "and " + others + ": gpubound doctor " + EscapeName(options.run) + " says what they are.",
        options.width, 2);
  }
  for (size_t i = 0; i < report.notes.size(); ++i) {
    if (!options.full && i == kShownEntries) {
      const size_t more = report.notes.size() - i;
      lines += "and " + std::to_string(more) + (more == 1 ? " more note\n" : " more notes\n");
      break;
    }
    lines += Wrap("note: " + EscapeName(report.notes[i]), options.width, 2);
  }
  return lines.empty() ? lines : "\n" + lines;
}

std::string MoreLine(const TextOptions& options) {
  return "\n" +
         Wrap("More: --full, --kernels, --by layer,phase,process,device,thread,iteration,gap",
              options.width, 2);
}

}  // namespace gpubound
