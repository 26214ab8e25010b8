// SPDX-License-Identifier: Apache-2.0
//
// Puts sections into sentences. No state.
#include "analysis/output/text/report_overview.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

constexpr double kWorthNaming = 0.005;  // of the span
constexpr size_t kShownEntries = 3;     // of the ledger, and of the notes
constexpr size_t kShownKeys = 6;        // of the metadata
constexpr size_t kShownBytes = 40;      // of each

// The report says it above, and louder.
bool IsSaid(const ReportLedgerEntry& entry) { return entry.counter == "simulated_device"; }

std::string Begin(const std::string& text, size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  size_t end = most_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // in UTF-8
  return text.substr(0, end) + "...";
}

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

std::string MetadataLines(const Report& report, const TextOptions& options) {
  const std::map<std::string, std::string>& metadata = report.run.metadata;
  if (metadata.empty()) return {};
  std::string lines;
  if (options.full) {
    for (const auto& [key, value] : metadata) {
      lines += Wrap("metadata: " + EscapeName(key + " " + value), options.width, 2);
    }
    return "\n" + lines;
  }
  size_t shown = 0;
  for (const auto& [key, value] : metadata) {
    if (shown == kShownKeys) break;
    lines += (shown++ == 0 ? "Metadata: " : ", ") +
             EscapeName(Begin(key, kShownBytes) + " " + Begin(value, kShownBytes));
  }
  if (shown < metadata.size())
    lines += ", and " + std::to_string(metadata.size() - shown) + " more";
  return "\n" + Wrap(lines + ".", options.width, 2);
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
