// SPDX-License-Identifier: Apache-2.0
//
// Decides about chunks. No state.
#include "analysis/compact/retention.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/compact/settled_time.h"

namespace gpubound {
namespace {

int64_t MedianLength(const std::vector<Iteration>& iterations) {
  std::vector<int64_t> lengths;
  for (const Iteration& iteration : iterations) lengths.push_back(iteration.time.length());
  if (lengths.empty()) return 0;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

// The last of |times|, ascending and disjoint, that |chunk| has a part in; their end where none is.
std::vector<Interval>::const_iterator LastOverlapped(const Interval& chunk,
                                                     const std::vector<Interval>& times) {
  const auto behind = std::partition_point(
      times.begin(), times.end(),
      [&chunk](const Interval& time) { return time.begin_ns <= chunk.end_ns; });
  // Where this one has ended, those before it have.
  if (behind == times.begin() || std::prev(behind)->end_ns <= chunk.begin_ns) return times.end();
  return std::prev(behind);
}

}  // namespace

int64_t SumUntil(const Retention& retention, const std::vector<StoredChunk>& chunks,
                 int64_t settled_ns, int64_t summed_ns) {
  const int64_t window_ns = std::clamp<int64_t>(retention.window_ns, 0, settled_ns - INT64_MIN / 2);
  const int64_t until_ns = std::max(summed_ns, settled_ns - window_ns);
  if (!retention.max_bytes) return until_ns;
  std::vector<std::pair<int64_t, uint64_t>> by_end;
  for (const StoredChunk& chunk : chunks) by_end.emplace_back(chunk.time.end_ns, chunk.bytes);
  std::sort(by_end.rbegin(), by_end.rend());
  uint64_t bytes = 0;
  for (const auto& [end_ns, size] : by_end) {
    if (end_ns < until_ns) break;
    bytes += size;
    if (bytes <= *retention.max_bytes) continue;
    const int64_t at_most_ns = std::max(settled_ns, by_end.front().first - kLongestDeliveryNs);
    return std::max(until_ns, std::min(end_ns + 1, at_most_ns));
  }
  return until_ns;
}

std::vector<Interval> KeptDetail(const Retention& retention, const std::vector<StoredChunk>& chunks,
                                 const std::vector<Iteration>& iterations,
                                 std::vector<Interval> kept, int64_t until_ns) {
  if (retention.slow_factor) {
    const double limit_ns = *retention.slow_factor * static_cast<double>(MedianLength(iterations));
    for (const Iteration& iteration : iterations) {
      if (iteration.time.begin_ns >= until_ns) break;
      if (static_cast<double>(iteration.time.length()) > limit_ns) kept.push_back(iteration.time);
    }
  }
  kept = Union(std::move(kept));
  if (!retention.max_bytes) return kept;
  uint64_t bytes = 0;  // that stay so far
  // Chunks that do not stay anyway, at the newest time that needs them.
  std::vector<uint64_t> needed(kept.size());
  for (const StoredChunk& chunk : chunks) {
    const auto time = LastOverlapped(chunk.time, kept);
    if (IsKept(chunk, {}, until_ns)) {
      bytes += chunk.bytes;
    } else if (time != kept.end()) {
      needed[static_cast<size_t>(time - kept.begin())] += chunk.bytes;
    }
  }
  size_t oldest = kept.size();
  for (; oldest > 0; --oldest) {
    bytes += needed[oldest - 1];
    if (bytes > *retention.max_bytes) break;
  }
  kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(oldest));
  return kept;
}

bool IsKept(const StoredChunk& chunk, const std::vector<Interval>& kept, int64_t until_ns) {
  if (chunk.time.end_ns >= until_ns) return true;
  return LastOverlapped(chunk.time, kept) != kept.end();
}

}  // namespace gpubound
