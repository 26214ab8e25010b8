// SPDX-License-Identifier: Apache-2.0
//
// How sure one can be of a difference between two groups of runs: 95 % intervals by resampling what
// was measured. Where both groups hold several runs, runs are resampled, since one run differs from
// the next for reasons that no iteration of it shows; otherwise iterations are, in blocks as long
// as neighbours resemble each other. The same input and seed give the same result anywhere. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_CHECK_BOOTSTRAP_H_
#define GPUBOUND_ANALYSIS_OUTPUT_CHECK_BOOTSTRAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gpubound {

inline constexpr size_t kBootstrapReplicates = 2000;
// Fewer iterations than this say too little about how much they vary.
inline constexpr size_t kFewestToResample = 8;

enum class Statistic : uint8_t { kMean, kMedian };

// Values of a run, one for each iteration, in order of time; for a share, what each is a part of.
struct RunSeries {
  std::vector<double> values;
  std::vector<double> wholes;  // empty, or as many as values: the statistic is their ratio of sums
};

// Of the run: mean or median of the values, or sum of values over sum of wholes. 0 without values.
double StatisticOf(const RunSeries& run, Statistic statistic);

// Of a group: the mean over its runs.
double StatisticOf(std::span<const RunSeries> group, Statistic statistic);

enum class Resampling : uint8_t { kNothing, kIterations, kRuns };

// What can be resampled to compare |before| with |after|.
Resampling ResamplingOf(std::span<const RunSeries> before, std::span<const RunSeries> after);

struct Confidence {
  double low;
  double high;
};

// The 95 % interval of StatisticOf(after) - StatisticOf(before); absent where nothing can be
// resampled.
std::optional<Confidence> DifferenceInterval(std::span<const RunSeries> before,
                                             std::span<const RunSeries> after, Statistic statistic,
                                             uint64_t seed);

// Likewise of StatisticOf(after) / StatisticOf(before), by its logarithm: never below zero, and for
// times that vary by factors as sure on one side as on the other. Absent also where a resampled
// group is zero, as of an operation that few iterations have.
std::optional<Confidence> RatioInterval(std::span<const RunSeries> before,
                                        std::span<const RunSeries> after, Statistic statistic,
                                        uint64_t seed);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_CHECK_BOOTSTRAP_H_
