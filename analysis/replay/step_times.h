// SPDX-License-Identifier: Apache-2.0
//
// When the iterations of a process ended, in bounded memory: of more than a million of them every
// second one is kept, then every fourth, and so on, which are ends of longer ones. Two replays of
// one run keep the same. Plain state; one caller.
#ifndef GPUBOUND_ANALYSIS_REPLAY_STEP_TIMES_H_
#define GPUBOUND_ANALYSIS_REPLAY_STEP_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpubound {

class StepTimes {
 public:
  static constexpr size_t kMost = size_t{1} << 20;

  void Add(double time_ns) {
    if (told_++ % stride_ != 0) return;
    times_.push_back(time_ns);
    if (times_.size() == kMost) Thin();
  }
  const std::vector<double>& times() const { return times_; }  // ns
  bool has_all() const { return stride_ == 1; }

 private:
  void Thin() {
    for (size_t i = 0; i < times_.size() / 2; ++i) times_[i] = times_[2 * i];
    times_.resize(times_.size() / 2);
    stride_ *= 2;
  }

  std::vector<double> times_;
  uint64_t told_ = 0;
  uint64_t stride_ = 1;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_STEP_TIMES_H_
