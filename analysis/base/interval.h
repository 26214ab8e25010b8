// SPDX-License-Identifier: Apache-2.0
//
// Half-open intervals of time and the sets of categories that are active in them: the arithmetic
// that every stage of the analysis shares, so that "counts once" means the same everywhere.
// Plain values and pure functions, no thread rule.
#ifndef GPUBOUND_ANALYSIS_BASE_INTERVAL_H_
#define GPUBOUND_ANALYSIS_BASE_INTERVAL_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace gpubound {

// [begin_ns, end_ns); empty when end_ns <= begin_ns.
struct Interval {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(begin_ns, end_ns);
  }
  bool empty() const { return end_ns <= begin_ns; }
  int64_t length() const { return empty() ? 0 : end_ns - begin_ns; }
  Interval ShiftedBy(int64_t ns) const { return {begin_ns + ns, end_ns + ns}; }
  Interval ClippedTo(const Interval& frame) const {
    return {std::max(begin_ns, frame.begin_ns), std::min(end_ns, frame.end_ns)};
  }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Sorts, drops empty ones, and joins those that overlap or touch.
std::vector<Interval> Union(std::vector<Interval> intervals);

// Sum of lengths of the union.
int64_t UnionLength(std::vector<Interval> intervals);

// A set of at most kMaxCategories categories, each active as often as it was entered. The core of
// every sweep: mask() is the set that is active now.
class ActiveSet {
 public:
  static constexpr int kMaxCategories = 8;

  void Enter(int category) {
    if (counts_[static_cast<size_t>(category)]++ == 0) mask_ |= 1u << category;
  }
  void Leave(int category) {
    if (--counts_[static_cast<size_t>(category)] == 0) mask_ &= ~(1u << category);
  }
  uint32_t mask() const { return mask_; }

 private:
  std::array<int64_t, kMaxCategories> counts_{};
  uint32_t mask_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_INTERVAL_H_
