// SPDX-License-Identifier: Apache-2.0
//
// A lognormal distribution, cut off above: what times of code look like, which are never below 0
// and of which some are long. Moments below a limit are closed forms (Aitchison and Brown, The
// Lognormal Distribution, 1957, section 2.4). Pure.
#ifndef GPUBOUND_ANALYSIS_REPLAY_LOGNORMAL_H_
#define GPUBOUND_ANALYSIS_REPLAY_LOGNORMAL_H_

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gpubound {

inline double NormalDensity(double x) {
  return std::exp(-x * x / 2) / (std::numbers::sqrt2 * std::sqrt(std::numbers::pi));
}
inline double NormalBelow(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

class Lognormal {
 public:
  // Without a variance, or with a mean of 0 or less, all are |mean|.
  Lognormal(double mean, double variance)
      : mean_(mean), spread_(mean > 0 ? std::sqrt(std::log1p(variance / (mean * mean))) : 0) {}

  // The share of those below |limit|, and the sums over these of values and of squares, for one in
  // all.
  double ShareBelow(double limit) const { return PowerBelow(limit, 0); }
  double SumBelow(double limit) const { return PowerBelow(limit, 1); }
  double SquaresBelow(double limit) const { return PowerBelow(limit, 2); }

  // How much one of which only is known that it is below |limit| tells of the mean, where one that
  // is known tells 1 (Fisher information, of the logarithm).
  double InformationBelow(double limit) const {
    if (spread_ <= 0 || limit <= 0) return 0;
    const double high = Normalised(limit);
    const double share = NormalBelow(high);
    if (share <= 0) return 1;
    const double hazard = NormalDensity(high) / share;
    return std::clamp(hazard * (high + hazard), 0.0, 1.0);
  }

 private:
  double Normalised(double value) const { return std::log(value / mean_) / spread_ + spread_ / 2; }
  double PowerBelow(double limit, int power) const {
    if (spread_ <= 0) return mean_ <= limit ? std::pow(mean_, power) : 0;
    if (limit <= 0) return 0;
    const double all =
        std::pow(mean_, power) * std::exp(power * (power - 1) * spread_ * spread_ / 2);
    return all * NormalBelow(Normalised(limit) - power * spread_);
  }

  double mean_;
  double spread_;  // of the logarithm
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_LOGNORMAL_H_
