// SPDX-License-Identifier: Apache-2.0
//
// A hash table that grows; sorted when a figure is asked for. One object, one thread.
#include "analysis/length_counts.h"

#include <algorithm>
#include <bit>

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

void LengthCounts::Add(const LengthCounts& other) {
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

int64_t LengthCounts::MedianNs() const {
  const SortedCounts counts = Sorted();
  const uint64_t middle = count_ / 2;
  if (count_ % 2 != 0) return AtRank(counts, middle + 1);
  return (AtRank(counts, middle) + AtRank(counts, middle + 1)) / 2;
}

int64_t LengthCounts::PercentileNs(uint64_t percent) const {
  return AtRank(Sorted(), (count_ * percent + 99) / 100);
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
