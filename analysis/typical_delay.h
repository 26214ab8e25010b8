// SPDX-License-Identifier: Apache-2.0
//
// What a delay usually is in this run, as far as the pass has come: the median of the newest
// samples, so that a stray one changes nothing and a change of regime is followed. One object, one
// thread.
#ifndef GPUBOUND_ANALYSIS_TYPICAL_DELAY_H_
#define GPUBOUND_ANALYSIS_TYPICAL_DELAY_H_

#include <algorithm>
#include <array>
#include <cstddef>

namespace gpubound {

class TypicalDelay {
 public:
  void Add(double ns) {
    samples_[count_++ % kSamples] = ns;
    // Every sample counts at first; later the median hardly moves from one to the next.
    if (count_ <= kSamples || count_ % kSeldom == 0) Refresh();
  }
  bool known() const { return count_ != 0; }
  double ns() const { return median_; }  // 0 while it is not known

 private:
  static constexpr size_t kSamples = 31;
  static constexpr size_t kSeldom = 16;

  void Refresh() {
    std::array<double, kSamples> sorted = samples_;
    const size_t size = std::min(count_, kSamples);
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((size - 1) / 2);
    std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(size));
    median_ = *middle;
  }

  std::array<double, kSamples> samples_{};
  size_t count_ = 0;
  double median_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TYPICAL_DELAY_H_
