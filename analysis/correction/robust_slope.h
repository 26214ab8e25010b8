// SPDX-License-Identifier: Apache-2.0
//
// How much a response follows a predictor when some responses are wild: a line through the origin,
// fitted so that far residuals count less (Huber). Pure.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_ROBUST_SLOPE_H_
#define GPUBOUND_ANALYSIS_CORRECTION_ROBUST_SLOPE_H_

#include <cstdint>
#include <vector>

namespace gpubound {

// Points that share what disturbed them, so that they tell as much as one.
struct SlopePoint {
  double predictor = 0;
  double response = 0;
};
using SlopeGroup = std::vector<SlopePoint>;

struct Slope {
  double value = 0;
  // 1.96 of it on either side are the 95 % interval: what groups differ by, with Student's factor
  // for how few they are.
  double standard_error = 0;
  uint64_t groups = 0;  // 0: nothing could be fitted
};

// Every group weighs the same, whatever its size. Nothing where there are fewer than two groups or
// every predictor is 0. Residuals are taken to be symmetric, as differences between like
// measurements are.
Slope FitSlope(const std::vector<SlopeGroup>& groups);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_ROBUST_SLOPE_H_
