// SPDX-License-Identifier: Apache-2.0
//
// Reads the index of chunks, or their rows where there is none that can be read. No state.
#include "analysis/segments/chunk_head.h"

#include <string>

namespace gpubound {
namespace {

ChunkHead HeadOf(const Query& query) {
  ChunkHead head;
  head.id = query.Int(0);
  head.row.family = static_cast<EventFamily>(query.Int(1));
  head.row.thread = query.Uint32(2);
  head.row.first_sequence = static_cast<uint64_t>(query.Int(3));
  head.row.sequence_count = static_cast<uint64_t>(query.Int(4));
  head.row.event_count = static_cast<uint64_t>(query.Int(5));
  head.row.min_ns = query.Int(6);
  head.row.max_ns = query.Int(7);
  head.row.compression = static_cast<ChunkCompression>(query.Int(8));
  head.row.raw_bytes = static_cast<uint64_t>(query.Int(9));
  head.row.crc = query.Uint32(10);
  return head;
}

}  // namespace

ChunkHeads ReadChunkHeads(Database* database, int64_t behind) {
  ChunkHeads read;
  for (const char* by : {"INDEXED BY chunk_head", "NOT INDEXED"}) {
    read = {};
    Query query = database->Prepare(
        std::string("SELECT id, family, thread, first_sequence, sequence_count, event_count, "
                    "min_ns, max_ns, compression, raw_bytes, crc FROM chunk ") +
        by + " WHERE id > ?1 ORDER BY id");
    query.Bind(1, behind);
    while (query.Step()) read.heads.push_back(HeadOf(query));
    read.whole = !query.failed();
    if (read.whole) break;
  }
  return read;
}

}  // namespace gpubound
