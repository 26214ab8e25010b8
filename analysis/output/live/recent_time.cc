// SPDX-License-Identifier: Apache-2.0
//
// Buckets and a union of intervals. One object, one caller.
#include "analysis/output/live/recent_time.h"

#include <algorithm>

namespace gpubound {
namespace {

int64_t BucketOf(int64_t time_ns) {
  const int64_t quotient = time_ns / kBucketNs;
  return time_ns < 0 && quotient * kBucketNs != time_ns ? quotient - 1 : quotient;
}

}  // namespace

Interval WholeBuckets(const Interval& time) {
  return {BucketOf(time.begin_ns) * kBucketNs, BucketOf(time.end_ns) * kBucketNs};
}

void RecentTime::Add(const Interval& time, uint32_t key) {
  int64_t at_ns = time.begin_ns;
  if (first_bucket_ != INT64_MIN) at_ns = std::max(at_ns, first_bucket_ * kBucketNs);
  while (at_ns < time.end_ns) {
    const int64_t end_ns = std::min(time.end_ns, (BucketOf(at_ns) + 1) * kBucketNs);
    Count(at_ns, key, end_ns - at_ns);
    at_ns = end_ns;
  }
}

void RecentTime::Count(int64_t at_ns, uint32_t key, int64_t amount) {
  const int64_t bucket = BucketOf(at_ns);
  if (bucket < first_bucket_) return;
  std::vector<int64_t>& sums = buckets_[bucket];
  if (key >= sums.size()) sums.resize(key + 1);
  sums[key] += amount;
}

void RecentTime::DropBefore(int64_t horizon_ns) {
  first_bucket_ = std::max(first_bucket_, BucketOf(horizon_ns));
  buckets_.erase(buckets_.begin(), buckets_.lower_bound(first_bucket_));
}

std::vector<int64_t> RecentTime::SumOver(const Interval& window, size_t keys) const {
  std::vector<int64_t> sums(keys);
  const auto end = buckets_.lower_bound(BucketOf(window.end_ns));
  for (auto bucket = buckets_.lower_bound(BucketOf(window.begin_ns)); bucket != end; ++bucket) {
    for (size_t key = 0; key < std::min(keys, bucket->second.size()); ++key) {
      sums[key] += bucket->second[key];
    }
  }
  return sums;
}

void RecentUnion::Add(Interval time) {
  time.begin_ns = std::max(time.begin_ns, settled_ns_);
  if (time.empty()) return;
  auto next = open_.upper_bound(time.begin_ns);
  if (next != open_.begin() && std::prev(next)->second >= time.begin_ns) --next;
  while (next != open_.end() && next->first <= time.end_ns) {
    time.begin_ns = std::min(time.begin_ns, next->first);
    time.end_ns = std::max(time.end_ns, next->second);
    next = open_.erase(next);
  }
  open_.emplace(time.begin_ns, time.end_ns);
}

void RecentUnion::Settle(int64_t settled_ns) {
  if (settled_ns <= settled_ns_) return;
  settled_ns_ = settled_ns;
  while (!open_.empty() && open_.begin()->first < settled_ns) {
    const auto [begin_ns, end_ns] = *open_.begin();
    open_.erase(open_.begin());
    settled_.Add({begin_ns, std::min(end_ns, settled_ns)}, 0);
    if (end_ns > settled_ns) open_.emplace(settled_ns, end_ns);
  }
}

int64_t RecentUnion::LengthWithin(const Interval& window) const {
  int64_t sum_ns = settled_.SumOver(window, 1).front();
  for (const auto& [begin_ns, end_ns] : open_) {
    sum_ns += Interval{begin_ns, end_ns}.ClippedTo(window).length();
  }
  return sum_ns;
}

}  // namespace gpubound
