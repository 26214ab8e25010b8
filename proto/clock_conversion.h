// SPDX-License-Identifier: Apache-2.0
//
// From the clock that an event was stamped with (TSC ticks, or ns of the device source's clock) to
// the timeline of a trace (CLOCK_MONOTONIC in ns): piecewise linear between knots, exact in integer
// arithmetic, monotone, and continuous at every knot.
//
// Thread rule: a ClockConversion is immutable once built and may be read from any thread; a
// ClockCursor belongs to one thread. Nothing here allocates or throws.
#ifndef GPUBOUND_PROTO_CLOCK_CONVERSION_H_
#define GPUBOUND_PROTO_CLOCK_CONVERSION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpubound {

// One instant read from both clocks.
struct ClockKnot {
  uint64_t clock;
  int64_t monotonic_ns;
  friend bool operator==(const ClockKnot&, const ClockKnot&) = default;
};

// The straight piece between two knots. `first` and `last` bound the clock values (inclusive) for
// which it holds; the origin is the knot from which it counts.
struct ClockSegment {
  uint64_t first = 0;
  uint64_t last = UINT64_MAX;
  uint64_t origin_clock = 0;
  int64_t origin_ns = 0;
  // ns per unit of the clock, as a whole part and a fraction of 2^64, rounded up so that the piece
  // reaches its far knot exactly.
  uint64_t slope_whole = 1;
  uint64_t slope_fraction = 0;

  bool Holds(uint64_t clock) const { return clock - first <= last - first; }

  // How far behind the origin the piece reaches: a distance up to this may be given to At(). The
  // one comparison that fast paths need.
  uint64_t reach() const { return last - origin_clock; }

  // |clock| must be one that Holds() accepts.
  int64_t Convert(uint64_t clock) const {
    return clock >= origin_clock ? At(clock - origin_clock) : Before(origin_clock - clock);
  }

  // The time |distance| units after the origin, and before it.
  int64_t At(uint64_t distance) const {
    return static_cast<int64_t>(static_cast<uint64_t>(origin_ns) + Scale(distance));
  }
  int64_t Before(uint64_t distance) const {
    return static_cast<int64_t>(static_cast<uint64_t>(origin_ns) - Scale(distance));
  }

 private:
  uint64_t Scale(uint64_t distance) const {
    __extension__ using Wide = unsigned __int128;
    return distance * slope_whole +
           static_cast<uint64_t>((static_cast<Wide>(distance) * slope_fraction) >> 64);
  }
};

class ClockConversion {
 public:
  // More knots than this are not kept: the oldest are forgotten and the first kept slope goes back.
  static constexpr size_t kMaxKnots = 64;

  // The identity: the clock is CLOCK_MONOTONIC in ns already.
  ClockConversion() = default;

  // Knots in order of time. A knot whose clock does not advance past the previous kept one is
  // ignored, a time that runs backwards is raised to the previous one; so any input gives a
  // monotone conversion. One knot: slope 1 through it. None: the identity. Beyond the ends the
  // nearest slope goes on.
  explicit ClockConversion(std::span<const ClockKnot> knots);

  // The knots that were kept; empty for the identity.
  std::span<const ClockKnot> knots() const { return {knots_.data(), knot_count_}; }

  // The knots that the conversion of |from|..|to| rests on: what a chunk has to seal.
  std::span<const ClockKnot> KnotsFor(uint64_t from, uint64_t to) const;

  // The segment that holds |clock|. Valid as long as this object.
  const ClockSegment& SegmentFor(uint64_t clock) const;

  // Converts one value. For a run of values, a ClockCursor is faster.
  int64_t ToMonotonic(uint64_t clock) const { return SegmentFor(clock).Convert(clock); }

 private:
  size_t segment_count_ = 1;
  size_t knot_count_ = 0;
  std::array<ClockSegment, kMaxKnots> segments_{};
  std::array<ClockKnot, kMaxKnots> knots_{};
};

// Converts a run of values, remembering the segment of the last one. The conversion must outlive
// it.
class ClockCursor {
 public:
  explicit ClockCursor(const ClockConversion& conversion)
      : conversion_(&conversion), segment_(conversion.SegmentFor(0)) {}

  // The segment of the last value.
  const ClockSegment& segment() const { return segment_; }

  int64_t ToMonotonic(uint64_t clock) {
    const uint64_t distance = clock - segment_.origin_clock;
    if (distance <= segment_.reach()) [[likely]]
      return segment_.At(distance);
    return ToMonotonicSlowPath(clock);
  }

 private:
  // In another segment, or before the first knot.
  int64_t ToMonotonicSlowPath(uint64_t clock) {
    segment_ = conversion_->SegmentFor(clock);
    return segment_.Convert(clock);
  }

  const ClockConversion* conversion_;
  ClockSegment segment_;
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_CLOCK_CONVERSION_H_
