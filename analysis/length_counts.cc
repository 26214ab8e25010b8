// SPDX-License-Identifier: Apache-2.0
//
// A hash table that grows; sorted when a figure is asked for. One object, one thread.
#include "analysis/length_counts.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace gpubound {
namespace {

constexpr int kKeptBits = 9;  // the first one is always set: less than 1/256 is lost

using SortedCounts = std::vector<std::pair<int64_t, uint64_t>>;

// The length that |rank| lengths, from 1, do not exceed.
int64_t AtRank(const SortedCounts& counts, uint64_t rank) {
  for (const auto& [length_ns, count] : counts) {
    if (rank <= count) return length_ns;
    rank -= count;
  }
  return 0;
}

}  // namespace

int64_t LengthCounts::RoundedDown(int64_t length_ns) {
  const auto length = static_cast<uint64_t>(length_ns);
  const int dropped = std::max(0, static_cast<int>(std::bit_width(length)) - kKeptBits);
  return static_cast<int64_t>(length >> dropped << dropped);
}

void LengthCounts::CountWaiting() {
  if (slots_.empty()) slots_.resize(kFewestSlots);
  const uint32_t waiting = std::exchange(waiting_count_, 0);
  for (uint32_t i = 0; i < waiting; ++i) {
    if (rounded_) waiting_[i] = RoundedDown(waiting_[i]);
    __builtin_prefetch(&slots_[HomeOf(waiting_[i])], 1);
  }
  for (uint32_t i = 0; i < waiting; ++i) {
    Count(rounded_ ? RoundedDown(waiting_[i]) : waiting_[i], 1);
  }
}

void LengthCounts::Add(const LengthCounts& other) {
  CountWaiting();
  other.Settled();
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
  if (other.rounded_ && !rounded_) {
    rounded_ = true;
    Refill(slots_.size());
  }
  for (const Slot& slot : other.slots_) {
    if (slot.count == 0) continue;
    Count(rounded_ ? RoundedDown(slot.length_ns) : slot.length_ns, slot.count);
  }
}

int64_t LengthCounts::MeanNs() const {
  return count_ == 0 ? 0 : sum_ns_ / static_cast<int64_t>(count_);
}

LengthCounts::Quantiles LengthCounts::QuantilesNs() const {
  const SortedCounts counts = Settled().Sorted();
  const uint64_t middle = count_ / 2;
  Quantiles quantiles;
  quantiles.median_ns = count_ % 2 != 0 ? AtRank(counts, middle + 1)
                                        : (AtRank(counts, middle) + AtRank(counts, middle + 1)) / 2;
  quantiles.p95_ns = AtRank(counts, (count_ * 95 + 99) / 100);
  return quantiles;
}

void LengthCounts::CountNewSlowPath() {
  ++lengths_;
  if (!rounded_ && lengths_ > kMostLengths) {
    rounded_ = true;
    Refill(slots_.size());
  } else if (lengths_ * 2 > slots_.size()) {
    Refill(slots_.size() * 2);
  }
}

void LengthCounts::Refill(size_t slots) {
  std::vector<Slot> before(slots);
  before.swap(slots_);
  lengths_ = 0;
  for (const Slot& slot : before) {
    if (slot.count == 0) continue;
    Count(rounded_ ? RoundedDown(slot.length_ns) : slot.length_ns, slot.count);
  }
}

std::vector<std::pair<int64_t, uint64_t>> LengthCounts::Sorted() const {
  SortedCounts counts;
  counts.reserve(lengths_);
  for (const Slot& slot : slots_) {
    if (slot.count != 0) counts.emplace_back(slot.length_ns, slot.count);
  }
  std::sort(counts.begin(), counts.end());
  return counts;
}

}  // namespace gpubound
