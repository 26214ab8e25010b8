// SPDX-License-Identifier: Apache-2.0
//
// Which detail of a run is worth its place: the newest, and what lies around slow iterations,
// within a size. Decides; removes nothing. Pure functions.
#ifndef GPUBOUND_ANALYSIS_COMPACT_RETENTION_H_
#define GPUBOUND_ANALYSIS_COMPACT_RETENTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/sweep/iteration_book.h"

namespace gpubound {

struct Retention {
  int64_t window_ns = int64_t{600} * 1'000'000'000;  // the newest detail that is kept
  std::optional<uint64_t> max_bytes;                 // of events
  std::optional<double> slow_factor;  // keep iterations longer than so many times the median
};

// A chunk of events as its row tells of it.
struct StoredChunk {
  Interval time;  // earliest begin, latest end
  uint64_t bytes = 0;
};

// Until when to sum a run that is settled until |settled_ns| (settled_time.h): the window before
// that stays, unless it is more than the limit, and all that is later, since more of it may come,
// unless that is long after; never before |summed_ns|, where the sums end that there are.
int64_t SumUntil(const Retention& retention, const std::vector<StoredChunk>& chunks,
                 int64_t settled_ns, int64_t summed_ns);

// The time before |until_ns| whose detail stays beside it: |kept| from before, and |iterations|
// that were slow; of these the newest that the limit has room for. Ascending, disjoint.
std::vector<Interval> KeptDetail(const Retention& retention, const std::vector<StoredChunk>& chunks,
                                 const std::vector<Iteration>& iterations,
                                 std::vector<Interval> kept, int64_t until_ns);

// Whether a chunk stays; |kept| is ascending and disjoint. What ends where the summed time does may
// still be running there.
bool IsKept(const StoredChunk& chunk, const std::vector<Interval>& kept, int64_t until_ns);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_COMPACT_RETENTION_H_
