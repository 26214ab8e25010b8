// SPDX-License-Identifier: Apache-2.0
//
// Puts times into about as many buckets as there are times, then sorts what little is out of order.
// No state but scratch memory.
#include "analysis/record_order.h"

#include <bit>
#include <utility>

namespace gpubound {
namespace {

// Each moves past those before it that begin later. Cheap where these are few; gives up where they
// are not, as where one record lies hours apart and all others share a bucket.
bool SortByInsertion(std::span<const int64_t> start_ns, std::span<uint32_t> order) {
  size_t moves_left = 8 * order.size();
  for (size_t i = 1; i < order.size(); ++i) {
    const uint32_t moved = order[i];
    size_t to = i;
    for (; to > 0 && start_ns[order[to - 1]] > start_ns[moved]; --to) order[to] = order[to - 1];
    order[to] = moved;
    if (i - to > moves_left) return false;
    moves_left -= i - to;
  }
  return true;
}

}  // namespace

std::span<const uint32_t> BeginOrder::Of(std::span<const int64_t> start_ns) {
  order_.resize(start_ns.size());
  if (start_ns.empty()) return order_;
  const auto [least, most] = std::minmax_element(start_ns.begin(), start_ns.end());
  const auto first_ns = static_cast<uint64_t>(*least);
  const auto bits = std::bit_width(static_cast<uint64_t>(*most) - first_ns);
  const auto bucket_bits = std::bit_width(start_ns.size());
  const int shift = std::max(0, static_cast<int>(bits) - static_cast<int>(bucket_bits));
  bucket_ends_.assign((size_t{1} << bucket_bits) + 1, 0);
  const auto bucket_of = [&](size_t i) {
    return (static_cast<uint64_t>(start_ns[i]) - first_ns) >> shift;
  };
  for (size_t i = 0; i < start_ns.size(); ++i) ++bucket_ends_[bucket_of(i) + 1];
  for (size_t bucket = 1; bucket < bucket_ends_.size(); ++bucket) {
    bucket_ends_[bucket] += bucket_ends_[bucket - 1];
  }
  for (size_t i = 0; i < start_ns.size(); ++i) {
    order_[bucket_ends_[bucket_of(i)]++] = static_cast<uint32_t>(i);
  }
  if (!SortByInsertion(start_ns, order_)) {
    std::sort(order_.begin(), order_.end(), [start_ns](uint32_t a, uint32_t b) {
      return std::pair(start_ns[a], a) < std::pair(start_ns[b], b);
    });
  }
  return order_;
}

}  // namespace gpubound
