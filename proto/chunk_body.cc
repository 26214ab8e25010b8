// SPDX-License-Identifier: Apache-2.0
//
// See chunk_body.h. Every check names the place of the first trouble.
#include "proto/chunk_body.h"

#include "proto/crc32c.h"
#include "proto/message_reader.h"

namespace gpubound {
namespace {

std::span<const uint8_t> AsUint8(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

ChunkError ErrorOf(MessageReader::Trouble trouble) {
  return trouble == MessageReader::Trouble::kEndsEarly ? ChunkError::kTruncated
                                                       : ChunkError::kStructure;
}

}  // namespace

bool ChunkBody::Fail(ChunkError error, const uint8_t* at, const char* what) {
  status_.error = error;
  status_.offset = at == nullptr ? 0 : static_cast<uint64_t>(at - message_.data());
  status_.events_lost = status_.events_expected;
  status_.what = what;
  return false;
}

bool ChunkBody::FailColumn(const ColumnReader& column) {
  const uint8_t* malformed = column.Find([](size_t, uint64_t) { return false; });
  const bool ends_early = malformed == nullptr || malformed == column.end() ||
                          CountVarints(malformed, column.end()) == 0;
  const uint8_t* at = malformed == nullptr ? column.field_begin() : malformed;
  return Fail(ends_early ? ChunkError::kTruncated : ChunkError::kStructure, at,
              ends_early ? "a column has fewer values than the chunk has events"
                         : "a column holds a malformed varint");
}

bool ChunkBody::FailLimit(const ColumnReader& column, uint64_t limit, const char* what) {
  const uint8_t* at = column.elided()
                          ? column.field_begin()
                          : column.Find([limit](size_t, uint64_t v) { return v >= limit; });
  return Fail(ChunkError::kStructure, at, what);
}

ColumnReader ChunkBody::Column(uint32_t field) const {
  return ColumnReader(codec_, packed_[field], field_begin_[field]);
}

ColumnReader ChunkBody::Column(uint32_t field, uint32_t all_field) const {
  if (!packed_[field].empty()) return Column(field);
  return ColumnReader(scalars_[all_field], field_begin_[all_field]);
}

bool ChunkBody::Open(const ChunkRow& row, const BodyShape& shape, ChunkHeader* header) {
  status_ = {};
  status_.events_expected = row.event_count;
  message_ = {};
  family_ = 0;
  version_ = 0;
  event_count_ = 0;
  sequence_count_ = 0;
  base_ns_ = 0;
  for (uint32_t field = 0; field < kBodyFields; ++field) {
    packed_[field] = {};
    scalars_[field] = 0;
    field_begin_[field] = nullptr;
  }
  header->thread = 0;
  header->first_sequence = 0;
  header->dropped_before = 0;
  header->clock.clear();
  if (!CheckRow(row, shape)) return false;
  std::span<const uint8_t> body;
  return ReadHeader(shape, header, &body) && CheckHeader(row, *header) && ReadFields(shape, body);
}

bool ChunkBody::CheckRow(const ChunkRow& row, const BodyShape& shape) {
  if (row.family != shape.family) {
    return Fail(ChunkError::kStructure, nullptr, "the row is of another family");
  }
  if (Crc32c(row.body) != row.crc) {
    return Fail(ChunkError::kBadCrc, nullptr, "the checksum does not match the stored bytes");
  }
  if (row.raw_bytes > kMaxChunkRawBytes) {
    return Fail(ChunkError::kStructure, nullptr, "the row claims more bytes than a chunk may have");
  }
  switch (row.compression) {
    case ChunkCompression::kNone:
      if (row.raw_bytes != row.body.size()) {
        return Fail(ChunkError::kTruncated, nullptr, "the row's length is not that of its body");
      }
      message_ = AsUint8(row.body);
      return true;
    case ChunkCompression::kZstd:
      if (!decompressor_.Decompress(row.compression, row.body, row.raw_bytes, &decompressed_)) {
        return Fail(ChunkError::kStructure, nullptr, "the body does not decompress as it should");
      }
      message_ = AsUint8(decompressed_.bytes());
      return true;
    default:
      return Fail(ChunkError::kUnknownVersion, nullptr, "the compression is not known");
  }
}

bool ChunkBody::ReadHeader(const BodyShape& shape, ChunkHeader* header,
                           std::span<const uint8_t>* body) {
  using Wire = MessageReader::WireType;
  // Field number -> its only wire type; the bodies of the families are 16..22.
  const auto wire_of = [](uint32_t field) -> uint32_t {
    if (field == 7 || (field >= 16 && field <= 22)) return Wire::kBytes;
    return Wire::kVarint;
  };
  MessageReader reader(message_);
  bool has_body = false;
  while (reader.Next()) {
    const uint32_t field = reader.field();
    if (field > 22 || (field > 9 && field < 16)) continue;
    if (reader.wire_type() != wire_of(field)) {
      return Fail(ChunkError::kStructure, reader.field_begin(), "a field has the wrong wire type");
    }
    switch (field) {
      case 1:
        version_ = reader.value();
        if (version_ != kChunkVersion) {
          return Fail(ChunkError::kUnknownVersion, reader.field_begin(),
                      "the chunk version is not known");
        }
        break;
      case 2:
        family_ = static_cast<uint32_t>(std::min<uint64_t>(reader.value(), UINT32_MAX));
        break;
      case 3:
        header->thread = static_cast<uint32_t>(reader.value());
        break;
      case 4:
        header->first_sequence = reader.value();
        break;
      case 5:
        event_count_ = reader.value();
        break;
      case 6:
        base_ns_ = static_cast<int64_t>(reader.value());
        break;
      case 7:
        if (!ReadKnot(reader.bytes(), header)) return false;
        break;
      case 8:
        header->dropped_before = reader.value();
        break;
      case 9:
        sequence_count_ = reader.value();
        break;
      default:
        if (field != shape.body_field || has_body) {
          return Fail(ChunkError::kStructure, reader.field_begin(),
                      "a body of another family, or a second one");
        }
        has_body = true;
        *body = reader.bytes();
    }
  }
  if (reader.trouble() != MessageReader::Trouble::kNone) {
    return Fail(ErrorOf(reader.trouble()), reader.field_begin(), "a field of the chunk is broken");
  }
  return true;
}

bool ChunkBody::ReadKnot(std::span<const uint8_t> message, ChunkHeader* header) {
  ClockKnot knot{0, 0};
  MessageReader reader(message);
  while (reader.Next()) {
    if (reader.wire_type() != MessageReader::kVarint) continue;
    if (reader.field() == 1) knot.clock = reader.value();
    if (reader.field() == 2) knot.monotonic_ns = static_cast<int64_t>(reader.value());
  }
  if (reader.trouble() != MessageReader::Trouble::kNone) {
    return Fail(ErrorOf(reader.trouble()), reader.field_begin(), "a clock knot is broken");
  }
  header->clock.push_back(knot);
  return true;
}

bool ChunkBody::CheckHeader(const ChunkRow& row, const ChunkHeader& header) {
  if (version_ != kChunkVersion) {
    return Fail(ChunkError::kUnknownVersion, message_.data(), "the chunk states no version");
  }
  if (family_ != static_cast<uint32_t>(row.family) || header.thread != row.thread ||
      header.first_sequence != row.first_sequence || event_count_ != row.event_count ||
      sequence_count_ != row.sequence_count) {
    return Fail(ChunkError::kStructure, message_.data(), "the chunk and its row disagree");
  }
  return true;
}

bool ChunkBody::ReadFields(const BodyShape& shape, std::span<const uint8_t> body) {
  MessageReader reader(body);
  while (reader.Next()) {
    const uint32_t field = reader.field();
    if (field >= kBodyFields) continue;
    const uint32_t bit = uint32_t{1} << field;
    if ((bit & (shape.packed | shape.scalars)) == 0) continue;
    const bool packed = (bit & shape.packed) != 0;
    const uint32_t wire_type = packed ? MessageReader::kBytes : MessageReader::kVarint;
    if (reader.wire_type() != wire_type || field_begin_[field] != nullptr) {
      return Fail(ChunkError::kStructure, reader.field_begin(),
                  "a column is not packed, or comes twice");
    }
    field_begin_[field] = reader.field_begin();
    if (packed) {
      packed_[field] = reader.bytes();
    } else {
      scalars_[field] = reader.value();
    }
  }
  if (reader.trouble() != MessageReader::Trouble::kNone) {
    return Fail(ErrorOf(reader.trouble()), reader.field_begin(), "a column is broken");
  }
  return true;
}

}  // namespace gpubound
