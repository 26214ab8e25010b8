// SPDX-License-Identifier: Apache-2.0
//
// Keeps and forgets chunks.
#include "libprofiler/held_chunks.h"

#include <algorithm>

namespace gpubound {

void HeldChunks::Add(const ChunkRow& row) {
  chunks_.push_back({row, {row.body.begin(), row.body.end()}});
  bytes_ += row.body.size();
  if (row.event_count != 0) latest_ns_ = std::max(latest_ns_, row.max_ns);
  while (!chunks_.empty() &&
         (bytes_ > kMostBytes || chunks_.front().row.max_ns < latest_ns_ - kHeldNs)) {
    bytes_ -= chunks_.front().body.size();
    chunks_.pop_front();
  }
}

}  // namespace gpubound
