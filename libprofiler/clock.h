// SPDX-License-Identifier: Apache-2.0
//
// The clocks of a process: ticks that scopes are stamped with, the trace's timeline
// (CLOCK_MONOTONIC), the wall clock, and the device source's clock; and how the same instant is
// read from all of them. Any thread may read; virtual time in tests comes in through `Clock`.
#ifndef GPUBOUND_LIBPROFILER_CLOCK_H_
#define GPUBOUND_LIBPROFILER_CLOCK_H_

#include <ctime>

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "proto/live_format.h"

namespace gpubound {

class DeviceSource;

// A count of ticks as its two halves of 32 bits, which is how the time stamp counter is read.
struct SplitTicks {
  SplitTicks() = default;
  constexpr SplitTicks(uint64_t ticks)  // NOLINT: implicit
      : high(ticks >> 32), low(ticks & UINT32_MAX) {}
  constexpr uint64_t Joined() const { return high << 32 | low; }

  uint64_t high;
  uint64_t low;
};

inline uint64_t ReadMonotonicNs() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

inline uint64_t ReadTsc() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return ReadMonotonicNs();
#endif
}

// For the hot path, which never needs the whole: as an intrinsic the two halves would be joined.
inline SplitTicks ReadSplitTsc() noexcept {
#if defined(__x86_64__)
  SplitTicks ticks;
  __asm__ volatile("rdtsc" : "=a"(ticks.low), "=d"(ticks.high));
  return ticks;
#else
  return ReadMonotonicNs();
#endif
}
inline SplitTicks ReadSplitMonotonicNs() noexcept { return ReadMonotonicNs(); }

class Clock {
 public:
  virtual ~Clock() = default;
  virtual bool ticks_are_tsc() const = 0;
  virtual uint64_t Ticks() = 0;
  virtual int64_t MonotonicNs() = 0;
  // The same instant from every clock. |source| may be null.
  virtual ClockSample Sample(DeviceSource* source) = 0;
};

// The machine's clocks. Stateless, so one static object serves every thread and fork child.
class SystemClock final : public Clock {
 public:
  explicit SystemClock(bool use_tsc) : use_tsc_(use_tsc) {}
  bool ticks_are_tsc() const override { return use_tsc_; }
  uint64_t Ticks() override { return use_tsc_ ? ReadTsc() : ReadMonotonicNs(); }
  int64_t MonotonicNs() override { return static_cast<int64_t>(ReadMonotonicNs()); }
  // The narrowest of at least ten brackets: a preemption inside one of them does not matter.
  ClockSample Sample(DeviceSource* source) override;

 private:
  const bool use_tsc_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_CLOCK_H_
