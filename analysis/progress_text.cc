// SPDX-License-Identifier: Apache-2.0
//
// Extrapolates. No state.
#include "analysis/progress_text.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "analysis/text_table.h"

namespace gpubound {
namespace {

constexpr double kLongestNs = 1e18;  // 32 years

// What all of the work takes from the span's begin, if the rest of it goes on as what was done. A
// program that told but once has done that since its start-up. Nothing where that is no time at
// all.
std::optional<int64_t> WholeTime(const ReportProgress& progress, const ReportProcess& process) {
  double done = progress.done - progress.first_done;
  int64_t since_ns = progress.first_at_ns;
  if (done <= 0) {
    done = progress.done;
    since_ns = process.iterations ? process.iterations->start_up_ns : 0;
  }
  const double per_unit_ns = static_cast<double>(progress.at_ns - since_ns) / done;
  const double left_ns = (progress.total - progress.done) * per_unit_ns;
  if (!(left_ns < kLongestNs)) return std::nullopt;
  return progress.at_ns + std::llround(left_ns);
}

}  // namespace

std::string ProgressText(const ReportProcess& process, const TextOptions& options) {
  if (!process.progress || process.progress->done <= 0) return {};
  const ReportProgress& progress = *process.progress;
  const auto in_run = [&](int64_t ns) {
    return FormatTime(process.after_run_began_ns + ns, options.raw);
  };
  std::string text = "; " + FormatShare(progress.done / progress.total) +
                     " of the work was done at " + in_run(progress.at_ns);
  const std::optional<int64_t> whole_ns = WholeTime(progress, process);
  if (whole_ns && *whole_ns >= process.span_ns) {
    text += ", all of it takes about " + in_run(*whole_ns);
  }
  return text;
}

}  // namespace gpubound
