// SPDX-License-Identifier: Apache-2.0
//
// A factor of calibrated costs that a run itself tells: how sure it is beside calibration, and what
// becomes of costs where it is not taken. Pure; no errors.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_COST_FACTOR_H_
#define GPUBOUND_ANALYSIS_CORRECTION_COST_FACTOR_H_

#include <algorithm>
#include <cmath>

#include "analysis/calibration/cost_model.h"

namespace gpubound {

// A factor so many standard deviations away from 1 is not 1.
inline constexpr double kFarFactor = 3;

// No factor above it is taken, nor, of what later iterations tell, below what it divides by: it is
// not recording that makes such a difference, or other costs do, which are more. Of one in between
// that cannot be ruled out: where it is kFarFactor standard deviations from 1, the interval holds
// both.
inline constexpr double kMostFactor = 4;

// |error|, the standard error of |factor|, which is above 0, as a share of what costs then are:
// what an error of the calibration is compared with. Of a factor above 1 it is a share of the least
// that it may be, and no less than of 1: the error often is the same whatever the factor, and
// factors that came out too large would be taken for the surer ones.
inline double ShareOfFactor(double error, double factor) {
  return error / std::max(std::min(factor, 1.0), factor - kFarFactor * error);
}

// Lets the interval of |cost| hold |factor| times the cost as well.
inline void WidenTo(double factor, Cost* cost) {
  constexpr double kHoldsBoth = 1.5;  // standard deviations, of the 1.96 of an interval
  const double apart_ns = std::abs(factor - 1) * cost->total_ns() / kHoldsBoth;
  cost->standard_error_ns = std::max(cost->standard_error_ns, apart_ns);
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_COST_FACTOR_H_
