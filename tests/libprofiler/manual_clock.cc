// SPDX-License-Identifier: Apache-2.0
//
// Exact clocks for tests.
#include "tests/libprofiler/manual_clock.h"

#include <new>

#include "libprofiler/device_source.h"

namespace gpubound {

uint64_t ManualClock::TicksAt(int64_t monotonic_ns) const {
  constexpr uint64_t kTicksAtZero = 77'000'000'000;
  return kTicksAtZero + static_cast<uint64_t>(monotonic_ns) * ticks_per_ns_;
}

ClockSample ManualClock::Sample(DeviceSource* source) {
  if (out_of_memory_) throw std::bad_alloc();
  ClockSample sample = {};
  sample.ticks = Ticks();
  sample.monotonic_ns = now_ns_;
  sample.realtime_ns = now_ns_ + wall_offset_ns_;
  if (source != nullptr && !source->ReadClock(&sample.source_ns)) sample.source_ns = 0;
  return sample;
}

}  // namespace gpubound
