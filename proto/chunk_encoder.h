// SPDX-License-Identifier: Apache-2.0
//
// From a batch of slots or records to the body of one chunk (proto/trace.proto) and the row that
// stands beside it. It runs inside somebody's program: it never throws, and once its buffers have
// grown to the largest batch it allocates nothing.
//
// Thread rule: one thread at a time (the flusher's).
#ifndef GPUBOUND_PROTO_CHUNK_ENCODER_H_
#define GPUBOUND_PROTO_CHUNK_ENCODER_H_

#include <cstdint>
#include <memory>
#include <span>

#include "proto/chunk_row.h"
#include "proto/clock_conversion.h"
#include "proto/event_model.h"

namespace gpubound {

// Who wrote the batch, and where in that writer's sequence it stands.
struct ChunkMeta {
  uint32_t thread = 0;          // ordinal of the writer
  uint64_t first_sequence = 0;  // number of the batch's first slot or record
  uint64_t dropped_before = 0;  // events of this writer and family dropped just before
  // Thread batches: no event is stored earlier than this. Give the writer's previous chunk's
  // max_ns, so that time does not run backwards between two drains either.
  int64_t not_before_ns = INT64_MIN;
};

struct EncodedChunk : ChunkRow {
  bool ok = false;                // false: out of memory, or a batch beyond kMaxChunkRawBytes
  uint64_t clock_backwards = 0;   // thread events moved forward to their predecessor's time
  uint64_t inverted_records = 0;  // records with end < start, stored with duration 0
  uint64_t invalid_slots = 0;     // slots of no known kind, skipped (never written by our threads)
  // Thread batches: the labels of the scopes open after the last event, outermost first; what the
  // next batch of the same thread begins with.
  std::span<const uint32_t> open_labels_after;
};

class ChunkEncoder {
 public:
  explicit ChunkEncoder(ChunkCompression compression = ChunkCompression::kNone) noexcept;
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  // Encodes |slots| up to the first head slot that is zero, so a live page may be passed up to its
  // end while its thread goes on writing: slots are loaded with acquire, and a head that is there
  // has its payload. `sequence_count` says how many slots were taken. A head whose payload lies
  // beyond the span is left for the next call. |open_labels|: scopes open before the first slot,
  // outermost first; at most kMaxOpenScopes, more are cut.
  //
  // Every result, and the spans in it, is valid until the next call on this object.
  EncodedChunk EncodeThread(const ChunkMeta& meta, uint64_t base_ticks,
                            std::span<const uint32_t> open_labels, std::span<const Slot> slots,
                            const ClockConversion& ticks_to_ns) noexcept;

  // |source_to_ns| converts the device source's clock.
  EncodedChunk EncodeApi(const ChunkMeta& meta, std::span<const ApiRecord> records,
                         const ClockConversion& source_to_ns) noexcept;
  EncodedChunk EncodeDevice(const ChunkMeta& meta, std::span<const DeviceRecord> records,
                            const ClockConversion& source_to_ns) noexcept;
  EncodedChunk EncodeSync(const ChunkMeta& meta, std::span<const SyncRecord> records,
                          const ClockConversion& source_to_ns) noexcept;
  EncodedChunk EncodeOverhead(const ChunkMeta& meta, std::span<const OverheadRecord> records,
                              const ClockConversion& source_to_ns) noexcept;
  // Not of a source: the identity converts them.
  EncodedChunk EncodeCpuTime(const ChunkMeta& meta, std::span<const CpuTimeRecord> records,
                             const ClockConversion& to_ns) noexcept;
  EncodedChunk EncodeStack(const ChunkMeta& meta, std::span<const StackRecord> records,
                           const ClockConversion& to_ns) noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;  // null: out of memory at construction, every call answers !ok
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_CHUNK_ENCODER_H_
