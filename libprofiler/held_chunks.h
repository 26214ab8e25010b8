// SPDX-License-Identifier: Apache-2.0
//
// Copies of the chunks of the last seconds, while it is not known whether anybody will want them:
// before the first iteration that is to be recorded. Confined to the thread that drains.
#ifndef GPUBOUND_LIBPROFILER_HELD_CHUNKS_H_
#define GPUBOUND_LIBPROFILER_HELD_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "proto/chunk_row.h"

namespace gpubound {

class HeldChunks {
 public:
  // Work of the window may have been launched so long before it; records are delivered half a
  // second late.
  static constexpr int64_t kHeldNs = 3'000'000'000;
  static constexpr size_t kMostBytes = 64 << 20;

  // Forgets what ended kHeldNs before this one did, and the oldest beyond kMostBytes.
  void Add(const ChunkRow& row);
  // Calls |put|(ChunkRow) for each, in the order in which they came, and forgets them.
  template <typename Put>
  void Release(Put put) {
    for (Held& held : chunks_) {
      held.row.body = held.body;
      put(held.row);
    }
    chunks_.clear();
    bytes_ = 0;
  }

 private:
  struct Held {
    ChunkRow row;
    std::vector<std::byte> body;
  };

  std::deque<Held> chunks_;
  size_t bytes_ = 0;
  int64_t latest_ns_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_HELD_CHUNKS_H_
