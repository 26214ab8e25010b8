// SPDX-License-Identifier: Apache-2.0
//
// Sums the older time of a run and removes detail that is not worth its place: `gpubound compact`
// (docs/long_runs.md). Changes the run's directory; one at a time, which a lock on it sees to.
#ifndef GPUBOUND_ANALYSIS_COMPACT_COMPACT_H_
#define GPUBOUND_ANALYSIS_COMPACT_COMPACT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/compact/retention.h"

namespace gpubound {

struct Compaction {
  int64_t summed_ns = 0;        // from the run's begin; 0 where the run stayed as it was
  uint64_t events_removed = 0;  // by this compaction
  uint64_t bytes_before = 0;    // of the directory
  uint64_t bytes_after = 0;
  std::string why_none;              // why nothing was summed; empty where it was
  std::vector<std::string> growing;  // processes whose newest segment is left alone, and why
};

// A run of which no event can be removed stays as it was: sums would cost it what needs all events.
// Also while processes of the run go on: their newest segment is left alone, and what they have
// written by now counts. So is that of one which did not close its trace and may go on elsewhere.
// |operations| as in BreakdownOptions. An error leaves the run as it was, or with sums that are
// valid and more detail than was to be kept.
Result<Compaction> CompactRun(const std::string& path, const std::vector<std::string>& operations,
                              const Retention& retention);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_COMPACT_COMPACT_H_
