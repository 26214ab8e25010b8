// SPDX-License-Identifier: Apache-2.0
//
// How often each length occurred, for medians and percentiles of streams that are too long to keep.
// Exact as long as no more than kMostLengths lengths differ; beyond that each is rounded down by
// less than one part in 256. Which of the two it is, and every figure, depends on what was added
// alone and never on its order.
//
// There are as many objects as kernels have names, too many for the cache: lengths wait, one behind
// the other, until there are many, and are then counted at once. One object, one thread, readers
// included.
//
//   exact     waiting | 7 3 7 9 ...  ->  counts | 7 x2 | 3 x1 | 9 x1 | ...
//   rounded   waiting | 7 3 7 9 ...  ->  buckets of 256 to each power of two:
//
//             pages   | 0..255 | 256..511 | 512..1023 by 2 | 1024..2047 by 4 | ...
//             kept             |<-- from the first to the last in use -->|
#ifndef GPUBOUND_ANALYSIS_SWEEP_LENGTH_COUNTS_H_
#define GPUBOUND_ANALYSIS_SWEEP_LENGTH_COUNTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gpubound {

class LengthCounts {
 public:
  static constexpr size_t kMostLengths = 1024;

  // A length that is not negative.
  void Add(int64_t length_ns);
  void Add(std::span<const uint32_t> lengths_ns);
  void Add(const LengthCounts& other);
  // Some will be added soon.
  void Prefetch() const { __builtin_prefetch(waiting_.data() + waiting_.size(), 1); }

  template <typename Archive>
  void Visit(Archive& archive) {
    Counts counts = Settled().Sorted();
    archive.All(counts, rounded_, sum_ns_);
    if (!archive.reads()) return;
    if (sum_ns_ < 0) return archive.Fail();
    for (const auto& [length_ns, times] : counts) {
      if (times == 0 || length_ns < 0) return archive.Fail();
      count_ += times;
    }
    if (rounded_) Round();
    Count(counts);
  }

  uint64_t count() const { return count_; }
  int64_t sum_ns() const { return sum_ns_; }  // never rounded; INT64_MAX where it is more
  // Lengths were rounded down.
  bool rounded() const {
    const bool few = counts_.size() + waiting_.size() <= kMostLengths;
    return few ? rounded_ : Settled().rounded_;
  }

  // Rounded down to a whole number; 0 without any length, like those below.
  int64_t MeanNs() const;
  struct Quantiles {
    int64_t median_ns = 0;  // the middle length, of two the mean
    int64_t p95_ns = 0;     // the smallest length that 95 % do not exceed
  };
  Quantiles QuantilesNs() const;

 private:
  using Counts = std::vector<std::pair<int64_t, uint64_t>>;  // length and times
  static constexpr int64_t kLongestWaiting = UINT32_MAX;     // 4 s: what is longer is rare
  // Where nearly all lengths differ, the first time that any are counted is the last one at which
  // they are told apart.
  static constexpr size_t kMostWaitingExact = kMostLengths + kMostLengths / 2;
  static constexpr size_t kMostWaitingRounded = 512;
  static constexpr size_t kPage = 256;  // buckets

  void Wait(std::span<const uint32_t> lengths_ns);
  // Counts what waits.
  void CountWaiting();
  bool CountExactly();
  void CountRounded();
  void CountLong(int64_t length_ns);
  // As if nothing had waited: nothing that can be seen changes.
  const LengthCounts& Settled() const {
    if (!waiting_.empty()) const_cast<LengthCounts*>(this)->CountWaiting();
    return *this;
  }
  void AddToSum(int64_t ns) { sum_ns_ = ns > INT64_MAX - sum_ns_ ? INT64_MAX : sum_ns_ + ns; }
  // Adds |counts|, which may hold a length several times.
  void Count(const Counts& counts);
  void Round();
  uint64_t& BucketOf(int64_t length_ns);
  void Reach(size_t page);
  void AddBuckets(const LengthCounts& other);
  // Lengths that ascending |ranks|, from 1, have when all are in order.
  using Ranks = std::array<uint64_t, 3>;
  using Ranked = std::array<int64_t, 3>;
  Ranked At(const Ranks& ranks) const;
  static Ranked AtOf(const Counts& counts, const Ranks& ranks);
  class RankWalk;
  // Calls |take|(length, times) for what was counted, in order of length.
  template <typename Take>
  void InOrder(Take take) const;
  Counts Sorted() const;

  uint64_t count_ = 0;
  int64_t sum_ns_ = 0;
  std::vector<uint32_t> waiting_;
  size_t most_waiting_ = kMostWaitingExact;
  bool rounded_ = false;
  size_t first_page_ = 0;
  std::vector<uint64_t> buckets_;  // if rounded: whole pages from the first one on
  Counts counts_;                  // else: every length once
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_LENGTH_COUNTS_H_
