// SPDX-License-Identifier: Apache-2.0
//
// How often each length occurred, for medians and percentiles of streams that are too long to keep.
// Exact as long as no more than kMostLengths lengths differ; beyond that each is rounded down by
// less than one part in 256. Which of the two it is, and every figure, depends on what was added
// alone and never on its order.
//
// Kernels of hundreds of names come in turns, so the table of each is not in the cache when its
// turn comes: lengths wait in a line of the object and are counted several at once, whose misses
// then overlap. One object, one thread, readers included.
#ifndef GPUBOUND_ANALYSIS_LENGTH_COUNTS_H_
#define GPUBOUND_ANALYSIS_LENGTH_COUNTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpubound {

class LengthCounts {
 public:
  static constexpr size_t kMostLengths = 1024;

  // A length that is not negative.
  void Add(int64_t length_ns) {
    ++count_;
    sum_ns_ += length_ns;
    waiting_[waiting_count_++] = length_ns;
    if (waiting_count_ == kMostWaiting) CountWaiting();
  }
  void Add(const LengthCounts& other);

  template <typename Archive>
  void Visit(Archive& archive) {
    CountWaiting();
    std::vector<std::pair<int64_t, uint64_t>> counts = Sorted();
    archive.All(counts, rounded_, sum_ns_);
    if (!archive.reads()) return;
    for (const auto& [length_ns, times] : counts) {
      if (times == 0) return archive.Fail();
      count_ += times;
      Count(length_ns, times);
    }
  }

  uint64_t count() const { return count_; }
  int64_t sum_ns() const { return sum_ns_; }  // never rounded
  // Lengths were rounded down.
  bool rounded() const { return Settled().rounded_; }

  // Rounded down to a whole number; 0 without any length, like those below.
  int64_t MeanNs() const;
  struct Quantiles {
    int64_t median_ns = 0;  // the middle length, of two the mean
    int64_t p95_ns = 0;     // the smallest length that 95 % do not exceed
  };
  Quantiles QuantilesNs() const;

 private:
  struct Slot {
    int64_t length_ns;
    uint64_t count;  // 0: the slot is free
  };
  static constexpr size_t kFewestSlots = 16;
  static constexpr size_t kMostWaiting = 32;

  static int64_t RoundedDown(int64_t length_ns);
  size_t HomeOf(int64_t length_ns) const {
    constexpr uint64_t kHashFactor = 0x9e3779b97f4a7c15;
    return static_cast<size_t>((static_cast<uint64_t>(length_ns) * kHashFactor) >> 32) &
           (slots_.size() - 1);
  }
  // Counts what waits.
  void CountWaiting();
  // As if nothing had waited: nothing that can be seen changes.
  const LengthCounts& Settled() const {
    if (waiting_count_ != 0) const_cast<LengthCounts*>(this)->CountWaiting();
    return *this;
  }
  void Count(int64_t length_ns, uint64_t times) {
    if (slots_.empty()) slots_.resize(kFewestSlots);
    const size_t mask = slots_.size() - 1;
    size_t at = HomeOf(length_ns);
    while (slots_[at].count != 0 && slots_[at].length_ns != length_ns) at = (at + 1) & mask;
    slots_[at].length_ns = length_ns;
    const bool is_new = slots_[at].count == 0;
    slots_[at].count += times;
    if (is_new) CountNewSlowPath();
  }
  void CountNewSlowPath();
  void Refill(size_t slots);
  std::vector<std::pair<int64_t, uint64_t>> Sorted() const;

  std::array<int64_t, kMostWaiting> waiting_;
  uint32_t waiting_count_ = 0;
  std::vector<Slot> slots_;  // open addressing; a power of two, at most half of them taken
  size_t lengths_ = 0;       // that differ
  bool rounded_ = false;
  uint64_t count_ = 0;
  int64_t sum_ns_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_LENGTH_COUNTS_H_
