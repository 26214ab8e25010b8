// SPDX-License-Identifier: Apache-2.0
//
// How long a call of one kind takes by itself, the profiler's cost included, where its end tells
// that only sometimes: one that had to wait for something says no more than that its own part was
// shorter. Leaving those out would keep the long ones alone, so what they probably took is counted
// in their place, the mean of what lies below the limit, and they count as much as they tell: a
// censored sample, by the gradient of its likelihood step by step. What they take beyond the least
// is taken as lognormal for that; sums of those that are known stay exact.
//
// Fixed size. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_REPLAY_OWN_PART_H_
#define GPUBOUND_ANALYSIS_REPLAY_OWN_PART_H_

#include <algorithm>
#include <cmath>

#include "analysis/replay/lognormal.h"
#include "analysis/replay/typical_delay.h"

namespace gpubound {

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
    least_ = count_ == 0 ? ns : std::min(least_, ns);
    if (count_ >= kFew) {
      const double most = kStray * std::sqrt(variance_);
      ns = std::clamp(ns, mean_ - most, mean_ + most);
    }
    Count({ns, 0, 1});
  }
  // A call whose own part was over within |limit| ns.
  void AddBelow(double limit) {
    if (count_ == 0 || variance_ <= 0) return;
    least_ = std::min(least_, limit);
    Count(Below(limit));
  }
  // Begins with what is known of |others|, which this kind may differ from.
  void BeginLike(const OwnPart& others) {
    mean_ = others.mean_;
    variance_ = others.variance_;
    least_ = others.least_;
    count_ = std::min(others.count_, kPrior);
    told_ = 0;
  }

  bool known() const { return count_ != 0; }
  // Whether calls of this kind told anything since it began like others.
  bool told() const { return told_ >= 1; }
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
  // By how much a call takes longer than |ns|, on average over those that were over within |limit|
  // and with 0 for those that take less. All times without the cost, |cost| ns with |variance|.
  double LongerThan(double ns, double limit, double cost, double variance) const {
    if (count_ == 0 || ns >= limit) return 0;
    const Lognormal times = WithoutCost(cost, variance);
    const double share = times.ShareBelow(limit);
    if (share < kHardly) return 0;
    const double sum = times.SumBelow(limit) - times.SumBelow(ns);
    return std::max(0.0, sum - ns * (share - times.ShareBelow(ns))) / share;
  }
  // How likely a call is over within |ns|, of those that were over within |limit|; as above.
  double ShareBelow(double ns, double limit, double cost, double variance) const {
    if (ns >= limit) return 1;
    if (ns <= 0) return 0;
    if (count_ == 0) return 1;
    const Lognormal times = WithoutCost(cost, variance);
    const double share = times.ShareBelow(limit);
    return share < kHardly ? 1 : times.ShareBelow(ns) / share;
  }
  // By how much |ns| is unusual, in standard deviations.
  double Strangeness(double ns) const {
    return std::abs(ns - mean_) / (std::sqrt(variance_) + kResolution);
  }

 private:
  static constexpr double kFew = 16;
  static constexpr double kPrior = 64;     // calls that what is known of others counts for
  static constexpr double kMost = 256;     // ... that all together count for, so that the newest do
  static constexpr double kStray = 6;      // deviations beyond which a sample is a stray one
  static constexpr double kHardly = 1e-6;  // part of a distribution that tells nothing
  static constexpr double kResolution = 100;  // ns; time stamps are no better

  Lognormal WithoutCost(double cost, double variance) const {
    return {std::max(0.0, mean_ - cost), std::max(0.0, variance_ - variance)};
  }
  struct Sample {
    double mean;
    double variance;
    double information;  // of a call that is known: 1
  };
  // Of a call that took less than |limit|.
  Sample Below(double limit) const {
    const Lognormal beyond(mean_ - least_, variance_);
    limit -= least_;
    const double share = beyond.ShareBelow(limit);
    if (share < kHardly) {
      return {least_ + std::clamp(limit, 0.0, std::max(0.0, mean_ - least_)), 0, 1};
    }
    const double mean = beyond.SumBelow(limit) / share;
    const double variance = beyond.SquaresBelow(limit) / share - mean * mean;
    return {least_ + mean, std::max(0.0, variance), beyond.InformationBelow(limit)};
  }
  void Count(const Sample& sample) {
    told_ += sample.information;
    count_ = std::min(count_ + sample.information, kMost);
    const double weight = 1 / count_;
    const double difference = sample.mean - mean_;
    mean_ += weight * difference;
    variance_ =
        (1 - weight) * (variance_ + weight * difference * difference) + weight * sample.variance;
  }

  TypicalDelay usual_;
  double mean_ = 0;
  double variance_ = 0;
  double least_ = 0;  // none is shorter
  double count_ = 0;  // calls that it is known from
  double told_ = 0;   // ... of this kind
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_OWN_PART_H_
