// SPDX-License-Identifier: Apache-2.0
//
// Counts touched windows in one pass. No state.
#include "analysis/smi_model.h"

namespace gpubound {

double SmiModel(const std::vector<Interval>& kernels, const Interval& span) {
  if (span.empty()) return 0;
  int64_t touched_ns = 0;
  int64_t next_window = 0;  // windows before it are decided
  for (const Interval& kernel : kernels) {
    const Interval clipped = kernel.ClippedTo(span);
    if (clipped.empty()) continue;
    const int64_t first = std::max(next_window, (clipped.begin_ns - span.begin_ns) / kSmiWindowNs);
    const int64_t last = (clipped.end_ns - 1 - span.begin_ns) / kSmiWindowNs;
    if (last < first) continue;
    const int64_t end_ns = std::min(span.length(), (last + 1) * kSmiWindowNs);
    touched_ns += end_ns - first * kSmiWindowNs;
    next_window = last + 1;
  }
  return static_cast<double>(touched_ns) / static_cast<double>(span.length());
}

}  // namespace gpubound
