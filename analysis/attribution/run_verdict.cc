// SPDX-License-Identifier: Apache-2.0
//
// Words the verdict. No state.
#include "analysis/attribution/run_verdict.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

uint64_t CountOf(const std::vector<ReportLedgerEntry>& ledger, Severity severity) {
  return static_cast<uint64_t>(std::count_if(
      ledger.begin(), ledger.end(),
      [severity](const ReportLedgerEntry& entry) { return entry.severity == severity; }));
}

// The part of the run in which GPU time is unknown: that of the time of the devices, which the
// first line is about as well, else of the process that has most of it. Empty: it is known.
std::string UnknownPart(const Report& report) {
  const ReportUnknown& whole = report.run.whole_unknown;
  if (whole.share > 0) {
    return (whole.is_upper_bound ? "at most " : "") + FormatShare(whole.share) +
           (report.run.headline == "span" ? " of the time" : " of the whole span");
  }
  const auto share_of = [](const ReportProcess& process) {
    return ShareOf(process.unknown_ns, process.span_ns);
  };
  const auto most =
      std::max_element(report.processes.begin(), report.processes.end(),
                       [&](const auto& a, const auto& b) { return share_of(a) < share_of(b); });
  if (most == report.processes.end() || most->unknown_ns == 0) return {};
  return FormatShare(share_of(*most)) + " of the time of pid " + std::to_string(most->pid);
}

}  // namespace

std::string VerdictOf(const Report& report) {
  const uint64_t errors = CountOf(report.ledger, Severity::kError);
  const uint64_t losses = CountOf(report.ledger, Severity::kDataLoss);
  const std::string unknown = UnknownPart(report);
  const bool bound = report.run.whole_gpu_busy_is_upper_bound;
  std::string verdict;
  if (errors != 0) {
    verdict = "doubtful: " + report.ledger.front().help;
  } else if (losses != 0) {
    verdict = "incomplete: " + report.ledger.front().help;
  }
  if (!unknown.empty()) {
    verdict += verdict.empty() ? "incomplete: " : " ";
    verdict += "GPU unknown for " + unknown + ", ";
    verdict += bound ? "and CUDA graphs were recorded as a whole, so GPU shares may be too low or "
                       "too high."
                     : "so GPU shares are lower bounds.";
    return verdict;
  }
  if (verdict.empty()) {
    const bool goes_on =
        std::any_of(report.processes.begin(), report.processes.end(),
                    [](const auto& process) { return process.span_end == SpanEnd::kGoesOn; });
    verdict = report.processes.empty() ? "nothing was recorded."
              : goes_on                ? "complete so far: nothing was lost."
                                       : "complete: nothing was lost.";
  }
  const auto any_device = [&report](bool (*is)(const ReportDevice&)) {
    return std::any_of(report.devices.begin(), report.devices.end(), is);
  };
  if (any_device([](const ReportDevice& device) { return !device.not_profiled.empty(); })) {
    verdict +=
        " Processes that are not part of the run were on its GPU too: what that did in all may be "
        "more.";
  } else if (any_device([](const ReportDevice& device) { return device.host_outside_run; })) {
    verdict += " GPU shares are lower bounds.";
  } else if (report.run.gpu_busy_is_lower_bound) {
    verdict += " What is lost may have used GPUs, so GPU shares are lower bounds.";
  }
  if (bound) verdict += " CUDA graphs were recorded as a whole, so GPU shares are upper bounds.";
  return verdict;
}

}  // namespace gpubound
