// SPDX-License-Identifier: Apache-2.0
//
// A list, then buckets. One object, one thread.
#include "analysis/length_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace gpubound {
namespace {

constexpr int kKeptBits = 9;  // the first one is always set: less than 1/256 is lost

int DroppedBits(int64_t length_ns) {
  return std::max(0,
                  static_cast<int>(std::bit_width(static_cast<uint64_t>(length_ns))) - kKeptBits);
}

// Counted from that of length 0: each power of two from 2^9 on has as many as 2^8 has lengths.
size_t NumberOfBucket(int64_t length_ns) {
  const int dropped = DroppedBits(length_ns);
  return (static_cast<size_t>(dropped) << (kKeptBits - 1)) +
         (static_cast<size_t>(length_ns) >> dropped);
}

// The least length of a bucket, which stands for all of them.
int64_t LengthOfBucket(size_t number) {
  constexpr size_t kPerPower = size_t{1} << (kKeptBits - 1);
  const size_t dropped = number < 2 * kPerPower ? 0 : number / kPerPower - 1;
  return static_cast<int64_t>((number - dropped * kPerPower) << dropped);
}

// Lengths and how often each occurred, in a table small enough for the nearest cache.
class DistinctLengths {
 public:
  // So many counts come at most.
  explicit DistinctLengths(size_t counts)
      : mask_(std::min(kMostSlots, std::bit_ceil(2 * counts + 1)) - 1) {
    std::fill_n(slots_.begin(), mask_ + 1, Slot{});
  }
  // False: there are more than LengthCounts::kMostLengths.
  bool Add(int64_t length_ns, uint64_t times) {
    size_t at = HomeOf(length_ns);
    while (slots_[at].times != 0 && slots_[at].length_ns != length_ns) at = (at + 1) & mask_;
    if (slots_[at].times == 0 && ++lengths_ > LengthCounts::kMostLengths) return false;
    slots_[at].length_ns = length_ns;
    slots_[at].times += times;
    return true;
  }
  bool Add(const std::vector<std::pair<int64_t, uint64_t>>& counts) {
    return std::all_of(counts.begin(), counts.end(),
                       [this](const auto& count) { return Add(count.first, count.second); });
  }
  std::vector<std::pair<int64_t, uint64_t>> Take() const {
    std::vector<std::pair<int64_t, uint64_t>> counts;
    counts.reserve(lengths_);
    for (size_t i = 0; i <= mask_; ++i) {
      if (slots_[i].times != 0) counts.emplace_back(slots_[i].length_ns, slots_[i].times);
    }
    return counts;
  }

 private:
  static constexpr size_t kMostSlots = 2 * LengthCounts::kMostLengths;
  struct Slot {
    int64_t length_ns;
    uint64_t times;  // 0: the slot is free
  };
  size_t HomeOf(int64_t length_ns) const {
    constexpr uint64_t kHashFactor = 0x9e3779b97f4a7c15;
    return static_cast<size_t>((static_cast<uint64_t>(length_ns) * kHashFactor) >> 32) & mask_;
  }
  const size_t mask_;
  std::array<Slot, kMostSlots> slots_;  // as many as the mask says
  size_t lengths_ = 0;
};

}  // namespace

void LengthCounts::CountWaiting() {
  if (!rounded_ && !CountExactly()) Round();
  if (rounded_) {
    for (const uint32_t length_ns : waiting_) ++BucketOf(length_ns);
  }
  waiting_.clear();
  if (waiting_.capacity() > most_waiting_) waiting_.shrink_to_fit();
}

// False: too many lengths differ, and nothing was counted.
bool LengthCounts::CountExactly() {
  DistinctLengths distinct(counts_.size() + waiting_.size());
  const bool few = distinct.Add(counts_) &&
                   std::all_of(waiting_.begin(), waiting_.end(),
                               [&](uint32_t length_ns) { return distinct.Add(length_ns, 1); });
  if (few) counts_ = distinct.Take();
  return few;
}

void LengthCounts::CountLong(int64_t length_ns) {
  CountWaiting();
  Count({{length_ns, 1}});
}

void LengthCounts::Count(const Counts& counts) {
  DistinctLengths distinct(counts_.size() + counts.size());
  const bool few = !rounded_ && distinct.Add(counts_) && distinct.Add(counts);
  if (few) {
    counts_ = distinct.Take();
    return;
  }
  Round();
  for (const auto& [length_ns, times] : counts) BucketOf(length_ns) += times;
}

void LengthCounts::Round() {
  rounded_ = true;
  most_waiting_ = kMostWaitingRounded;
  for (const auto& [length_ns, times] : std::exchange(counts_, {})) BucketOf(length_ns) += times;
}

uint64_t& LengthCounts::BucketOf(int64_t length_ns) {
  const size_t number = NumberOfBucket(length_ns);
  const size_t first = first_page_ * kPage;
  if (number < first || number - first >= buckets_.size()) Reach(number / kPage);
  return buckets_[number - first_page_ * kPage];
}

void LengthCounts::Reach(size_t page) {
  if (buckets_.empty()) first_page_ = page;
  if (page < first_page_) {
    buckets_.insert(buckets_.begin(), (first_page_ - page) * kPage, 0);
    first_page_ = page;
  }
  buckets_.resize(std::max(buckets_.size(), (page - first_page_ + 1) * kPage));
}

void LengthCounts::Add(const LengthCounts& other) {
  CountWaiting();
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
  if (other.rounded()) Round();
  Count(other.rounded_ ? other.Sorted() : other.counts_);
}

int64_t LengthCounts::MeanNs() const {
  return count_ == 0 ? 0 : sum_ns_ / static_cast<int64_t>(count_);
}

LengthCounts::Quantiles LengthCounts::QuantilesNs() const {
  const Counts counts = Settled().Sorted();
  // The length that |rank| lengths, from 1, do not exceed.
  const auto at_rank = [&counts](uint64_t rank) -> int64_t {
    for (const auto& [length_ns, times] : counts) {
      if (rank <= times) return length_ns;
      rank -= times;
    }
    return 0;
  };
  const uint64_t middle = count_ / 2;
  Quantiles quantiles;
  quantiles.median_ns =
      count_ % 2 != 0 ? at_rank(middle + 1) : (at_rank(middle) + at_rank(middle + 1)) / 2;
  quantiles.p95_ns = at_rank((count_ * 95 + 99) / 100);
  return quantiles;
}

LengthCounts::Counts LengthCounts::Sorted() const {
  Counts counts = counts_;
  std::sort(counts.begin(), counts.end());
  for (size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] == 0) continue;
    counts.emplace_back(LengthOfBucket(first_page_ * kPage + i), buckets_[i]);
  }
  return counts;
}

}  // namespace gpubound
