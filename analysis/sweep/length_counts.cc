// SPDX-License-Identifier: Apache-2.0
//
// A list, then buckets. One object, one thread.
#include "analysis/sweep/length_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
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

// Whether more lengths differ than LengthCounts::kMostLengths, where that is easily seen: those
// differ of which the last bits do.
bool ManyDiffer(std::span<const uint32_t> lengths_ns) {
  constexpr size_t kLastBits = 14;
  if (lengths_ns.size() <= LengthCounts::kMostLengths) return false;
  std::array<uint64_t, (size_t{1} << kLastBits) / 64> seen{};
  for (const uint32_t length_ns : lengths_ns) {
    seen[length_ns / 64 % seen.size()] |= uint64_t{1} << length_ns % 64;
  }
  size_t differ = 0;
  for (const uint64_t word : seen) differ += static_cast<size_t>(std::popcount(word));
  return differ > LengthCounts::kMostLengths;
}

}  // namespace

// Goes along lengths in order and keeps those that ranks ask for.
class LengthCounts::RankWalk {
 public:
  explicit RankWalk(const Ranks& ranks) : ranks_(ranks) {}
  bool done() const { return next_ == ranks_.size(); }
  const Ranked& at() const { return at_; }
  // False: some rank is among the next |lengths|, which have to be taken one by one.
  bool Pass(uint64_t lengths) {
    if (ranks_[next_] <= passed_ + lengths) return false;
    passed_ += lengths;
    return true;
  }
  void Take(int64_t length_ns, uint64_t times) {
    passed_ += times;
    for (; !done() && ranks_[next_] <= passed_; ++next_) at_[next_] = length_ns;
  }

 private:
  const Ranks& ranks_;
  Ranked at_{};
  size_t next_ = 0;
  uint64_t passed_ = 0;
};

void LengthCounts::Add(int64_t length_ns) {
  ++count_;
  AddToSum(length_ns);
  if (length_ns > kLongestWaiting) return CountLong(length_ns);
  const auto waiting = static_cast<uint32_t>(length_ns);
  Wait({&waiting, 1});
}

void LengthCounts::Add(std::span<const uint32_t> lengths_ns) {
  count_ += lengths_ns.size();
  int64_t sum_ns = 0;
  for (const uint32_t length_ns : lengths_ns) sum_ns += length_ns;
  AddToSum(sum_ns);
  Wait(lengths_ns);
}

void LengthCounts::Add(const LengthCounts& other) {
  count_ += other.count_;
  AddToSum(other.sum_ns_);
  Wait(other.waiting_);
  if (other.rounded_) return AddBuckets(other);
  if (!other.counts_.empty()) Count(other.counts_);
}

void LengthCounts::Wait(std::span<const uint32_t> lengths_ns) {
  if (waiting_.size() + lengths_ns.size() > most_waiting_) CountWaiting();
  waiting_.insert(waiting_.end(), lengths_ns.begin(), lengths_ns.end());
}

void LengthCounts::CountWaiting() {
  if (!rounded_ && !CountExactly()) Round();
  if (rounded_) CountRounded();
  waiting_.clear();
  if (waiting_.capacity() > most_waiting_) waiting_.shrink_to_fit();
}

// False: too many lengths differ, and nothing was counted.
bool LengthCounts::CountExactly() {
  if (ManyDiffer(waiting_)) return false;
  DistinctLengths distinct(counts_.size() + waiting_.size());
  const bool few = distinct.Add(counts_) &&
                   std::all_of(waiting_.begin(), waiting_.end(),
                               [&](uint32_t length_ns) { return distinct.Add(length_ns, 1); });
  if (few) counts_ = distinct.Take();
  return few;
}

void LengthCounts::CountRounded() {
  if (waiting_.empty()) return;
  uint32_t least = waiting_.front();
  uint32_t most = least;
  for (const uint32_t length_ns : waiting_) {
    least = std::min(least, length_ns);
    most = std::max(most, length_ns);
  }
  Reach(NumberOfBucket(least) / kPage);
  Reach(NumberOfBucket(most) / kPage);
  const size_t first = first_page_ * kPage;
  for (const uint32_t length_ns : waiting_) ++buckets_[NumberOfBucket(length_ns) - first];
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
  Reach(number / kPage);
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

void LengthCounts::AddBuckets(const LengthCounts& other) {
  Round();
  if (other.buckets_.empty()) return;
  const size_t pages = other.buckets_.size() / kPage;
  Reach(other.first_page_);
  Reach(other.first_page_ + pages - 1);
  uint64_t* const to = &buckets_[(other.first_page_ - first_page_) * kPage];
  for (size_t i = 0; i < other.buckets_.size(); ++i) to[i] += other.buckets_[i];
}

int64_t LengthCounts::MeanNs() const {
  return count_ == 0 ? 0 : sum_ns_ / static_cast<int64_t>(count_);
}

LengthCounts::Quantiles LengthCounts::QuantilesNs() const {
  if (count_ == 0) return {};
  const bool has_middle = count_ % 2 != 0;
  const uint64_t middle = count_ / 2;
  const auto [below, above, p95] =
      At({has_middle ? middle + 1 : middle, middle + 1, (count_ * 95 + 99) / 100});
  return {has_middle ? above : (below + above) / 2, p95};
}

LengthCounts::Ranked LengthCounts::At(const Ranks& ranks) const {
  const bool all_wait = !rounded_ && waiting_.size() == count_ && count_ <= kMostLengths;
  if (all_wait) {
    Counts once;
    for (const uint32_t length_ns : waiting_) once.emplace_back(length_ns, 1);
    return AtOf(once, ranks);
  }
  if (!Settled().rounded_) return AtOf(counts_, ranks);
  RankWalk walk(ranks);
  InOrder([&walk](int64_t length_ns, uint64_t times) { walk.Take(length_ns, times); });
  return walk.at();
}

// Only those are put in order that are about as long as the ones asked for.
LengthCounts::Ranked LengthCounts::AtOf(const Counts& counts, const Ranks& ranks) {
  constexpr int kCoarseBits = 8;
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  const auto least_ns = static_cast<uint64_t>(least->first);
  const uint64_t range_ns = static_cast<uint64_t>(most->first) - least_ns;
  const int shift = std::max(0, static_cast<int>(std::bit_width(range_ns)) - kCoarseBits);
  const auto coarse_of = [least_ns, shift](int64_t length_ns) {
    return (static_cast<uint64_t>(length_ns) - least_ns) >> shift;
  };
  std::array<uint64_t, size_t{1} << kCoarseBits> coarse{};
  for (const auto& [length_ns, times] : counts) coarse[coarse_of(length_ns)] += times;
  RankWalk walk(ranks);
  Counts alike;
  for (size_t i = 0; i < coarse.size() && !walk.done(); ++i) {
    if (walk.Pass(coarse[i])) continue;
    alike.clear();
    std::copy_if(counts.begin(), counts.end(), std::back_inserter(alike),
                 [&](const auto& counted) { return coarse_of(counted.first) == i; });
    std::sort(alike.begin(), alike.end());
    for (const auto& [length_ns, times] : alike) walk.Take(length_ns, times);
  }
  return walk.at();
}

template <typename Take>
void LengthCounts::InOrder(Take take) const {
  Counts counts = counts_;
  std::sort(counts.begin(), counts.end());
  for (const auto& [length_ns, times] : counts) take(length_ns, times);
  for (size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] != 0) take(LengthOfBucket(first_page_ * kPage + i), buckets_[i]);
  }
}

LengthCounts::Counts LengthCounts::Sorted() const {
  Counts counts;
  InOrder([&counts](int64_t length_ns, uint64_t times) { counts.emplace_back(length_ns, times); });
  return counts;
}

}  // namespace gpubound
