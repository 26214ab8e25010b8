// SPDX-License-Identifier: Apache-2.0
//
// What happened lately, in bounded memory: amounts by key in buckets of a tenth of a second, and
// the union of intervals that arrive out of order. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_LIVE_RECENT_TIME_H_
#define GPUBOUND_ANALYSIS_OUTPUT_LIVE_RECENT_TIME_H_

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/base/interval.h"

namespace gpubound {

inline constexpr int64_t kBucketNs = 100'000'000;

// |time| widened or narrowed to whole buckets: both ends down.
Interval WholeBuckets(const Interval& time);

class RecentTime {
 public:
  // Books |time| on |key|, split over the buckets that it touches. Buckets older than |horizon_ns|
  // are not kept, however long |time| is.
  void Add(const Interval& time, uint32_t key);
  // Books |amount| at an instant.
  void Count(int64_t at_ns, uint32_t key, int64_t amount);
  // Forgets what ended before |horizon_ns|.
  void DropBefore(int64_t horizon_ns);
  // By key, over the buckets in |window|.
  std::vector<int64_t> SumOver(const Interval& window, size_t keys) const;

 private:
  int64_t first_bucket_ = INT64_MIN;
  std::map<int64_t, std::vector<int64_t>> buckets_;  // by number
};

class RecentUnion {
 public:
  void Add(Interval time);
  // Nothing that begins before |settled_ns| is expected any more: what is older becomes a sum per
  // bucket. Intervals that come later all the same count from there on.
  void Settle(int64_t settled_ns);
  void DropBefore(int64_t horizon_ns) { settled_.DropBefore(horizon_ns); }
  int64_t LengthWithin(const Interval& window) const;

 private:
  std::map<int64_t, int64_t> open_;  // begin to end, disjoint
  RecentTime settled_;
  int64_t settled_ns_ = INT64_MIN;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_LIVE_RECENT_TIME_H_
