// SPDX-License-Identifier: Apache-2.0
//
// Until when a run that may go on is settled: nothing of the time before is still to come. What is
// summed beyond that would be missing from the sums for good, or be called unknown. Pure.
#ifndef GPUBOUND_ANALYSIS_COMPACT_SETTLED_TIME_H_
#define GPUBOUND_ANALYSIS_COMPACT_SETTLED_TIME_H_

#include <algorithm>
#include <cstdint>

#include "analysis/trace/run.h"
#include "proto/cpu_time_limits.h"

namespace gpubound {

// Processes write once a second, and recorded work is delivered twice. Where that stops, as while
// one kernel runs for hours, it is waited for no longer than so.
inline constexpr int64_t kLongestDeliveryNs = int64_t{60} * 1'000'000'000;

// Of a process that has written all but device work until |written_ns|, and that, as far as it was
// delivered, until |delivered_ns|. Where its threads were it says a little later.
constexpr int64_t SettledUntil(int64_t written_ns, int64_t delivered_ns) {
  return std::min(written_ns - kLatestCpuTimeNs,
                  std::max(delivered_ns, written_ns - kLongestDeliveryNs));
}

// The earliest such instant of the processes that go on; where none does, the last end.
int64_t SettledUntil(const Run& run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_COMPACT_SETTLED_TIME_H_
