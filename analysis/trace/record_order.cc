// SPDX-License-Identifier: Apache-2.0
//
// Puts times into about as many buckets as there are times, then sorts what little is out of order.
// No state but scratch memory.
#include "analysis/trace/record_order.h"

#include <bit>
#include <numeric>

namespace gpubound {
namespace {

// Carries the largest so far along. Most of what is out of order has but one before it that comes
// later, and is in its place then: without a branch, which nothing could foresee.
void MovePastOne(std::span<uint64_t> keys) {
  uint64_t carried = keys.front();
  for (size_t i = 1; i < keys.size(); ++i) {
    const uint64_t key = keys[i];
    const bool earlier = key < carried;
    keys[i - 1] = earlier ? key : carried;
    carried = earlier ? carried : key;
  }
  keys.back() = carried;
}

// Each moves past those before it that come later. Cheap where these are few; gives up where they
// are not, as where one record lies hours apart and all others share a bucket.
bool SortByInsertion(std::span<uint64_t> keys) {
  size_t moves_left = 8 * keys.size();
  for (size_t i = 1; i < keys.size(); ++i) {
    const uint64_t moved = keys[i];
    if (keys[i - 1] <= moved) [[likely]]
      continue;
    size_t to = i;
    for (; to > 0 && keys[to - 1] > moved; --to) keys[to] = keys[to - 1];
    keys[to] = moved;
    if (i - to > moves_left) return false;
    moves_left -= i - to;
  }
  return true;
}

}  // namespace

std::span<const uint32_t> BeginOrder::Of(std::span<const int64_t> start_ns) {
  const size_t size = start_ns.size();
  order_.resize(size);
  has_ties_ = false;
  if (size == 0) return order_;
  int64_t least_ns = start_ns.front();
  int64_t most_ns = start_ns.front();
  bool in_order = true;
  bool ties = false;
  for (size_t i = 1; i < size; ++i) {
    in_order &= start_ns[i] >= start_ns[i - 1];
    ties |= start_ns[i] == start_ns[i - 1];
    least_ns = std::min(least_ns, start_ns[i]);
    most_ns = std::max(most_ns, start_ns[i]);
  }
  has_ties_ = ties;
  const auto first_ns = static_cast<uint64_t>(least_ns);
  const uint64_t range_ns = static_cast<uint64_t>(most_ns) - first_ns;
  if (in_order || !SortKeys(start_ns, first_ns, range_ns)) {
    std::iota(order_.begin(), order_.end(), 0);
    if (in_order) return order_;
    std::stable_sort(order_.begin(), order_.end(),
                     [start_ns](uint32_t a, uint32_t b) { return start_ns[a] < start_ns[b]; });
    has_ties_ = true;  // perhaps
  }
  return order_;
}

// A key is a time since the first, and behind it the place of that time. There are as many buckets
// as times, or up to twice as many: of fewer, more than one time in four would have to be moved.
bool BeginOrder::SortKeys(std::span<const int64_t> start_ns, uint64_t first_ns, uint64_t range_ns) {
  const auto bits = static_cast<int>(std::bit_width(range_ns));
  const auto place_bits = static_cast<int>(std::bit_width(start_ns.size()));
  if (bits + place_bits > 64) return false;
  int shift = std::max(0, bits - place_bits);
  if (shift > 0 && range_ns >> shift < start_ns.size()) --shift;
  bucket_ends_.assign((range_ns >> shift) + 2, 0);
  for (const int64_t time_ns : start_ns) {
    ++bucket_ends_[((static_cast<uint64_t>(time_ns) - first_ns) >> shift) + 1];
  }
  for (size_t bucket = 1; bucket < bucket_ends_.size(); ++bucket) {
    bucket_ends_[bucket] += bucket_ends_[bucket - 1];
  }
  keys_.resize(start_ns.size());
  for (size_t i = 0; i < start_ns.size(); ++i) {
    const uint64_t since_ns = static_cast<uint64_t>(start_ns[i]) - first_ns;
    keys_[bucket_ends_[since_ns >> shift]++] = since_ns << place_bits | i;
  }
  MovePastOne(keys_);
  if (!SortByInsertion(keys_)) return false;
  const uint64_t place_mask = (uint64_t{1} << place_bits) - 1;
  bool ties = false;
  order_[0] = static_cast<uint32_t>(keys_[0] & place_mask);
  for (size_t i = 1; i < keys_.size(); ++i) {
    ties |= (keys_[i] ^ keys_[i - 1]) <= place_mask;
    order_[i] = static_cast<uint32_t>(keys_[i] & place_mask);
  }
  has_ties_ = ties;
  return true;
}

}  // namespace gpubound
