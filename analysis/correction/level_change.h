// SPDX-License-Identifier: Apache-2.0
//
// By how much the lengths of a loop's iterations change at one instant, when they drift, differ
// from each other, and a few are wild: a regression discontinuity. Pure.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_LEVEL_CHANGE_H_
#define GPUBOUND_ANALYSIS_CORRECTION_LEVEL_CHANGE_H_

#include <cstddef>
#include <limits>
#include <vector>

namespace gpubound {

struct TimedLength {
  double at_ns = 0;
  double length_ns = 0;
};

struct LevelChange {
  double before_ns = 0;  // length at the instant, as those before it have it, and those behind it
  double behind_ns = 0;
  // Of their difference; 1.96 of it on either side are the 95 % interval.
  double standard_error_ns = std::numeric_limits<double>::infinity();
  size_t used = 0;  // iterations on either side: as many as the shorter one has; 0: too few
  double change_ns() const { return behind_ns - before_ns; }
};

// Fewer on one side tell nothing.
inline constexpr size_t kFewestOnASide = 8;

// Both in order of time. Means of blocks of iterations, the nearest ones, are fitted by a line on
// each side, of one slope; far residuals count less (Huber). The error is what blocks differ by,
// with Student's factor, larger where blocks resemble their neighbours.
LevelChange FitLevelChange(const std::vector<TimedLength>& before,
                           const std::vector<TimedLength>& behind);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_LEVEL_CHANGE_H_
