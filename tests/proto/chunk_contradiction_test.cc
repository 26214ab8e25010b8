// SPDX-License-Identifier: Apache-2.0
//
// Well-formed messages that contradict themselves: every rule of the format, broken one at a time.
#include "tests/proto/damaged_chunks.h"

namespace gpubound {
namespace {

using ChunkContradiction = ChunkDamage;

TEST_F(ChunkContradiction, OfTheVersionIsCaught) {
  ExpectRefused(api, ChunkError::kUnknownVersion, "the chunk version is not known",
                [](proto::Chunk* c) { c->set_version(2); });
  ExpectRefused(api, ChunkError::kUnknownVersion, "the chunk states no version",
                [](proto::Chunk* c) { c->set_version(0); });
}

TEST_F(ChunkContradiction, OfTheHeaderIsCaught) {
  const char* disagree = "the chunk and its row disagree";
  ExpectRefused(api, ChunkError::kStructure, disagree, [](proto::Chunk* c) { c->set_family(1); });
  ExpectRefused(api, ChunkError::kStructure, disagree,
                [](proto::Chunk* c) { c->set_event_count(19); });
  ExpectRefused(api, ChunkError::kStructure, "a body of another family, or a second one",
                [](proto::Chunk* c) { c->mutable_sync(); });
  EXPECT_EQ(DecodeFitting(thread, thread.body + thread.body).error, ChunkError::kStructure);
  EXPECT_EQ(DecodeFitting(thread, std::string("\x0d\x01\x01\x01\x01", 5) + thread.body).error,
            ChunkError::kStructure);  // version as fixed32
  EXPECT_EQ(DecodeFitting(thread, std::string("\x03", 1) + thread.body).error,
            ChunkError::kStructure);  // a group
  EXPECT_EQ(DecodeFitting(thread, std::string("\x00", 1) + thread.body).error,
            ChunkError::kStructure);  // field number 0
  EXPECT_EQ(DecodeFitting(thread, thread.body + std::string("\x3a\x02\x08\x80", 4)).error,
            ChunkError::kTruncated);  // a knot that ends early
}

TEST_F(ChunkContradiction, OfColumnsThatAreNotPackedIsCaught) {
  const auto with_body = [this](const std::string& columns) {
    std::string body = "\x08\x01\x10\x01";
    body += std::string("\x82\x01", 2) + static_cast<char>(columns.size()) + columns;
    Stored stored = thread;
    stored.row.event_count = 0;
    stored.row.sequence_count = 0;
    stored.row.thread = 0;
    stored.row.first_sequence = 0;
    return DecodeFitting(stored, body);
  };
  EXPECT_TRUE(with_body("").ok());
  EXPECT_STREQ(with_body("\x10\x02").what, "a column is not packed, or comes twice");
  EXPECT_STREQ(with_body(std::string("\x12\x00\x12\x00", 4)).what,
               "a column is not packed, or comes twice");
  EXPECT_STREQ(with_body("\x12\x05").what, "a column is broken");
}

TEST_F(ChunkContradiction, OfOpenLabelsIsCaught) {
  ExpectRefused(thread, ChunkError::kStructure, "too many open scopes", [](proto::Chunk* c) {
    for (uint32_t i = 0; i < kMaxOpenScopes; ++i) c->mutable_thread_events()->add_open_label(i);
  });
  ExpectRefused(thread, ChunkError::kStructure, "an open scope's label is out of range",
                [](proto::Chunk* c) { c->mutable_thread_events()->set_open_label(0, kMaxLabels); });
}

TEST_F(ChunkContradiction, OfThreadColumnsIsCaught) {
  const auto columns = [](proto::Chunk* c) { return c->mutable_thread_events(); };
  ExpectRefused(thread, ChunkError::kTruncated, kFewer,
                [&](proto::Chunk* c) { columns(c)->mutable_time()->RemoveLast(); });
  ExpectRefused(thread, ChunkError::kTruncated, kFewer,
                [&](proto::Chunk* c) { columns(c)->mutable_code()->RemoveLast(); });
  ExpectRefused(thread, ChunkError::kTruncated, "fewer payloads than events that have one",
                [&](proto::Chunk* c) { columns(c)->mutable_payload()->RemoveLast(); });
  ExpectRefused(thread, ChunkError::kStructure, kMore,
                [&](proto::Chunk* c) { columns(c)->add_time(2); });
  ExpectRefused(thread, ChunkError::kStructure, kMore,
                [&](proto::Chunk* c) { columns(c)->add_code(0x11); });
  ExpectRefused(thread, ChunkError::kStructure, kMore,
                [&](proto::Chunk* c) { columns(c)->add_payload(1); });
  const char* kind = "an event of no known kind, or with a label out of range";
  for (uint32_t code : {0x10u, 1u << 24 | 1u}) {
    ExpectRefused(thread, ChunkError::kStructure, kind,
                  [&](proto::Chunk* c) { columns(c)->set_code(1, code); });
  }
  ExpectRefused(thread, ChunkError::kStructure, "an end of the innermost scope while none is open",
                [&](proto::Chunk* c) {
                  columns(c)->clear_open_label();
                  columns(c)->set_time(0, 1);
                  columns(c)->mutable_code()->RemoveLast();
                });
  ExpectRefused(thread, ChunkError::kStructure, "times leave the range of the timeline",
                [&](proto::Chunk* c) { columns(c)->set_time(0, UINT64_MAX - 1); });
}

TEST_F(ChunkContradiction, ThatPromisesMoreEventsThanSlotsIsCaught) {
  Stored stored = thread;
  stored.row.sequence_count = 8;
  ExpectRefused(stored, ChunkError::kStructure, "more events than slots",
                [](proto::Chunk* c) { c->set_sequence_count(8); });
  stored = api;
  stored.row.sequence_count = 21;
  ExpectRefused(stored, ChunkError::kStructure, "records and sequence numbers differ",
                [](proto::Chunk* c) { c->set_sequence_count(21); });
}

TEST_F(ChunkContradiction, ThatPromisesHugeCountsAllocatesNothing) {
  for (const Stored* stored : All()) {
    Stored huge = *stored;
    huge.row.event_count = huge.row.sequence_count = uint64_t{1} << 60;
    ExpectRefused(huge, ChunkError::kTruncated, kFewer, [](proto::Chunk* c) {
      c->set_event_count(uint64_t{1} << 60);
      c->set_sequence_count(uint64_t{1} << 60);
    });
  }
}

TEST_F(ChunkContradiction, OfColumnsThatEndEarlyIsCaughtInEveryColumn) {
  for (const Stored* stored : All()) {
    proto::Chunk intact;
    ASSERT_TRUE(intact.ParseFromString(stored->body));
    const auto* columns_field = intact.GetReflection()->GetOneofFieldDescriptor(
        intact, intact.GetDescriptor()->FindOneofByName("body"));
    ASSERT_NE(columns_field, nullptr);
    const auto* type = columns_field->message_type();
    for (int f = 0; f < type->field_count(); ++f) {
      const auto* field = type->field(f);
      const auto& columns = intact.GetReflection()->GetMessage(intact, columns_field);
      if (!field->is_repeated() || field->name() == "open_label" ||
          columns.GetReflection()->FieldSize(columns, field) == 0) {
        continue;
      }
      const ChunkStatus status = Change(*stored, [&](proto::Chunk* chunk) {
        auto* mutable_columns = chunk->GetReflection()->MutableMessage(chunk, columns_field);
        mutable_columns->GetReflection()->RemoveLast(mutable_columns, field);
      });
      EXPECT_FALSE(status.ok()) << type->name() << "." << field->name();
    }
  }
}

TEST_F(ChunkContradiction, OfApiColumnsIsCaught) {
  ExpectRefused(api, ChunkError::kStructure, "the columns of distinct calls differ in length",
                [](proto::Chunk* c) { c->mutable_api()->add_call_tid(1); });
  ExpectRefused(api, ChunkError::kStructure, "a call that is not in the chunk's list",
                [](proto::Chunk* c) {
                  c->mutable_api()->set_call(19, static_cast<uint32_t>(c->api().call_tid_size()));
                });
  ExpectRefused(api, ChunkError::kStructure, kRange,
                [](proto::Chunk* c) { c->mutable_api()->set_call_label(0, kMaxLabels); });
  ExpectRefused(api, ChunkError::kStructure, kMore,
                [](proto::Chunk* c) { c->mutable_api()->add_start(1); });
  ExpectRefused(api, ChunkError::kStructure, kMore,
                [](proto::Chunk* c) { c->mutable_api()->add_call(0); });
  ExpectRefused(api, ChunkError::kStructure, "a record ends outside the range of the timeline",
                [](proto::Chunk* c) { c->mutable_api()->set_duration(3, UINT64_MAX); });
  ExpectRefused(api, ChunkError::kStructure, "a record ends outside the range of the timeline",
                [](proto::Chunk* c) { c->mutable_api()->set_duration(3, INT64_MAX); });
}

TEST_F(ChunkContradiction, OfDeviceColumnsIsCaught) {
  const char* item = "a stream that is not in the chunk's list, or a work id out of range";
  ExpectRefused(device, ChunkError::kStructure, item,
                [](proto::Chunk* c) { c->mutable_device()->set_item(0, UINT64_MAX - 1); });
  ExpectRefused(device, ChunkError::kStructure, item,
                [](proto::Chunk* c) { c->mutable_device()->clear_stream_id(); });
  ExpectRefused(device, ChunkError::kStructure, kMore,
                [](proto::Chunk* c) { c->mutable_device()->add_bytes(1); });
  ExpectRefused(device, ChunkError::kStructure, kMore,
                [](proto::Chunk* c) { c->mutable_device()->add_item(1); });
}

TEST_F(ChunkContradiction, OfValuesBeyond32BitsIsCaught) {
  // 0x80 0x80 0x80 0x80 0x10 is 2^32: protoc would cut it, so the bytes are written by hand.
  std::string body = overhead.body;
  proto::Chunk message;
  ASSERT_TRUE(message.ParseFromString(body));
  auto* columns = message.mutable_overhead();
  columns->clear_tid();
  std::string tids(19, '\x01');
  tids += std::string("\x80\x80\x80\x80\x10", 5);
  columns->GetReflection()->MutableUnknownFields(columns)->AddLengthDelimited(4, tids);
  const ChunkStatus status = DecodeFitting(overhead, message.SerializeAsString());
  EXPECT_EQ(status.error, ChunkError::kStructure);
  EXPECT_STREQ(status.what, kRange);
}

TEST_F(ChunkContradiction, OfAVarintThatNeverEndsIsCaught) {
  proto::Chunk message;
  ASSERT_TRUE(message.ParseFromString(overhead.body));
  auto* columns = message.mutable_overhead();
  columns->clear_tid();
  columns->GetReflection()->MutableUnknownFields(columns)->AddLengthDelimited(
      4, std::string(11, '\x80') + std::string(30, '\x01'));
  const ChunkStatus status = DecodeFitting(overhead, message.SerializeAsString());
  EXPECT_EQ(status.error, ChunkError::kStructure);
  EXPECT_STREQ(status.what, "a column holds a malformed varint");
}

TEST_F(ChunkContradiction, LeavesTheDecoderFitForTheNextChunk) {
  EXPECT_FALSE(DecodeFitting(thread, thread.body.substr(0, 20)).ok());
  EXPECT_TRUE(DecodeBody(thread.row, thread.body).ok());
}

}  // namespace
}  // namespace gpubound
