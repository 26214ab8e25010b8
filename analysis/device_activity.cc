// SPDX-License-Identifier: Apache-2.0
//
// What is rare in a log of activity. One object, one thread.
#include "analysis/device_activity.h"

#include <algorithm>

namespace gpubound {

void DeviceActivity::AddSlowPath(uint32_t device, int64_t time_ns, RunningWork now) {
  if (device != device_) {
    device_ = device;
    Put(device << kEscapeShift | kDevice);
  }
  constexpr uint64_t kMostSteps = (uint64_t{1} << (32 - kEscapeShift)) - 1;
  uint64_t passed = static_cast<uint64_t>(time_ns) - last_ns_;
  while (passed >= kStep) {
    const uint64_t steps = std::min(passed / kStep, kMostSteps);
    Put(static_cast<uint32_t>(steps << kEscapeShift) | kSteps);
    passed -= steps * kStep;
  }
  last_ns_ = static_cast<uint64_t>(time_ns) - passed;
  Add(device, time_ns, now);
}

bool DeviceActivity::Reader::ReadBlock() {
  if (next_block_ == activity_.log_.blocks()) return false;
  words_ = activity_.log_.Read(next_block_++, &buffer_);
  next_ = 0;
  return true;
}

void DeviceActivity::Reader::Sum(uint64_t most_ns, Change* change, RunningTimes* times) {
  uint64_t passed = 0;
  RunningWork now = change->now;
  for (; GoesOn(); ++next_) {
    const uint32_t word = words_[next_];
    const uint64_t step = StepOf(word);
    if (step > most_ns - passed) break;
    passed += step;
    (*times)[now] += static_cast<int64_t>(step);
    now = RunningOf(word);
  }
  time_ns_ += passed;
  *change = {static_cast<int64_t>(time_ns_), device_, now};
}

void DeviceActivity::Reader::Escape(uint32_t word) {
  const uint32_t value = word >> kEscapeShift;
  if ((word & kSteps) == kSteps) {
    time_ns_ += value * kStep;
  } else {
    device_ = value;
  }
}

}  // namespace gpubound
