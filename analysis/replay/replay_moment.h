// SPDX-License-Identifier: Apache-2.0
//
// An instant of the replayed timeline, with what is not certain about it. Times are real-valued:
// mean costs are fractions of a nanosecond, and rounding each of them would make totals drift.
// Whole nanoseconds stay exact up to 2^53 of them, a hundred days. Plain values, no thread rule.
#ifndef GPUBOUND_ANALYSIS_REPLAY_REPLAY_MOMENT_H_
#define GPUBOUND_ANALYSIS_REPLAY_REPLAY_MOMENT_H_

#include <cmath>
#include <cstdint>
#include <limits>

namespace gpubound {

// Time is ns of the trace timeline less the origin of the replay. What is uncertain about it comes
// from the costs removed on the chain of events that decided it, and on no other: |variance| of
// costs that differ from one occurrence to the next, |error| of their means, which all occurrences
// share.
struct Moment {
  double at = -std::numeric_limits<double>::infinity();
  double variance = 0;
  double error = 0;
  uint32_t step = 0;  // of the critical path, the last one that ends before it (critical_path.h)

  Moment After(double delay) const { return {at + delay, variance, error, step}; }
  bool exists() const { return at != -std::numeric_limits<double>::infinity(); }
};

inline const Moment& Later(const Moment& a, const Moment& b) { return b.at > a.at ? b : a; }

// Whole ns. What a change makes longer than 146 years is that long, so that an end of it and a
// begin can still be taken from one another.
inline int64_t Rounded(double ns) {
  constexpr double kMost = 0x1p62;
  return std::llround(ns < -kMost ? -kMost : (ns > kMost ? kMost : ns));
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_REPLAY_MOMENT_H_
