// SPDX-License-Identifier: Apache-2.0
//
// Order statistics. No state.
// Source: H. A. David and H. N. Nagaraja, Order Statistics, third edition, section 7.1.
#include "analysis/calibration/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "analysis/base/estimate.h"

namespace gpubound {
namespace {

constexpr double kTail = 0.025;

// The probability that |below| of |count| values lie below their median.
double ShareBelow(size_t count, size_t below) {
  const auto n = static_cast<double>(count);
  const auto k = static_cast<double>(below);
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                  n * std::log(2.0));
}

// How many of |count| values may be left out on either side. There is at least one that is not.
size_t LeftOut(size_t count) {
  size_t left_out = 0;
  double tail = ShareBelow(count, 0);
  for (;;) {
    tail += ShareBelow(count, left_out + 1);
    if (tail > kTail) return left_out;
    ++left_out;
  }
}

}  // namespace

MedianRatio MedianRatioOf(const std::vector<MeasuredPair>& pairs) {
  MedianRatio result;
  if (pairs.empty()) return result;
  std::vector<double> ratios;
  ratios.reserve(pairs.size());
  for (const MeasuredPair& pair : pairs) ratios.push_back(pair.value / pair.reference);
  std::sort(ratios.begin(), ratios.end());
  result.ratio = Median(ratios);
  if (pairs.size() < kFewestPairs) return result;
  const size_t left_out = LeftOut(ratios.size());
  result.interval = {ratios[left_out], ratios[ratios.size() - 1 - left_out]};
  return result;
}

}  // namespace gpubound
