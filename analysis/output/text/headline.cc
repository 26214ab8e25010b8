// SPDX-License-Identifier: Apache-2.0
//
// Puts figures into a line. No state.
#include "analysis/output/text/headline.h"

#include <algorithm>

#include "analysis/base/text_table.h"
#include "analysis/diagnosis/headline_facts.h"

namespace gpubound {
namespace {

std::string WithoutWorkText(const Report& report) {
  const double unknown = report.run.unknown.share;
  if (unknown == 0) return "No GPU work was recorded.";
  const std::string idle = unknown < 1 ? ", idle " + FormatShare(1 - unknown) : "";
  return "GPU unknown " + FormatShare(unknown) + idle +
         ": no work was recorded, but some could have run.";
}

// What is left of bounds on GPU busy and on what is unknown.
std::string IdleBound(const ReportRun& run) {
  const bool at_least = run.gpu_busy_is_upper_bound || run.unknown.is_upper_bound;
  if (run.gpu_busy_is_lower_bound) return at_least ? "about " : "at most ";
  return at_least ? ">= " : "";
}

}  // namespace

std::string UnknownText(const ReportUnknown& unknown) {
  return std::string("unknown ") + (unknown.is_upper_bound ? "<= " : "") +
         FormatShare(unknown.share);
}

std::string SmiText(const ReportRun& run) {
  if (run.nvml_utilization) return "nvidia-smi showed " + FormatShare(*run.nvml_utilization);
  return "nvidia-smi would show up to " + FormatShare(run.smi_model);
}

std::string HeadlineText(const Report& report) {
  const ReportRun& run = report.run;
  const double unknown = run.unknown.share;
  if (run.devices_used == 0) return WithoutWorkText(report);
  const std::optional<double> own = OwnShare(report);
  const bool bound = run.gpu_busy_is_upper_bound;
  // What is unknown, or of processes that were not recorded, may be more; what is called busy may
  // be less.
  const bool others = run.gpu_busy_is_lower_bound && !own;
  const bool more = unknown > 0 || others;
  const char* how = more && bound ? "about " : more ? "at least " : bound ? "<= " : "";
  std::string line = std::string("GPU busy ") + how + FormatShare(own.value_or(run.gpu_busy_share));
  if (own) line += " (peers " + FormatShare(std::max(0.0, run.gpu_busy_share - *own)) + ")";
  if (unknown > 0) line += ", " + UnknownText(run.unknown);
  const double idle = 1 - run.gpu_busy_share - unknown;
  line += ", idle " + IdleBound(run) + FormatShare(std::max(0.0, idle));
  return line + "; " + SmiText(run) + ".";
}

}  // namespace gpubound
