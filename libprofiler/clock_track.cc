// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of ClockTrack: integers throughout, since a double holds neither ticks nor
// nanoseconds since boot exactly.
#include "libprofiler/clock_track.h"

#include <algorithm>

namespace gpubound {
namespace {

__extension__ using Wide = __int128;

// The slope is measured over up to this many samples: long enough that the bracket's width (some
// 50 ns) vanishes in it, short enough to follow the kernel's slewing of CLOCK_MONOTONIC.
constexpr size_t kSlopeSamples = 16;
constexpr int64_t kHorizonNs = 1'000'000'000;

}  // namespace

bool ClockTrack::AddSample(uint64_t clock, int64_t monotonic_ns, int64_t tolerance_ns) {
  ++sample_count_;
  if (measured_.empty()) {
    Restart(clock, monotonic_ns, /*forward=*/false);
    return true;
  }
  const ClockKnot last = measured_.back();
  const bool backwards = clock < last.clock;
  if (!backwards && clock == last.clock) return true;
  if (knots_.size() == 1) {  // the second sample: nothing was promised beyond the first
    measured_.push_back({clock, monotonic_ns});
    Bend(clock, monotonic_ns, monotonic_ns);
    return true;
  }
  const int64_t promised_ns = conversion_.ToMonotonic(clock);
  const int64_t error_ns = monotonic_ns - promised_ns;
  if (backwards || error_ns > tolerance_ns || error_ns < -tolerance_ns) {
    Restart(clock, monotonic_ns, /*forward=*/!backwards && monotonic_ns >= last.monotonic_ns);
    return false;
  }
  measured_.push_back({clock, monotonic_ns});
  if (measured_.size() > kSlopeSamples) measured_.erase(measured_.begin());
  Bend(clock, promised_ns, monotonic_ns);
  return true;
}

void ClockTrack::Bend(uint64_t clock, int64_t from_ns, int64_t measured_ns) {
  const ClockKnot& oldest = measured_.front();
  const Wide run = static_cast<Wide>(measured_.back().clock - oldest.clock);
  const Wide rise = std::max<Wide>(1, measured_.back().monotonic_ns - oldest.monotonic_ns);
  // A horizon of about one second, as a whole number of clock units.
  const Wide horizon = std::max<Wide>(1, run * kHorizonNs / rise);
  const int64_t target_ns = measured_ns + static_cast<int64_t>(rise * horizon / run);

  if (knots_.size() > 1) knots_.pop_back();  // the old target
  knots_.push_back({clock, from_ns});
  knots_.push_back({clock + static_cast<uint64_t>(horizon), std::max(target_ns, from_ns)});
  if (knots_.size() > ClockConversion::kMaxKnots) knots_.erase(knots_.begin());
  conversion_ = ClockConversion(knots_);
}

// After a forward step, what came before keeps its conversion; after a backward one the clock's
// values mean two instants, and the newer meaning is taken.
void ClockTrack::Restart(uint64_t clock, int64_t monotonic_ns, bool forward) {
  if (!forward) knots_.clear();
  if (knots_.size() > 1) {
    knots_.pop_back();
    if (knots_.back().clock >= clock) knots_.clear();
  }
  const bool keeps_past = !knots_.empty();
  // Slope 1 until the next sample says better: the clocks that step count nanoseconds.
  measured_.assign(1, {clock, monotonic_ns});
  knots_.push_back({clock, monotonic_ns});
  if (keeps_past) {
    knots_.push_back({clock + static_cast<uint64_t>(kHorizonNs), monotonic_ns + kHorizonNs});
    if (knots_.size() > ClockConversion::kMaxKnots) knots_.erase(knots_.begin());
  }
  conversion_ = ClockConversion(knots_);
}

}  // namespace gpubound
