// SPDX-License-Identifier: Apache-2.0
//
// The frame around a chunk's columns: header fields, sealed clock knots, compression, CRC. Thread
// rule: that of ChunkEncoder.
#include "proto/chunk_encoder.h"

#include <new>

#include "proto/crc32c.h"
#include "proto/encoder_buffers.h"
#include "proto/message_writer.h"

namespace gpubound {
namespace {

// The header fields and the heads of the columns never need more than this, knots apart.
constexpr size_t kFrameBytes = 512;
constexpr size_t kKnotBytes = 32;

// Fields 1 and 2 of every body are its times (and the few open labels of a thread).
constexpr uint32_t kLastTimeField = 2;

void AddKnot(MessageWriter* writer, const ClockKnot& knot) {
  uint8_t bytes[kKnotBytes];
  uint8_t* end = bytes;
  if (knot.clock != 0) {
    *end++ = 1 << 3;
    end = PutVarint(knot.clock, end);
  }
  if (knot.monotonic_ns != 0) {
    *end++ = 2 << 3;
    end = PutVarint(static_cast<uint64_t>(knot.monotonic_ns), end);
  }
  writer->add_message(7, reinterpret_cast<const char*>(bytes), static_cast<size_t>(end - bytes));
}

// Bytes of a field's tag and, for packed columns, of its length.
size_t HeadSize(uint32_t field) { return VarintSize(uint64_t{field} << 3); }

size_t BodySize(const ChunkColumns& columns) {
  size_t size = 0;
  for (size_t i = 0; i < columns.packed_count; ++i) {
    const auto& packed = columns.packed[i];
    if (packed.bytes.empty()) continue;
    size += HeadSize(packed.field) + VarintSize(packed.bytes.size()) + packed.bytes.size();
  }
  for (size_t i = 0; i < columns.scalar_count; ++i) {
    const auto& scalar = columns.scalars[i];
    if (scalar.value != 0) size += HeadSize(scalar.field) + VarintSize(scalar.value);
  }
  return size;
}

void AddUnlessZero(MessageWriter* writer, uint32_t field, uint64_t value) {
  if (value != 0) writer->add_uint64(field, value);
}

// Returns where the columns of times end and those of names and ids begin.
size_t WriteMessage(const EncodedChunk& row, uint64_t dropped_before, const ChunkColumns& columns,
                    size_t body_size, std::span<const ClockKnot> knots, ByteBuffer* out) {
  MessageWriter writer(*out);
  writer.add_uint32(1, kChunkVersion);
  writer.add_uint32(2, static_cast<uint32_t>(row.family));
  AddUnlessZero(&writer, 3, row.thread);
  AddUnlessZero(&writer, 4, row.first_sequence);
  AddUnlessZero(&writer, 5, row.event_count);
  AddUnlessZero(&writer, 6, static_cast<uint64_t>(columns.base_ns));
  for (const ClockKnot& knot : knots) AddKnot(&writer, knot);
  AddUnlessZero(&writer, 8, dropped_before);
  AddUnlessZero(&writer, 9, row.sequence_count);
  size_t times_end = 0;
  if (body_size == 0) return times_end;
  MessageWriter body(writer, columns.body_field, body_size);
  for (size_t i = 0; i < columns.packed_count; ++i) {
    const auto& packed = columns.packed[i];
    if (packed.bytes.empty()) continue;
    body.add_bytes(packed.field, reinterpret_cast<const char*>(packed.bytes.data()),
                   packed.bytes.size());
    if (packed.field <= kLastTimeField) times_end = out->size();
  }
  for (size_t i = 0; i < columns.scalar_count; ++i) {
    AddUnlessZero(&body, columns.scalars[i].field, columns.scalars[i].value);
  }
  return times_end;
}

}  // namespace

class ChunkEncoder::Impl {
 public:
  explicit Impl(ChunkCompression compression) noexcept : compression_(compression) {}

  EncoderBuffers* buffers() { return &buffers_; }

  EncodedChunk Start(EventFamily family, const ChunkMeta& meta) {
    EncodedChunk row;
    row.family = family;
    row.thread = meta.thread;
    row.first_sequence = meta.first_sequence;
    return row;
  }

  void Finish(const ChunkMeta& meta, const ChunkColumns& columns, const ClockConversion& conversion,
              EncodedChunk* row) noexcept {
    const std::span<const ClockKnot> knots =
        row->event_count == 0 ? std::span<const ClockKnot>()
                              : conversion.KnotsFor(columns.first_clock, columns.last_clock);
    const size_t body_size = BodySize(columns);
    const size_t most = body_size + kFrameBytes + knots.size() * kKnotBytes;
    if (most > kMaxChunkRawBytes) return;
    message_.Clear();
    if (!message_.Reserve(most)) return;
    const size_t times_end =
        WriteMessage(*row, meta.dropped_before, columns, body_size, knots, &message_);
    row->raw_bytes = message_.size();
    row->body = message_.bytes();
    // A body that does not shrink is stored as it is.
    if (compression_ != ChunkCompression::kNone &&
        compressor_.Compress(compression_, message_.bytes(), times_end, &compressed_) &&
        compressed_.size() < message_.size()) {
      row->compression = compression_;
      row->body = compressed_.bytes();
    }
    row->crc = Crc32c(row->body);
    row->ok = true;
  }

 private:
  const ChunkCompression compression_;
  EncoderBuffers buffers_;
  ByteBuffer message_;
  ByteBuffer compressed_;
  Compressor compressor_;
};

ChunkEncoder::ChunkEncoder(ChunkCompression compression) noexcept
    : impl_(new(std::nothrow) Impl(compression)) {}
ChunkEncoder::~ChunkEncoder() = default;

EncodedChunk ChunkEncoder::EncodeThread(const ChunkMeta& meta, uint64_t base_ticks,
                                        std::span<const uint32_t> open_labels,
                                        std::span<const Slot> slots,
                                        const ClockConversion& ticks_to_ns) noexcept {
  if (impl_ == nullptr) return {};
  EncodedChunk row = impl_->Start(EventFamily::kThread, meta);
  ChunkColumns columns;
  if (EncodeThreadColumns(impl_->buffers(), meta, base_ticks, open_labels, slots, ticks_to_ns, &row,
                          &columns)) {
    impl_->Finish(meta, columns, ticks_to_ns, &row);
  }
  return row;
}

// The record families differ in the family's number and the function that makes its columns.
#define GPUBOUND_ENCODE_RECORDS(Name, Record)                                                     \
  EncodedChunk ChunkEncoder::Encode##Name(const ChunkMeta& meta, std::span<const Record> records, \
                                          const ClockConversion& source_to_ns) noexcept {         \
    if (impl_ == nullptr) return {};                                                              \
    EncodedChunk row = impl_->Start(EventFamily::k##Name, meta);                                  \
    ChunkColumns columns;                                                                         \
    if (Encode##Name##Columns(impl_->buffers(), records, source_to_ns, &row, &columns)) {         \
      impl_->Finish(meta, columns, source_to_ns, &row);                                           \
    }                                                                                             \
    return row;                                                                                   \
  }
GPUBOUND_ENCODE_RECORDS(Api, ApiRecord)
GPUBOUND_ENCODE_RECORDS(Device, DeviceRecord)
GPUBOUND_ENCODE_RECORDS(Sync, SyncRecord)
GPUBOUND_ENCODE_RECORDS(Overhead, OverheadRecord)
GPUBOUND_ENCODE_RECORDS(CpuTime, CpuTimeRecord)
GPUBOUND_ENCODE_RECORDS(Stack, StackRecord)
#undef GPUBOUND_ENCODE_RECORDS

}  // namespace gpubound
