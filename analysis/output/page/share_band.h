// SPDX-License-Identifier: Apache-2.0
//
// The coarse level of a timeline track: how much of each of many equal stretches of time something
// had, by name. Built from intervals as they stream by, in memory that depends on the number of
// stretches alone. One object, one caller.
//
//   intervals   |--a--|   |------------b------------|  |a|
//   buckets     |       |       |       |       |       |       |
//   kept        a 60 %  a 10%   b 100%  b 100%  b 30%   a 20 %
//               b 30 %
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_SHARE_BAND_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_SHARE_BAND_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/base/byte_column.h"

namespace gpubound {

// Equal stretches of a span that begins at 0.
struct BucketGrid {
  int64_t bucket_ns = 1;
  uint32_t buckets = 1;
  int64_t end_ns() const { return bucket_ns * static_cast<int64_t>(buckets); }
};
// The fewest nanoseconds a bucket such that at most |buckets| of them cover |span_ns|.
BucketGrid GridOver(int64_t span_ns, uint32_t buckets);

class ShareBand {
 public:
  // Of the names in a bucket the kKept with the most time are kept, the rest is name 0.
  static constexpr size_t kKept = 3;
  static constexpr uint32_t kOther = 0;

  // With |coarser| above 1, so many buckets are one: all of them get what it had in the mean.
  explicit ShareBand(const BucketGrid& grid, uint32_t coarser = 1)
      : grid_{grid.bucket_ns * coarser, (grid.buckets + coarser - 1) / coarser},
        coarser_(coarser) {}

  // [begin_ns, end_ns) belongs to |name|. Begins never decrease; what was told before is not told
  // again, so of intervals that overlap the first one counts.
  void Add(int64_t begin_ns, int64_t end_ns, uint32_t name);

  bool empty() const { return end_ns_ == 0; }
  // Runs of equal buckets: the run's length, then the number of names in each of its buckets, then
  // for each name the name and its share in 1/255, at least 1. Buckets behind the last run are
  // empty; the last run may reach beyond the last bucket. Nothing may be added after.
  const ByteColumn& Finish();

 private:
  using Shares = std::vector<std::pair<uint32_t, uint8_t>>;
  void CloseBucket();
  void WriteRun();

  const BucketGrid grid_;
  const uint32_t coarser_;
  int64_t end_ns_ = 0;
  uint32_t bucket_ = 0;
  std::vector<std::pair<uint32_t, int64_t>> times_;  // of the bucket, by name
  Shares run_;
  uint32_t run_length_ = 0;
  ByteColumn column_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_SHARE_BAND_H_
