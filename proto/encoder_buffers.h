// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the encoder share: the buffers that are kept from one chunk to the next, and
// the list of a chunk's columns on its way to the framing. Internal to ChunkEncoder.
//
// Thread rule: one thread at a time per object. Never throws.
#ifndef GPUBOUND_PROTO_ENCODER_BUFFERS_H_
#define GPUBOUND_PROTO_ENCODER_BUFFERS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/byte_buffer.h"
#include "proto/chunk_encoder.h"
#include "proto/compress.h"
#include "proto/distinct_table.h"
#include "proto/encode_loops.h"
#include "proto/scope_stack.h"
#include "proto/varint_column.h"

namespace gpubound {

inline constexpr size_t kMaxColumns = 8;

// Asks for |bytes| from |from| on, not beyond |end|. Pages come from other cores' caches or from
// memory, and the processor's own prefetching stops at every 4 KiB.
template <typename T>
void PrefetchBytes(const T* from, const T* end, size_t bytes) {
  const auto first = reinterpret_cast<uintptr_t>(from);
  const auto last = std::min(first + bytes, reinterpret_cast<uintptr_t>(end));
  for (uintptr_t at = first; at < last; at += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(at));
  }
}

// What makes two API calls the same row of `call`.
struct CallKey {
  uint32_t label;
  uint32_t tid;
  int32_t result;
  friend bool operator==(const CallKey&, const CallKey&) = default;
  uint64_t Hash() const {
    return ((uint64_t{label} << 32 | tid) ^ static_cast<uint32_t>(result)) * 0x9e3779b97f4a7c15;
  }
};

struct StreamKey {
  uint32_t stream;
  friend bool operator==(const StreamKey&, const StreamKey&) = default;
  uint64_t Hash() const { return stream * 0x9e3779b97f4a7c15; }
};

struct EncoderBuffers {
  const VarintCodec* codec = &BestVarintCodec();
  const EncodeLoops* loops = &BestEncodeLoops();
  VarintColumn columns[kMaxColumns];
  alignas(64) uint64_t blocks[kMaxColumns][kBlockValues];
  ByteBuffer payload;  // fixed64 column of thread events
  ScopeStack open;     // follows the thread through the batch
  uint32_t open_before[kMaxOpenScopes];
  DistinctTable<CallKey> calls;
  DistinctTable<StreamKey> streams;
  ByteBuffer stream_numbers;  // uint32_t per record
};

// The columns of one chunk, ready to be framed. Fields in the order of their numbers.
struct ChunkColumns {
  struct Packed {
    uint32_t field;
    std::span<const uint8_t> bytes;
  };
  struct Scalar {
    uint32_t field;
    uint64_t value;
  };
  uint32_t body_field = 0;
  int64_t base_ns = 0;
  uint64_t first_clock = 0;  // the range of clock values whose conversion is to be sealed
  uint64_t last_clock = 0;
  Packed packed[kMaxColumns] = {};
  size_t packed_count = 0;
  Scalar scalars[kMaxColumns] = {};
  size_t scalar_count = 0;

  void Add(uint32_t field, std::span<const uint8_t> bytes) {
    packed[packed_count++] = {field, bytes};
  }
  void Add(uint32_t field, const VarintColumn& column) { Add(field, column.bytes()); }
  void AddCommon(uint32_t field, const VarintColumn& column) {
    scalars[scalar_count++] = {field, column.common()};
  }
};

// Each fills |row|'s counts, times and trouble counters, and |columns|. False: out of memory.
bool EncodeThreadColumns(EncoderBuffers* buffers, const ChunkMeta& meta, uint64_t base_ticks,
                         std::span<const uint32_t> open_labels, std::span<const Slot> slots,
                         const ClockConversion& conversion, EncodedChunk* row,
                         ChunkColumns* columns) noexcept;
bool EncodeApiColumns(EncoderBuffers* buffers, std::span<const ApiRecord> records,
                      const ClockConversion& conversion, EncodedChunk* row,
                      ChunkColumns* columns) noexcept;
bool EncodeDeviceColumns(EncoderBuffers* buffers, std::span<const DeviceRecord> records,
                         const ClockConversion& conversion, EncodedChunk* row,
                         ChunkColumns* columns) noexcept;
bool EncodeSyncColumns(EncoderBuffers* buffers, std::span<const SyncRecord> records,
                       const ClockConversion& conversion, EncodedChunk* row,
                       ChunkColumns* columns) noexcept;
bool EncodeOverheadColumns(EncoderBuffers* buffers, std::span<const OverheadRecord> records,
                           const ClockConversion& conversion, EncodedChunk* row,
                           ChunkColumns* columns) noexcept;
bool EncodeCpuTimeColumns(EncoderBuffers* buffers, std::span<const CpuTimeRecord> records,
                          const ClockConversion& conversion, EncodedChunk* row,
                          ChunkColumns* columns) noexcept;
bool EncodeStackColumns(EncoderBuffers* buffers, std::span<const StackRecord> records,
                        const ClockConversion& conversion, EncodedChunk* row,
                        ChunkColumns* columns) noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_ENCODER_BUFFERS_H_
