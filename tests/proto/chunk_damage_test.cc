// SPDX-License-Identifier: Apache-2.0
//
// Damaged bytes and rows: cut at every byte, flipped at every bit, a row that is not its body's.
#include "tests/proto/damaged_chunks.h"

namespace gpubound {
namespace {

TEST_F(ChunkDamage, IsNotThereBeforehand) {
  for (const Stored* stored : All()) EXPECT_TRUE(DecodeBody(stored->row, stored->body).ok());
}

TEST_F(ChunkDamage, OfOneBitAnywhereIsCaughtByTheChecksum) {
  for (const Stored* stored : All()) {
    for (size_t bit = 0; bit < 8 * stored->body.size(); ++bit) {
      std::string body = stored->body;
      body[bit / 8] = static_cast<char>(body[bit / 8] ^ (1 << bit % 8));
      EXPECT_EQ(DecodeBody(stored->row, body).error, ChunkError::kBadCrc);
    }
  }
}

TEST_F(ChunkDamage, OfOneBitBehindAValidChecksumNeverEscapes) {
  for (const Stored* stored : All()) {
    for (size_t bit = 0; bit < 8 * stored->body.size(); ++bit) {
      std::string body = stored->body;
      body[bit / 8] = static_cast<char>(body[bit / 8] ^ (1 << bit % 8));
      DecodeFitting(*stored, body);  // sound or refused; Decode() checks that it is one of them
    }
  }
}

TEST_F(ChunkDamage, ByTruncationAtAnyByteIsCaught) {
  for (const Stored* stored : All()) {
    for (size_t size = 0; size < stored->body.size(); ++size) {
      EXPECT_EQ(DecodeBody(stored->row, stored->body.substr(0, size)).error, ChunkError::kBadCrc);
      EXPECT_FALSE(DecodeFitting(*stored, stored->body.substr(0, size)).ok()) << size;
    }
  }
}

TEST_F(ChunkDamage, ByTruncationNamesTheBrokenField) {
  const ChunkStatus status = DecodeFitting(thread, thread.body.substr(0, thread.body.size() - 1));
  EXPECT_EQ(status.error, ChunkError::kTruncated);
  EXPECT_GT(status.offset, 10u);
}

TEST_F(ChunkDamage, OfTheRowIsCaught) {
  const auto expect = [this](ChunkError error, const std::function<void(ChunkRow*)>& change) {
    ChunkRow row = thread.row;
    change(&row);
    EXPECT_EQ(DecodeBody(row, thread.body).error, error);
  };
  expect(ChunkError::kBadCrc, [](ChunkRow* row) { row->crc ^= 1; });
  expect(ChunkError::kTruncated, [](ChunkRow* row) { row->raw_bytes += 1; });
  expect(ChunkError::kStructure, [](ChunkRow* row) { row->raw_bytes = kMaxChunkRawBytes + 1; });
  expect(ChunkError::kStructure, [](ChunkRow* row) { row->thread += 1; });
  expect(ChunkError::kStructure, [](ChunkRow* row) { row->first_sequence += 1; });
  expect(ChunkError::kStructure, [](ChunkRow* row) { row->sequence_count += 1; });
  expect(ChunkError::kStructure, [](ChunkRow* row) { row->event_count += 1; });
  expect(ChunkError::kStructure, [](ChunkRow* row) { row->family = EventFamily::kNone; });
  expect(ChunkError::kStructure, [](ChunkRow* row) { row->family = EventFamily::kApi; });
  expect(ChunkError::kUnknownVersion,
         [](ChunkRow* row) { row->compression = ChunkCompression::kLz4; });
  expect(ChunkError::kUnknownVersion,
         [](ChunkRow* row) { row->compression = static_cast<ChunkCompression>(9); });
  expect(ChunkError::kStructure, [](ChunkRow* row) { row->compression = ChunkCompression::kZstd; });
}

TEST_F(ChunkDamage, OfCompressedBodiesIsCaught) {
  ChunkEncoder compressing(ChunkCompression::kZstd);
  SlotWriter writer;
  for (uint64_t i = 0; i < 300; ++i) writer.Begin(1 + i % 3, 20 * i).End(1 + i % 3, 20 * i + 9);
  Stored stored;
  Keep(&stored, compressing.EncodeThread(meta, 0, {}, writer.slots(), clock));
  ASSERT_EQ(stored.row.compression, ChunkCompression::kZstd);
  ASSERT_TRUE(DecodeBody(stored.row, stored.body).ok());
  const auto refuse = [&](ChunkRow row, const std::string& body) {
    row.crc = Crc32c(std::as_bytes(std::span(body)));
    EXPECT_EQ(DecodeBody(row, body).error, ChunkError::kStructure);
  };
  for (uint64_t raw_bytes : {stored.row.raw_bytes - 1, stored.row.raw_bytes + 1, uint64_t{0}}) {
    ChunkRow row = stored.row;
    row.raw_bytes = raw_bytes;
    refuse(row, stored.body);
  }
  for (size_t size = 0; size < stored.body.size(); ++size) {
    refuse(stored.row, stored.body.substr(0, size));
  }
}

TEST_F(ChunkDamage, IsNotWhatUnknownFieldsAre) {
  for (const Stored* stored : All()) {
    const ChunkStatus status = Change(*stored, [](proto::Chunk* chunk) {
      auto* unknown = chunk->GetReflection()->MutableUnknownFields(chunk);
      unknown->AddVarint(12, 5);
      unknown->AddVarint(2000, 5);
      unknown->AddFixed32(13, 5);
      unknown->AddFixed64(14, 5);
      unknown->AddLengthDelimited(15, "what a later version might say");
      chunk->mutable_clock(0)
          ->GetReflection()
          ->MutableUnknownFields(chunk->mutable_clock(0))
          ->AddVarint(3, 1);
    });
    EXPECT_TRUE(status.ok()) << status.what;
  }
  const ChunkStatus status = Change(thread, [](proto::Chunk* chunk) {
    auto* columns = chunk->mutable_thread_events();
    columns->GetReflection()->MutableUnknownFields(columns)->AddVarint(11, 1);
    columns->GetReflection()->MutableUnknownFields(columns)->AddLengthDelimited(200, "x");
  });
  EXPECT_TRUE(status.ok()) << status.what;
}

}  // namespace
}  // namespace gpubound
