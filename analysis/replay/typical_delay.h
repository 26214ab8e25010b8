// SPDX-License-Identifier: Apache-2.0
//
// What a delay usually is in this run, as far as the pass has come: the median of the newest
// samples, so that a stray one changes nothing and a change of regime is followed. One object, one
// thread.
#ifndef GPUBOUND_ANALYSIS_REPLAY_TYPICAL_DELAY_H_
#define GPUBOUND_ANALYSIS_REPLAY_TYPICAL_DELAY_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "analysis/replay/sorting_network.h"

namespace gpubound {

class TypicalDelay {
 public:
  void Add(double ns) {
    samples_[count_++ % kSamples] = ns;
    // Every sample counts at first; later the median hardly moves from one to the next.
    if (count_ <= kSamples || count_ % kSeldom == 0) Refresh();
  }
  bool known() const { return count_ != 0; }
  // Whether there are enough of them to say how much they differ.
  bool known_well() const { return count_ >= kFew; }
  double ns() const { return median_; }      // 0 while it is not known
  double spread() const { return spread_; }  // between the quartiles
  // By how much |ns| is unusual, in units of how much samples usually differ from each other.
  double Strangeness(double ns) const { return std::abs(ns - median_) / (spread_ + kResolution); }

 private:
  static constexpr size_t kSamples = kSortedAtOnce - 1;  // odd, so that one is in the middle
  static constexpr size_t kSeldom = 16;
  static constexpr size_t kFew = 8;
  static constexpr double kResolution = 100;  // ns; time stamps are no better

  void Refresh() {
    std::array<double, kSortedAtOnce> samples;
    samples.fill(std::numeric_limits<double>::infinity());
    const size_t known = std::min(count_, kSamples);
    std::copy_n(samples_.begin(), known, samples.begin());
    SortAtOnce(&samples);
    median_ = samples[(known - 1) / 2];
    spread_ = samples[(known - 1) * 3 / 4] - samples[(known - 1) / 4];
  }

  std::array<double, kSamples> samples_{};
  size_t count_ = 0;
  double median_ = 0;
  double spread_ = 0;
};

// Whether |ns| of |one| is less of a surprise than |other_ns| of |other|. As long as it is not
// known how much samples of |one| differ: whether it leaves less time unexplained. None is what is
// shorter than |one| usually is: the few samples may be those of a slow start.
inline bool ExplainsRather(const TypicalDelay& one, double ns, const TypicalDelay& other,
                           double other_ns) {
  if (!one.known_well()) {
    return std::max(0.0, ns - one.ns()) <= std::abs(other_ns - other.ns());
  }
  return one.Strangeness(ns) <= other.Strangeness(other_ns);
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_TYPICAL_DELAY_H_
