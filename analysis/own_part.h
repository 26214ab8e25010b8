// SPDX-License-Identifier: Apache-2.0
//
// How long a call of one kind takes by itself, the profiler's cost included, where its end tells
// that only sometimes: one that had to wait for something says no more than that its own part was
// shorter. Leaving those out would keep the long ones alone, so what they probably took is counted
// in their place, the mean of what lies below the limit (a censored sample, by expectation and
// maximisation step by step; times are taken as normal for that).
//
// Fixed size. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_OWN_PART_H_
#define GPUBOUND_ANALYSIS_OWN_PART_H_

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analysis/typical_delay.h"

namespace gpubound {

inline double NormalDensity(double x) {
  return std::exp(-x * x / 2) / (std::numbers::sqrt2 * std::sqrt(std::numbers::pi));
}
inline double NormalBelow(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

// By how much the later of |a|, which is uncertain by |deviation|, and |b| is later on average than
// the later of their means (Clark 1961).
inline double LaterBy(double a, double b, double deviation) {
  constexpr double kFar = 4;
  if (std::abs(a - b) >= kFar * deviation) return 0;
  const double d = (a - b) / deviation;
  return std::min(0.0, b - a) + (a - b) * NormalBelow(d) + deviation * NormalDensity(d);
}

class OwnPart {
 public:
  // A call that took |ns| by itself; |surely|: what it waits for was over before it began.
  void Add(double ns, bool surely) {
    if (surely) usual_.Add(ns);
    if (count_ > kFew) {
      const double most = kStray * std::sqrt(variance_);
      ns = std::clamp(ns, mean_ - most, mean_ + most);
    }
    Count(ns, 0);
  }
  // A call whose own part was over within |limit| ns.
  void AddBelow(double limit) {
    if (count_ == 0) return;
    const double deviation = std::sqrt(variance_);
    if (limit >= mean_ + kSurely * deviation || deviation == 0) return;
    const Truncated below = Below(limit);
    Count(below.mean, below.variance);
  }
  // Begins with what is known of |others|, which this kind may differ from.
  void BeginLike(const OwnPart& others) {
    mean_ = others.mean_;
    variance_ = others.variance_;
    count_ = std::min(others.count_, kFew);
  }

  bool known() const { return count_ != 0; }
  const TypicalDelay& usual() const { return usual_; }  // of calls that surely did not wait
  double mean() const { return mean_; }
  // Of a call that was over within |limit|.
  double MeanBelow(double limit) const {
    return count_ == 0 ? 0 : std::min(limit, Below(limit).mean);
  }
  // The likely length, cost included, of a call that took |ns| by itself and holds a cost with
  // |variance|: where calls differ by no more than that, the mean says more than this one.
  double Likely(double ns, double variance) const {
    if (count_ < kFew || variance_ <= 0) return ns;
    const double trust = std::max(0.0, variance_ - variance) / variance_;
    return mean_ + trust * (ns - mean_);
  }
  // How uncertain that is: its standard deviation.
  double DeviationOf(double variance) const {
    if (count_ < kFew || variance_ <= 0) return 0;
    return std::sqrt(std::max(0.0, variance_ - variance) / variance_ * variance);
  }
  // By how much |ns| is unusual, in standard deviations.
  double Strangeness(double ns) const {
    return std::abs(ns - mean_) / (std::sqrt(variance_) + kResolution);
  }

 private:
  static constexpr double kFew = 16;
  static constexpr double kSlowest = 1.0 / 256;  // weight of the newest
  static constexpr double kStray = 6;            // deviations beyond which a sample is a stray one
  static constexpr double kSurely = 3;           // ... a limit tells nothing
  static constexpr double kHardly = 1e-6;        // part of a distribution that tells nothing
  static constexpr double kResolution = 100;     // ns; time stamps are no better

  struct Truncated {
    double mean;
    double variance;
  };
  // Of a normal distribution cut off above |limit|, and below at 0, before which no call is over:
  // else where nearly all calls wait, each would take the mean further down.
  Truncated Below(double limit) const {
    const double deviation = std::sqrt(variance_);
    const double high = deviation > 0 ? (limit - mean_) / deviation : kSurely;
    if (high >= kSurely && mean_ >= kSurely * deviation) return {mean_, variance_};
    if (high <= -kSurely || limit <= 0) return {limit, 0};
    const double low = -mean_ / deviation;
    const double inside = NormalBelow(high) - NormalBelow(low);
    if (inside < kHardly) return {std::clamp(mean_, 0.0, limit), 0};
    const double at_high = NormalDensity(high) / inside;
    const double at_low = NormalDensity(low) / inside;
    const double shift = at_low - at_high;
    const double shrink = 1 + low * at_low - high * at_high - shift * shift;
    return {mean_ + deviation * shift, variance_ * std::max(0.0, shrink)};
  }
  void Count(double ns, double variance) {
    const double weight = std::max(1 / ++count_, kSlowest);
    const double difference = ns - mean_;
    mean_ += weight * difference;
    variance_ = (1 - weight) * (variance_ + weight * difference * difference) + weight * variance;
  }

  TypicalDelay usual_;
  double mean_ = 0;
  double variance_ = 0;
  double count_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OWN_PART_H_
