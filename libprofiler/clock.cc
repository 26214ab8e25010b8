// SPDX-License-Identifier: Apache-2.0
//
// Reads the machine's clocks.
#include "libprofiler/clock.h"

#include "libprofiler/device_source.h"

namespace gpubound {
namespace {

int64_t ReadRealtimeNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

ClockSample SystemClock::Sample(DeviceSource* source) {
  constexpr int kAttempts = 10;
  constexpr int kMostAttempts = 50;
  constexpr uint64_t kNarrowNs = 500;
  ClockSample best = {};
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (attempt >= kAttempts && best.width_ns <= kNarrowNs) break;
    // Each but the innermost is read twice, so that the middle of all is one instant.
    ClockSample sample = {};
    const uint64_t monotonic = ReadMonotonicNs();
    const uint64_t ticks = use_tsc_ ? ReadTsc() : 0;
    const int64_t realtime = ReadRealtimeNs();
    if (source != nullptr && !source->ReadClock(&sample.source_ns)) sample.source_ns = 0;
    sample.realtime_ns = realtime + (ReadRealtimeNs() - realtime) / 2;
    sample.ticks = use_tsc_ ? ticks + (ReadTsc() - ticks) / 2 : 0;
    sample.width_ns = ReadMonotonicNs() - monotonic;
    sample.monotonic_ns = static_cast<int64_t>(monotonic + sample.width_ns / 2);
    if (!use_tsc_) sample.ticks = static_cast<uint64_t>(sample.monotonic_ns);
    if (attempt == 0 || sample.width_ns < best.width_ns) best = sample;
  }
  return best;
}

}  // namespace gpubound
