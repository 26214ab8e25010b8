// SPDX-License-Identifier: Apache-2.0
//
// The percentile bootstrap. No state.
#include "analysis/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

#include "analysis/estimate.h"

namespace gpubound {
namespace {

// The 2.5 % quantile is then the 50th smallest.
constexpr int kResamples = 2000;
constexpr double kTail = 0.025;

double Quantile(const std::vector<double>& sorted, double share) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(std::lround(share * last))];
}

}  // namespace

MedianRatio MedianRatioOf(const std::vector<MeasuredPair>& pairs, uint64_t seed) {
  MedianRatio result;
  if (pairs.empty()) return result;
  std::vector<double> ratios;
  ratios.reserve(pairs.size());
  for (const MeasuredPair& pair : pairs) ratios.push_back(pair.value / pair.reference);
  result.ratio = Median(ratios);
  if (pairs.size() < kFewestPairs) return result;

  std::mt19937_64 random(seed);
  std::vector<double> medians;
  std::vector<double> resampled(ratios.size());
  for (int i = 0; i < kResamples; ++i) {
    for (double& ratio : resampled) ratio = ratios[random() % ratios.size()];
    medians.push_back(Median(resampled));
  }
  std::sort(medians.begin(), medians.end());
  result.interval = {Quantile(medians, kTail), Quantile(medians, 1 - kTail)};
  return result;
}

}  // namespace gpubound
