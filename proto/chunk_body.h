// SPDX-License-Identifier: Apache-2.0
//
// A chunk that was checked and taken apart as far as its columns: what the decoders of the families
// start from. Internal to ChunkDecoder.
//
// Thread rule: one thread at a time per object.
#ifndef GPUBOUND_PROTO_CHUNK_BODY_H_
#define GPUBOUND_PROTO_CHUNK_BODY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/chunk_decoder.h"
#include "proto/column_reader.h"
#include "proto/compress.h"

namespace gpubound {

// Which fields a family's message has: bit f for field f. A packed field is a column, a scalar
// field the common value of one.
struct BodyShape {
  EventFamily family;
  uint32_t body_field;
  uint32_t packed;
  uint32_t scalars;
};
inline constexpr uint32_t kBodyFields = 32;

class ChunkBody {
 public:
  // Checks |row| and takes it apart; its header fields go to |header|. False: see status().
  bool Open(const ChunkRow& row, const BodyShape& shape, ChunkHeader* header);

  const ChunkStatus& status() const { return status_; }
  uint64_t event_count() const { return event_count_; }
  uint64_t sequence_count() const { return sequence_count_; }
  int64_t base_ns() const { return base_ns_; }

  // The column of |field|; without |all_field| it is always written out.
  ColumnReader Column(uint32_t field) const;
  ColumnReader Column(uint32_t field, uint32_t all_field) const;
  // A column of eight-byte values.
  std::span<const uint8_t> Fixed(uint32_t field) const { return packed_[field]; }
  uint64_t Scalar(uint32_t field) const { return scalars_[field]; }
  const uint8_t* FieldBegin(uint32_t field) const { return field_begin_[field]; }

  // Records the first trouble, at |at| in the uncompressed body, and returns false.
  bool Fail(ChunkError error, const uint8_t* at, const char* what);

  // Fail() for a column that could not be read to its end: it ended early or is malformed.
  bool FailColumn(const ColumnReader& column);

  // Fail() at the first value of |column| that is not below |limit|.
  bool FailLimit(const ColumnReader& column, uint64_t limit, const char* what);

 private:
  bool CheckRow(const ChunkRow& row, const BodyShape& shape);
  bool ReadHeader(const BodyShape& shape, ChunkHeader* header, std::span<const uint8_t>* body);
  bool ReadKnot(std::span<const uint8_t> message, ChunkHeader* header);
  bool ReadFields(const BodyShape& shape, std::span<const uint8_t> body);
  bool CheckHeader(const ChunkRow& row, const ChunkHeader& header);

  const VarintCodec* codec_ = &BestVarintCodec();
  Decompressor decompressor_;
  ByteBuffer decompressed_;
  std::span<const uint8_t> message_;
  ChunkStatus status_;
  uint32_t family_ = 0;
  uint64_t version_ = 0;
  uint64_t event_count_ = 0;
  uint64_t sequence_count_ = 0;
  int64_t base_ns_ = 0;
  std::span<const uint8_t> packed_[kBodyFields];
  uint64_t scalars_[kBodyFields] = {};
  const uint8_t* field_begin_[kBodyFields] = {};
};

// Scratch that the families' decoders keep between chunks.
struct DecoderScratch {
  ChunkBody body;
  alignas(64) ValueBlock blocks[8];
  std::vector<uint64_t> tables[3];
};

// Decode the columns of an open body into |events|. False: see body.status(); |events| may then
// hold anything.
bool DecodeThreadColumns(DecoderScratch* scratch, ThreadEvents* events);
bool DecodeApiColumns(DecoderScratch* scratch, ApiEvents* events);
bool DecodeDeviceColumns(DecoderScratch* scratch, DeviceEvents* events);
bool DecodeSyncColumns(DecoderScratch* scratch, SyncEvents* events);
bool DecodeOverheadColumns(DecoderScratch* scratch, OverheadEvents* events);
bool DecodeCpuTimeColumns(DecoderScratch* scratch, CpuTimeEvents* events);
bool DecodeStackColumns(DecoderScratch* scratch, StackEvents* events);

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_CHUNK_BODY_H_
