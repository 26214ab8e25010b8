// SPDX-License-Identifier: Apache-2.0
//
// Turns samples of one clock against CLOCK_MONOTONIC into a conversion that never changes its mind:
// what it says about an instant stays the same whatever samples follow, so chunks written at
// different times agree on the order of a thread's events, also beyond the newest sample.
//
// At each sample the line in use is kept up to that instant, and from there on bends so that it
// meets the measured line again one horizon later:
//
//      monotonic
//         |            ,x  measured again
//         |         ,·'          x = sample      o = knot (on the old line)
//         |      o·'  new slope
//         |    ,' x
//         |  ,'                  one thread (the flusher's)
//         +------------------ clock
#ifndef GPUBOUND_LIBPROFILER_CLOCK_TRACK_H_
#define GPUBOUND_LIBPROFILER_CLOCK_TRACK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/clock_conversion.h"

namespace gpubound {

class ClockTrack {
 public:
  // Adds one instant read from both clocks. False: the clock jumped (more than |tolerance_ns| off
  // the line), and the conversion starts anew from here.
  bool AddSample(uint64_t clock, int64_t monotonic_ns, int64_t tolerance_ns);

  const ClockConversion& conversion() const { return conversion_; }
  size_t sample_count() const { return sample_count_; }

 private:
  void Bend(uint64_t clock, int64_t from_ns, int64_t measured_ns);
  void Restart(uint64_t clock, int64_t monotonic_ns, bool forward);

  std::vector<ClockKnot> knots_;     // the last one lies in the future and is replaced
  std::vector<ClockKnot> measured_;  // the newest samples, for the slope
  size_t sample_count_ = 0;
  ClockConversion conversion_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_CLOCK_TRACK_H_
