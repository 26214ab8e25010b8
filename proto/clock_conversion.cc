// SPDX-License-Identifier: Apache-2.0
//
// Builds the segments of a ClockConversion. Why rounding the slope up is right: with
// f = ceil(r * 2^64 / dc), floor(dc * f / 2^64) = r exactly for every dc < 2^64, so each piece ends
// on its knot, and floor() of a rising product never falls.
#include "proto/clock_conversion.h"

#include <algorithm>

namespace gpubound {
namespace {

__extension__ using Wide = unsigned __int128;

ClockSegment SegmentBetween(const ClockKnot& from, const ClockKnot& to) {
  const uint64_t clock_span = to.clock - from.clock;
  const uint64_t ns_span =
      static_cast<uint64_t>(to.monotonic_ns) - static_cast<uint64_t>(from.monotonic_ns);
  const uint64_t rest = ns_span % clock_span;
  ClockSegment segment;
  segment.first = from.clock;
  segment.last = to.clock - 1;
  segment.origin_clock = from.clock;
  segment.origin_ns = from.monotonic_ns;
  segment.slope_whole = ns_span / clock_span;
  segment.slope_fraction =
      static_cast<uint64_t>(((static_cast<Wide>(rest) << 64) + clock_span - 1) / clock_span);
  return segment;
}

}  // namespace

ClockConversion::ClockConversion(std::span<const ClockKnot> knots) {
  if (knots.size() > kMaxKnots) knots = knots.last(kMaxKnots);
  for (ClockKnot knot : knots) {
    if (knot_count_ != 0) {
      const ClockKnot& previous = knots_[knot_count_ - 1];
      if (knot.clock <= previous.clock) continue;
      knot.monotonic_ns = std::max(knot.monotonic_ns, previous.monotonic_ns);
    }
    knots_[knot_count_++] = knot;
  }
  if (knot_count_ == 0) return;
  if (knot_count_ == 1) {
    segments_[0].origin_clock = knots_[0].clock;
    segments_[0].origin_ns = knots_[0].monotonic_ns;
    return;
  }
  segment_count_ = knot_count_ - 1;
  for (size_t i = 0; i < segment_count_; ++i) {
    segments_[i] = SegmentBetween(knots_[i], knots_[i + 1]);
  }
  segments_[0].first = 0;
  segments_[segment_count_ - 1].last = UINT64_MAX;
}

const ClockSegment& ClockConversion::SegmentFor(uint64_t clock) const {
  const ClockSegment* begin = segments_.data();
  const ClockSegment* end = begin + segment_count_;
  return *std::partition_point(begin, end - 1,
                               [clock](const ClockSegment& s) { return s.last < clock; });
}

std::span<const ClockKnot> ClockConversion::KnotsFor(uint64_t from, uint64_t to) const {
  if (knot_count_ < 2) return knots();
  const auto first = static_cast<size_t>(&SegmentFor(std::min(from, to)) - segments_.data());
  const auto last = static_cast<size_t>(&SegmentFor(std::max(from, to)) - segments_.data());
  return {knots_.data() + first, last - first + 2};
}

}  // namespace gpubound
