// SPDX-License-Identifier: Apache-2.0
//
// Lists the chunks of a segment without their bodies. Pure but for reading.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_CHUNK_HEAD_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_CHUNK_HEAD_H_

#include <cstdint>
#include <vector>

#include "analysis/segments/sqlite.h"
#include "proto/chunk_row.h"

namespace gpubound {

// A chunk without its body: |row.body| is empty.
struct ChunkHead {
  int64_t id = 0;
  ChunkRow row;
};

struct ChunkHeads {
  std::vector<ChunkHead> heads;  // by id
  bool whole = true;             // false: there are more, which cannot be read
};

// Of the chunks of |database| with an id above |behind|.
ChunkHeads ReadChunkHeads(Database* database, int64_t behind = 0);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_CHUNK_HEAD_H_
