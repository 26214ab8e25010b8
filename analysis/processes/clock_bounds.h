// SPDX-License-Identifier: Apache-2.0
//
// What collectives say of the clocks of two hosts. Nobody leaves an all-reduce, all-gather,
// reduce-scatter, all-to-all or barrier before everybody has entered it, so of the k-th of a name
// on a rank here and on one there each begins before the other ends:
//
//   here    |=======|             there, by its own clock      |====|
//           b       e                                          b'   e'
//   so that  b - e'  <=  here minus there  <=  e - b'
//
// Hundreds of them leave a narrow interval. Where there are more, it is told how the difference
// changes: clocks drift by some millionths, which is milliseconds in minutes. All ranks leave such
// a collective at nearly one time, so the median of e - e' over a part of the run is the difference
// there. Pure but for reading the sources.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_CLOCK_BOUNDS_H_
#define GPUBOUND_ANALYSIS_PROCESSES_CLOCK_BOUNDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/run.h"

namespace gpubound {

// Trace time of the reference host minus that of another, which changes through the run: straight
// from knot to knot, and beyond them as between the nearest two.
struct OffsetTrack {
  struct Knot {
    int64_t time_ns = 0;  // of the other host
    int64_t offset_ns = 0;
  };
  std::vector<Knot> knots;  // by time; two or more
  int64_t error_ns = 0;     // of 99 collectives of a hundred, at most

  int64_t At(int64_t time_ns) const;
};

// Of trace time of the reference host minus that of another.
struct OffsetBounds {
  int64_t low_ns = 0;
  int64_t high_ns = 0;  // less than |low_ns| where groups of ranks were mistaken for each other
  uint64_t collectives = 0;          // that it rests on
  std::optional<OffsetTrack> track;  // of long runs: within the run the bounds hold beside it
  // By so much more than clocks drift the collectives contradict each other: they bound nothing.
  // Else 0.
  int64_t contradiction_ns = 0;

  int64_t middle_ns() const { return low_ns + (high_ns - low_ns) / 2; }
};

// By host; none for one that shares no collectives with |reference_host|, or of which device work is
// missing: ranks that have another number of a name are not compared. A tenth of a second is no
// contradiction.
std::map<std::string, OffsetBounds> BoundClocks(const Run& run, const std::string& reference_host);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_CLOCK_BOUNDS_H_
