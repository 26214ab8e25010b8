// SPDX-License-Identifier: Apache-2.0
//
// Chunks that are gone from a segment and that no gap in the numbers of their writer tells of,
// since they were its last. The recorder numbers the chunks of a segment from 1 on, as it writes
// them:
//
//   chunk      1  2  3  4  5  6  7
//   writer     A  B  A  B  -  A  -       no gap: 5 may have been B's, 7 anyone's
//
// Pure.
#ifndef GPUBOUND_ANALYSIS_READER_MISSING_CHUNKS_H_
#define GPUBOUND_ANALYSIS_READER_MISSING_CHUNKS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/segments/chunk_store.h"
#include "analysis/segments/segment.h"
#include "analysis/trace/run.h"

namespace gpubound {

// By order of writing.
struct ChunkPlace {
  size_t segment = 0;
  int64_t id = 0;
  friend auto operator<=>(const ChunkPlace&, const ChunkPlace&) = default;
};

// |missing|: of the |segments| of |process|, in ascending order. |chunks|: all that are there, of
// each writer in the order of its numbers. Where gaps in these do not explain all that are missing,
// that is damage of the segments; and of each writer whose last chunk was written before one of
// them more may have been there: scopes of the thread may be missing from then on, device work is
// unknown. A gap explains as many chunks as it takes if they are as large as the writer's largest.
// |begins_anywhere|: nothing is missing before the first chunk of a writer.
void NoteMissingChunks(const std::vector<PlannedChunk>& chunks,
                       const std::vector<ChunkPlace>& missing, bool begins_anywhere,
                       std::vector<Segment>* segments, ProcessTrace* process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_MISSING_CHUNKS_H_
