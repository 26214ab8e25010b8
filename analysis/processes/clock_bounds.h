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
// Hundreds of them leave a narrow interval. Pure but for reading the sources.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_CLOCK_BOUNDS_H_
#define GPUBOUND_ANALYSIS_PROCESSES_CLOCK_BOUNDS_H_

#include <cstdint>
#include <map>
#include <string>

#include "analysis/trace/run.h"

namespace gpubound {

// Of trace time of the reference host minus that of another.
struct OffsetBounds {
  int64_t low_ns = 0;
  int64_t high_ns = 0;  // less than |low_ns| where groups of ranks were mistaken for each other
  uint64_t collectives = 0;  // that it rests on

  int64_t middle_ns() const { return low_ns + (high_ns - low_ns) / 2; }
};

// By host; none for one that shares no collectives with |reference_host|, whose contradict each
// other by more than a tenth of a second, or of which device work is missing: ranks that have
// another number of a name are not compared.
std::map<std::string, OffsetBounds> BoundClocks(const Run& run, const std::string& reference_host);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_CLOCK_BOUNDS_H_
