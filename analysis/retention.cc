// SPDX-License-Identifier: Apache-2.0
//
// Decides about chunks. No state.
#include "analysis/retention.h"

#include <algorithm>
#include <utility>

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

bool Overlaps(const Interval& chunk, const Interval& time) {
  return chunk.begin_ns < time.end_ns && time.begin_ns <= chunk.end_ns;
}

}  // namespace

int64_t SumUntil(const Retention& retention, const std::vector<StoredChunk>& chunks,
                 int64_t newest_ns, int64_t summed_ns) {
  const int64_t window_ns = std::clamp<int64_t>(retention.window_ns, 0, newest_ns - INT64_MIN / 2);
  int64_t until_ns = std::max(summed_ns, newest_ns - window_ns);
  if (!retention.max_bytes) return until_ns;
  std::vector<std::pair<int64_t, uint64_t>> by_end;
  for (const StoredChunk& chunk : chunks) by_end.emplace_back(chunk.time.end_ns, chunk.bytes);
  std::sort(by_end.rbegin(), by_end.rend());
  uint64_t bytes = 0;
  for (const auto& [end_ns, size] : by_end) {
    if (end_ns < until_ns) break;
    bytes += size;
    if (bytes > *retention.max_bytes) return std::max(until_ns, end_ns + 1);
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
  uint64_t bytes = 0;
  std::vector<bool> counted(chunks.size());
  const auto add = [&](const auto& wanted) {
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (counted[i] || !wanted(chunks[i])) continue;
      counted[i] = true;
      bytes += chunks[i].bytes;
    }
  };
  add([&](const StoredChunk& chunk) { return IsKept(chunk, {}, until_ns); });
  size_t oldest = kept.size();
  while (oldest > 0) {
    const Interval& time = kept[oldest - 1];
    add([&](const StoredChunk& chunk) { return Overlaps(chunk.time, time); });
    if (bytes > *retention.max_bytes) break;
    --oldest;
  }
  kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(oldest));
  return kept;
}

bool IsKept(const StoredChunk& chunk, const std::vector<Interval>& kept, int64_t until_ns) {
  if (chunk.time.end_ns >= until_ns) return true;
  return std::any_of(kept.begin(), kept.end(),
                     [&](const Interval& time) { return Overlaps(chunk.time, time); });
}

}  // namespace gpubound
