// SPDX-License-Identifier: Apache-2.0
//
// Iteratively reweighted least squares. No state.
#include "analysis/robust_slope.h"

#include <algorithm>
#include <cmath>

#include "analysis/estimate.h"

namespace gpubound {
namespace {

constexpr double kTuning = 1.345;       // Huber's: 95 % efficient where nothing is wild
constexpr double kMadToSigma = 1.4826;  // of a normal distribution
constexpr double kNormalQuantile = 1.96;
constexpr int kMostRounds = 50;
constexpr double kSettled = 1e-9;

double Residual(const SlopePoint& point, double slope) {
  return point.response - slope * point.predictor;
}

double ScaleOf(const std::vector<SlopeGroup>& groups, double slope) {
  std::vector<double> sizes;
  for (const SlopeGroup& group : groups) {
    for (const SlopePoint& point : group) sizes.push_back(std::abs(Residual(point, slope)));
  }
  return kMadToSigma * Median(std::move(sizes));
}

// What a residual counts, of 1.
double Weight(double residual, double limit) {
  const double size = std::abs(residual);
  return size <= limit ? 1 : limit / size;
}

double Refit(const std::vector<SlopeGroup>& groups, double slope, double limit) {
  double products = 0;
  double squares = 0;
  for (const SlopeGroup& group : groups) {
    const double share = 1 / static_cast<double>(group.size());
    for (const SlopePoint& point : group) {
      const double weight = share * Weight(Residual(point, slope), limit);
      products += weight * point.predictor * point.response;
      squares += weight * point.predictor * point.predictor;
    }
  }
  return products / squares;
}

// Of the sum over groups that the fit brings to zero, by how much it varies between them, in units
// of how fast it moves with the slope.
double ErrorOf(const std::vector<SlopeGroup>& groups, double slope, double limit) {
  double varies = 0;
  double moves = 0;
  for (const SlopeGroup& group : groups) {
    const double share = 1 / static_cast<double>(group.size());
    double pull = 0;
    for (const SlopePoint& point : group) {
      const double residual = Residual(point, slope);
      pull += share * Weight(residual, limit) * residual * point.predictor;
      if (std::abs(residual) <= limit) moves += share * point.predictor * point.predictor;
    }
    varies += pull * pull;
  }
  const auto count = static_cast<double>(groups.size());
  return std::sqrt(varies * count / (count - 1)) / moves;
}

}  // namespace

Slope FitSlope(const std::vector<SlopeGroup>& groups) {
  Slope fit;
  std::vector<double> ratios;
  double squares = 0;
  for (const SlopeGroup& group : groups) {
    for (const SlopePoint& point : group) {
      squares += point.predictor * point.predictor;
      if (point.predictor != 0) ratios.push_back(point.response / point.predictor);
    }
  }
  if (groups.size() < 2 || squares <= 0) return fit;
  fit.value = Median(std::move(ratios));
  double limit = HUGE_VAL;
  for (int round = 0; round < kMostRounds; ++round) {
    const double scale = ScaleOf(groups, fit.value);
    if (scale <= 0) break;  // most points lie on the line
    limit = kTuning * scale;
    const double before = fit.value;
    fit.value = Refit(groups, before, limit);
    if (std::abs(fit.value - before) <= kSettled * std::abs(before)) break;
  }
  fit.groups = groups.size();
  fit.standard_error =
      ErrorOf(groups, fit.value, limit) * StudentQuantile(groups.size() - 1) / kNormalQuantile;
  return fit;
}

}  // namespace gpubound
