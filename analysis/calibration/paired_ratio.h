// SPDX-License-Identifier: Apache-2.0
//
// Ratios of measurements made in pairs, and the interval of their median that lies between two of
// them: no assumption about how the times of a program are distributed. Pure; no errors.
#ifndef GPUBOUND_ANALYSIS_CALIBRATION_PAIRED_RATIO_H_
#define GPUBOUND_ANALYSIS_CALIBRATION_PAIRED_RATIO_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace gpubound {

// One round: the same work measured in two ways, one right after the other.
struct MeasuredPair {
  double value = 0;
  double reference = 0;  // above 0
};

struct RatioRange {
  double low = 0;
  double high = 0;
};

struct MedianRatio {
  double ratio = 0;                    // median over the pairs of value / reference
  std::optional<RatioRange> interval;  // 95 %; absent with too few pairs
};

// All of fewer pairs lie on one side of the median in more than 5 % of cases, so that no interval
// between them holds it with 95 % probability.
inline constexpr size_t kFewestPairs = 6;

// 0 without a pair. The interval lies between the k-th smallest ratio and the k-th largest: the
// median is beyond one of them only where fewer than k of all lie on one side of it, which the
// binomial distribution says of any other. It holds the true median in 95 % of cases or more: of
// six to eight pairs it is their whole range.
MedianRatio MedianRatioOf(const std::vector<MeasuredPair>& pairs);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CALIBRATION_PAIRED_RATIO_H_
