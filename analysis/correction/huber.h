// SPDX-License-Identifier: Apache-2.0
//
// Huber's weights, with which far residuals of a fit count less. Pure.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_HUBER_H_
#define GPUBOUND_ANALYSIS_CORRECTION_HUBER_H_

#include <cmath>
#include <utility>
#include <vector>

#include "analysis/base/estimate.h"

namespace gpubound {

// A fit is made anew with the weights of the last one, at most so often, until it changes by no
// more than this, as a share of what is fitted.
inline constexpr int kMostHuberRounds = 50;
inline constexpr double kHuberSettled = 1e-9;

// From where on a residual is far, of residuals of these |sizes| (>= 0): 95 % efficient where
// nothing is wild. 0 where most of them are.
inline double HuberLimit(std::vector<double> sizes) {
  constexpr double kTuning = 1.345;
  constexpr double kMadToSigma = 1.4826;  // of a normal distribution
  return kTuning * (kMadToSigma * Median(std::move(sizes)));
}

// What a residual counts, of 1.
inline double HuberWeight(double residual, double limit) {
  const double size = std::abs(residual);
  return size <= limit ? 1 : limit / size;
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_HUBER_H_
