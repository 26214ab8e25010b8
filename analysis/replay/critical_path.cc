// SPDX-License-Identifier: Apache-2.0
//
// Walks back. No state.
#include "analysis/replay/critical_path.h"

#include <algorithm>
#include <limits>
#include <span>

#include "analysis/replay/replay_moment.h"

namespace gpubound {

std::string PathColumnName(uint32_t column) {
  if (column < kPathLayers) return LayerName(static_cast<Layer>(column));
  return std::string("gpu ") + WorkClassName(static_cast<WorkClass>(column - kPathLayers));
}

std::vector<PathTime> PathLog::PartsUntil(uint32_t last, int64_t origin_ns, const Interval& span,
                                          const Interval& loop) {
  log_.Seal();
  constexpr size_t kBlock = RecordLog<PathStep>::kBlock;
  std::vector<PathStep> buffer;
  std::span<const PathStep> block;
  size_t open_block = std::numeric_limits<size_t>::max();
  std::vector<PathTime> parts;
  int64_t until_ns = span.end_ns;
  uint32_t part = 0;
  const auto add = [&](uint32_t to, int64_t from_ns) {
    parts[to].ns += until_ns - from_ns;
    parts[to].loop_ns +=
        std::max<int64_t>(0, std::min(until_ns, loop.end_ns) - std::max(from_ns, loop.begin_ns));
  };
  for (uint32_t number = last; number != 0;) {
    const size_t index = number - 1;  // steps come in ascending order, so each block is read once
    if (index / kBlock != open_block) {
      open_block = index / kBlock;
      block = log_.Read(open_block, &buffer);
    }
    const PathStep& step = block[index % kBlock];
    // Where costs were more than there was, a step may end before the one that it began behind.
    const int64_t at_ns = std::clamp(origin_ns + Rounded(step.at), span.begin_ns, until_ns);
    if (number != last) add(part, at_ns);
    if (parts.size() <= step.part) parts.resize(step.part + 1);
    if (number == last) add(step.part, at_ns);
    until_ns = at_ns;
    part = step.part;
    number = step.before;
  }
  if (part < parts.size()) add(part, span.begin_ns);
  return parts;
}

}  // namespace gpubound
