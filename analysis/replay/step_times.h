// SPDX-License-Identifier: Apache-2.0
//
// When the iterations of a process ended, as if no time had passed between them, where the program
// says when they go on (kIterationsBegin): a notebook's cells have it so. In bounded memory: of more
// than a million of them every second one is kept, then every fourth, and so on, which are ends of
// longer ones. Two replays of one run keep the same. Plain state; one caller.
#ifndef GPUBOUND_ANALYSIS_REPLAY_STEP_TIMES_H_
#define GPUBOUND_ANALYSIS_REPLAY_STEP_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpubound {

class StepTimes {
 public:
  static constexpr size_t kMost = size_t{1} << 20;

  // The end of an iteration or, |begins|, the time from which on the next one is; no earlier than the
  // one before.
  void Add(double time_ns, bool begins = false) {
    const bool after_another = told_ != 0;
    if (!after_another) first_ns_ = time_ns;
    if (!begins) end_ns_ = time_ns;
    if (begins && after_another) between_ns_ += time_ns - last_ns_;
    last_ns_ = time_ns;
    if ((begins && after_another) || told_++ % stride_ != 0) return;
    times_.push_back(time_ns - between_ns_);
    if (times_.size() == kMost) Thin();
  }
  const std::vector<double>& times() const { return times_; }  // ns
  bool has_all() const { return stride_ == 1; }
  // Iterations that times() span.
  uint64_t iterations() const { return times_.empty() ? 0 : (times_.size() - 1) * stride_; }
  // When the first iteration ended (or began, where the program says when they begin), and when the
  // last one ended: with the time between iterations. Equal, or the end before the begin, where
  // there is no such time.
  double loop_begin_ns() const { return first_ns_; }
  double loop_end_ns() const { return end_ns_; }

 private:
  void Thin() {
    for (size_t i = 0; i < times_.size() / 2; ++i) times_[i] = times_[2 * i];
    times_.resize(times_.size() / 2);
    stride_ *= 2;
  }

  std::vector<double> times_;
  double first_ns_ = 0;
  double end_ns_ = 0;
  double last_ns_ = 0;     // of what was added
  double between_ns_ = 0;  // iterations
  uint64_t told_ = 0;
  uint64_t stride_ = 1;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_STEP_TIMES_H_
