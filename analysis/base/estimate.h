// SPDX-License-Identifier: Apache-2.0
//
// Means of measurements that were disturbed: on a machine that does other things too, a few blocks
// out of a hundred take a hundred times as long, and a plain mean tells of them alone. Pure.
#ifndef GPUBOUND_ANALYSIS_BASE_ESTIMATE_H_
#define GPUBOUND_ANALYSIS_BASE_ESTIMATE_H_

#include <cstdint>
#include <vector>

namespace gpubound {

struct Estimate {
  double mean = 0;
  double variance = 0;        // of one value around its mean
  double standard_error = 0;  // of the mean; 1.96 of it on either side are the 95 % interval
  uint64_t samples = 0;       // 0: there was nothing to estimate from
};

// The middle value; of an even number of values the mean of the two in the middle. 0 of none.
double Median(std::vector<double> values);

// The mean of what is left when the lowest and the highest fifth are set aside. The variance is
// that of the values with those fifths pulled in to the limit (winsorised), the error that of Tukey
// and McLaughlin.
Estimate TrimmedMean(std::vector<double> values);

// One value from several groups of measurements, of which each has its own bias (a process has its
// addresses, and they decide how its caches collide): the trimmed mean over groups of their trimmed
// means. The error is what groups differ by, with Student's factor for how few, of a single one the
// mean itself, and never less than what the values within them say; the variance is that within a
// group.
Estimate MeanOfGroups(const std::vector<std::vector<double>>& groups);

// The 97.5 % quantile of the normal distribution: so many standard deviations on either side hold
// 95 %.
inline constexpr double kNormal975 = 1.96;

// That of Student's distribution, which comes down to kNormal975 as degrees grow; infinite for
// none. Degrees need not be whole (Welch, 1947): between two whole ones it is interpolated.
double StudentQuantile(double degrees_of_freedom);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_ESTIMATE_H_
