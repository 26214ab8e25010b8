// SPDX-License-Identifier: Apache-2.0
//
// Time that stands still until a test moves it: ticks at an exact rate, a wall clock at an exact
// offset. One thread at a time.
#ifndef GPUBOUND_TESTS_LIBPROFILER_MANUAL_CLOCK_H_
#define GPUBOUND_TESTS_LIBPROFILER_MANUAL_CLOCK_H_

#include <cstdint>

#include "libprofiler/clock.h"

namespace gpubound {

class ManualClock final : public Clock {
 public:
  explicit ManualClock(uint64_t ticks_per_ns = 1) : ticks_per_ns_(ticks_per_ns) {}

  void Advance(int64_t ns) { now_ns_ += ns; }
  void StepWallClock(int64_t ns) { wall_offset_ns_ += ns; }
  // From here on reading all clocks at once throws, as whatever needs memory does without any.
  void RunOutOfMemory() { out_of_memory_ = true; }
  void FindMemoryAgain() { out_of_memory_ = false; }
  uint64_t TicksAt(int64_t monotonic_ns) const;

  bool ticks_are_tsc() const override { return true; }
  uint64_t Ticks() override { return TicksAt(now_ns_); }
  int64_t MonotonicNs() override { return now_ns_; }
  ClockSample Sample(DeviceSource* source) override;

 private:
  const uint64_t ticks_per_ns_;
  int64_t now_ns_ = 1'000'000'000;
  bool out_of_memory_ = false;
  int64_t wall_offset_ns_ = 1'700'000'000'000'000'000;
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIBPROFILER_MANUAL_CLOCK_H_
