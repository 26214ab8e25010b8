// SPDX-License-Identifier: Apache-2.0
//
// Extrapolates. No state.
#include "analysis/output/text/progress_text.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

constexpr double kLongestNs = 1e18;  // 32 years

// What the rest of the work takes, if it goes on as what was done. A program that told but once has
// done that since its start-up, of which nothing is known of |some| iterations. Nothing where that
// is no time at all.
std::optional<int64_t> TimeLeft(const ReportProgress& progress, const ReportProcess& process,
                                bool some) {
  double done = progress.done - progress.first_done;
  int64_t since_ns = progress.first_at_ns;
  if (done <= 0) {
    if (some) return std::nullopt;
    done = progress.done;
    since_ns = process.iterations ? process.iterations->start_up_ns : 0;
  }
  const double per_unit_ns = static_cast<double>(progress.at_ns - since_ns) / done;
  const double left_ns = (progress.total - progress.done) * per_unit_ns;
  if (!(left_ns < kLongestNs)) return std::nullopt;
  return std::llround(left_ns);
}

}  // namespace

std::string ProgressText(const ReportRun& run, const ReportProcess& process,
                         const TextOptions& options) {
  if (!process.progress || process.progress->done <= 0) return {};
  const ReportProgress& progress = *process.progress;
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  const bool some = !run.steps.empty();
  const std::optional<int64_t> left_ns = TimeLeft(progress, process, some);
  std::string text = "; " + FormatShare(progress.done / progress.total) + " of the work was done ";
  if (some) {
    text += "then";
    if (left_ns.value_or(0) > 0) text += ", the rest takes about " + time(*left_ns);
    return text;
  }
  text += "at " + time(process.after_run_began_ns + progress.at_ns);
  if (!left_ns || progress.at_ns + *left_ns < process.span_ns) return text;
  return text + ", all of it takes about " +
         time(process.after_run_began_ns + progress.at_ns + *left_ns);
}

}  // namespace gpubound
