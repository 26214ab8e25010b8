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

std::vector<int64_t> PathLog::PartsUntil(uint32_t last, int64_t origin_ns, int64_t begin_ns,
                                         int64_t end_ns) {
  log_.Seal();
  constexpr size_t kBlock = RecordLog<PathStep>::kBlock;
  std::vector<PathStep> buffer;
  std::span<const PathStep> block;
  size_t open_block = std::numeric_limits<size_t>::max();
  std::vector<int64_t> parts;
  int64_t until_ns = end_ns;
  uint32_t part = 0;
  for (uint32_t number = last; number != 0;) {
    const size_t index = number - 1;  // steps come in ascending order, so each block is read once
    if (index / kBlock != open_block) {
      open_block = index / kBlock;
      block = log_.Read(open_block, &buffer);
    }
    const PathStep& step = block[index % kBlock];
    // Where costs were more than there was, a step may end before the one that it began behind.
    const int64_t at_ns = std::clamp(origin_ns + Rounded(step.at), begin_ns, until_ns);
    if (number != last) parts[part] += until_ns - at_ns;
    if (parts.size() <= step.part) parts.resize(step.part + 1);
    if (number == last) parts[step.part] += until_ns - at_ns;
    until_ns = at_ns;
    part = step.part;
    number = step.before;
  }
  if (part < parts.size()) parts[part] += until_ns - begin_ns;
  return parts;
}

}  // namespace gpubound
