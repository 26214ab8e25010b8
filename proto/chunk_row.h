// SPDX-License-Identifier: Apache-2.0
//
// One row of table `chunk` (proto/schema.h): what stands beside a chunk's body in the database. The
// encoder fills it, the sink stores it, the reader loads it and hands it to the decoder.
// Plain data; `body` does not own its bytes.
#ifndef GPUBOUND_PROTO_CHUNK_ROW_H_
#define GPUBOUND_PROTO_CHUNK_ROW_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/event_model.h"
#include "proto/schema.h"

namespace gpubound {

// Version of the Chunk message (field 1). A decoder refuses any other.
inline constexpr uint32_t kChunkVersion = 1;

// No chunk is larger before compression; a decoder refuses one that claims to be.
inline constexpr uint32_t kMaxChunkRawBytes = 64u << 20;

struct ChunkRow {
  EventFamily family = EventFamily::kNone;
  uint32_t thread = 0;  // ordinal of the writer
  uint64_t first_sequence = 0;
  uint64_t sequence_count = 0;  // slots, payload slots included; or records
  uint64_t event_count = 0;     // slots without payload slots; or records
  int64_t min_ns = 0;           // earliest begin, trace time; 0 without events
  int64_t max_ns = 0;           // latest end
  ChunkCompression compression = ChunkCompression::kNone;
  uint64_t raw_bytes = 0;  // of the body before compression
  uint32_t crc = 0;        // CRC-32C of `body`, as stored
  std::span<const std::byte> body;
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_CHUNK_ROW_H_
