// SPDX-License-Identifier: Apache-2.0
//
// Iteratively reweighted least squares. No state.
#include "analysis/correction/robust_slope.h"

#include <algorithm>
#include <cmath>

#include "analysis/base/estimate.h"
#include "analysis/correction/huber.h"

namespace gpubound {
namespace {

double Residual(const SlopePoint& point, double slope) {
  return point.response - slope * point.predictor;
}

double LimitOf(const std::vector<SlopeGroup>& groups, double slope) {
  std::vector<double> sizes;
  for (const SlopeGroup& group : groups) {
    for (const SlopePoint& point : group) sizes.push_back(std::abs(Residual(point, slope)));
  }
  return HuberLimit(std::move(sizes));
}

double Refit(const std::vector<SlopeGroup>& groups, double slope, double limit) {
  double products = 0;
  double squares = 0;
  for (const SlopeGroup& group : groups) {
    const double share = 1 / static_cast<double>(group.size());
    for (const SlopePoint& point : group) {
      const double weight = share * HuberWeight(Residual(point, slope), limit);
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
      pull += share * HuberWeight(residual, limit) * residual * point.predictor;
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
  for (int round = 0; round < kMostHuberRounds; ++round) {
    const double found = LimitOf(groups, fit.value);
    if (found <= 0) break;  // most points lie on the line
    limit = found;
    const double before = fit.value;
    fit.value = Refit(groups, before, limit);
    if (std::abs(fit.value - before) <= kHuberSettled * std::abs(before)) break;
  }
  fit.groups = groups.size();
  fit.standard_error = ErrorOf(groups, fit.value, limit) *
                       StudentQuantile(static_cast<double>(groups.size() - 1)) / kNormal975;
  return fit;
}

}  // namespace gpubound
