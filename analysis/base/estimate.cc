// SPDX-License-Identifier: Apache-2.0
//
// Trimmed means and their errors. No state.
#include "analysis/base/estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace gpubound {
namespace {

constexpr double kTrimmedShare = 0.2;  // at each end

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

size_t CutAtEachEnd(size_t values) {
  return static_cast<size_t>(kTrimmedShare * static_cast<double>(values));
}

double Variance(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

}  // namespace

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Estimate TrimmedMean(std::vector<double> values) {
  Estimate estimate;
  estimate.samples = values.size();
  if (values.empty()) return estimate;
  std::sort(values.begin(), values.end());
  const size_t cut = CutAtEachEnd(values.size());
  const std::vector<double> kept(values.begin() + static_cast<ptrdiff_t>(cut),
                                 values.end() - static_cast<ptrdiff_t>(cut));
  estimate.mean = Mean(kept);
  for (double& value : values) value = std::clamp(value, kept.front(), kept.back());
  estimate.variance = Variance(values);
  const double kept_share =
      static_cast<double>(kept.size()) / static_cast<double>(estimate.samples);
  estimate.standard_error =
      std::sqrt(estimate.variance / static_cast<double>(estimate.samples)) / kept_share;
  return estimate;
}

double StudentQuantile(double degrees_of_freedom) {
  constexpr std::array<double, 31> kQuantiles{
      HUGE_VAL, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,    2.179,  2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080,
      2.074,    2.069,  2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  const double n = degrees_of_freedom;
  if (n < 1) return HUGE_VAL;
  if (n < static_cast<double>(kQuantiles.size() - 1)) {
    const auto whole = static_cast<size_t>(n);
    const auto low = static_cast<double>(whole);
    const double part = (1 / low - 1 / n) / (1 / low - 1 / (low + 1));
    return kQuantiles[whole] + part * (kQuantiles[whole + 1] - kQuantiles[whole]);
  }
  // Cornish and Fisher's expansion, right to three digits from here on.
  const double z = kNormal975;
  return z + (z * z * z + z) / (4 * n) +
         (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

Estimate MeanOfGroups(const std::vector<std::vector<double>>& groups) {
  Estimate estimate;
  std::vector<double> means;
  double squared_errors = 0;
  for (const std::vector<double>& group : groups) {
    if (group.empty()) continue;
    const Estimate part = TrimmedMean(group);
    means.push_back(part.mean);
    estimate.variance += part.variance;
    squared_errors += part.standard_error * part.standard_error;
    estimate.samples += part.samples;
  }
  if (means.empty()) return estimate;
  const auto count = static_cast<double>(means.size());
  const Estimate between = TrimmedMean(means);
  estimate.mean = between.mean;
  estimate.variance /= count;
  estimate.standard_error = std::sqrt(squared_errors) / count;
  if (means.size() < 2) {
    // What groups differ by cannot be told: as uncertain as it is large.
    estimate.standard_error = std::max(estimate.standard_error, std::abs(estimate.mean));
    return estimate;
  }
  const uint64_t kept = means.size() - 2 * CutAtEachEnd(means.size());
  const double widened =
      between.standard_error * StudentQuantile(static_cast<double>(kept) - 1) / kNormal975;
  estimate.standard_error = std::max(estimate.standard_error, widened);
  return estimate;
}

}  // namespace gpubound
