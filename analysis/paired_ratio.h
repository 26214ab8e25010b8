// SPDX-License-Identifier: Apache-2.0
//
// Ratios of measurements made in pairs, and the interval that resampling the pairs gives: no
// assumption about how the times of a program are distributed. Pure; the same seed gives the same.
#ifndef GPUBOUND_ANALYSIS_PAIRED_RATIO_H_
#define GPUBOUND_ANALYSIS_PAIRED_RATIO_H_

#include <cstdint>
#include <vector>

namespace gpubound {

// One round: the same work measured in two ways, one right after the other.
struct MeasuredPair {
  double value = 0;
  double reference = 0;  // above 0
};

struct MedianRatio {
  double ratio = 0;  // median over the pairs of value / reference
  double low = 0;    // 95 % interval
  double high = 0;
};

// All 0 without a pair. With few pairs the interval is what they span.
MedianRatio MedianRatioOf(const std::vector<MeasuredPair>& pairs, uint64_t seed);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PAIRED_RATIO_H_
