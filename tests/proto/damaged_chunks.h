// SPDX-License-Identifier: Apache-2.0
//
// A sound chunk of each family and the verbs to damage it. Damage inside the message is done with
// protoc's classes, so that only the intended thing is wrong.
#ifndef GPUBOUND_TESTS_PROTO_DAMAGED_CHUNKS_H_
#define GPUBOUND_TESTS_PROTO_DAMAGED_CHUNKS_H_

#include <functional>
#include <string>
#include <vector>

#include "proto/crc32c.h"
#include "proto/trace.pb.h"
#include "tests/proto/chunk_samples.h"

namespace gpubound {

class ChunkDamage : public testing::Test {
 protected:
  ChunkDamage() {
    Dice dice(21);
    SlotWriter writer;
    writer.Begin(5, 1).Begin(6, 2).End(6, 3).Put(SlotKind::kStep, 7, 4, 99).End(5, 5);
    writer.Put(SlotKind::kCounter, 8, 6, 98).Begin(9, 7);
    Keep(&thread, encoder.EncodeThread(meta, 100, std::vector<uint32_t>{3}, writer.slots(), clock));
    Keep(&api, encoder.EncodeApi(meta, RandomRecords<ApiRecord>(&dice, 20, RandomApi), clock));
    Keep(&device,
         encoder.EncodeDevice(meta, RandomRecords<DeviceRecord>(&dice, 20, RandomDevice), clock));
    Keep(&sync, encoder.EncodeSync(meta, RandomRecords<SyncRecord>(&dice, 20, RandomSync), clock));
    Keep(&overhead, encoder.EncodeOverhead(
                        meta, RandomRecords<OverheadRecord>(&dice, 20, RandomOverhead), clock));
    Keep(&cpu_time, encoder.EncodeCpuTime(
                        meta, RandomRecords<CpuTimeRecord>(&dice, 20, RandomCpuTime), clock));
    Keep(&stack,
         encoder.EncodeStack(meta, RandomRecords<StackRecord>(&dice, 20, RandomStack), clock));
  }

  struct Stored {
    ChunkRow row;
    std::string body;
  };
  static void Keep(Stored* stored, const EncodedChunk& chunk) {
    ASSERT_TRUE(chunk.ok);
    stored->row = chunk;
    stored->body.assign(reinterpret_cast<const char*>(chunk.body.data()), chunk.body.size());
  }
  std::vector<Stored*> All() {
    return {&thread, &api, &device, &sync, &overhead, &cpu_time, &stack};
  }

  // Decodes from memory of exactly the body's length.
  ChunkStatus DecodeBody(ChunkRow row, const std::string& body) {
    const std::vector<std::byte> exact(
        reinterpret_cast<const std::byte*>(body.data()),
        reinterpret_cast<const std::byte*>(body.data()) + body.size());
    row.body = exact;
    switch (row.family) {
      case EventFamily::kApi:
        return Decode(row, &api_events);
      case EventFamily::kDevice:
        return Decode(row, &device_events);
      case EventFamily::kSync:
        return Decode(row, &sync_events);
      case EventFamily::kOverhead:
        return Decode(row, &overhead_events);
      case EventFamily::kCpuTime:
        return Decode(row, &cpu_time_events);
      case EventFamily::kStack:
        return Decode(row, &stack_events);
      default:
        return Decode(row, &thread_events);
    }
  }
  template <typename Events>
  ChunkStatus Decode(const ChunkRow& row, Events* events) {
    const ChunkStatus status = decoder.Decode(row, events);
    EXPECT_EQ(status.events_expected, row.event_count);
    EXPECT_EQ(status.events_lost, status.ok() ? 0 : row.event_count);
    EXPECT_EQ(events->size(), status.ok() ? row.event_count : 0);
    EXPECT_EQ(status.ok(), *status.what == '\0');
    return status;
  }
  // The same with the row made to fit: what a faulty writer, not a faulty disk, would leave.
  ChunkStatus DecodeFitting(const Stored& stored, const std::string& body) {
    ChunkRow row = stored.row;
    row.raw_bytes = body.size();
    row.crc = Crc32c(std::as_bytes(std::span(body)));
    const ChunkStatus status = DecodeBody(row, body);
    EXPECT_LE(status.offset, body.size());
    return status;
  }
  ChunkStatus Change(const Stored& stored, const std::function<void(proto::Chunk*)>& change) {
    proto::Chunk message;
    EXPECT_TRUE(message.ParseFromString(stored.body));
    change(&message);
    return DecodeFitting(stored, message.SerializeAsString());
  }
  void ExpectRefused(const Stored& stored, ChunkError error, const char* what,
                     const std::function<void(proto::Chunk*)>& change) {
    const ChunkStatus status = Change(stored, change);
    EXPECT_EQ(status.error, error) << ChunkErrorName(status.error) << ": " << status.what;
    EXPECT_STREQ(status.what, what);
  }

  static constexpr const char* kFewer = "a column has fewer values than the chunk has events";
  static constexpr const char* kMore = "a column has more values than the chunk has events";
  static constexpr const char* kRange = "a value is out of range";

  ChunkMeta meta{.thread = 2, .first_sequence = 50, .dropped_before = 1};
  ClockConversion clock = TscConversion();
  ChunkEncoder encoder;
  ChunkDecoder decoder;
  Stored thread, api, device, sync, overhead, cpu_time, stack;
  ThreadEvents thread_events;
  ApiEvents api_events;
  DeviceEvents device_events;
  SyncEvents sync_events;
  OverheadEvents overhead_events;
  CpuTimeEvents cpu_time_events;
  StackEvents stack_events;
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_PROTO_DAMAGED_CHUNKS_H_
