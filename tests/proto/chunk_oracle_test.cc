// SPDX-License-Identifier: Apache-2.0
//
// protoc's own classes read every chunk: to the same events, and back to the same bytes. The events
// are rebuilt here from the text of proto/trace.proto, without the codec.
#include "proto/trace.pb.h"
#include "tests/proto/chunk_samples.h"

namespace gpubound {
namespace {

proto::Chunk Parse(const EncodedChunk& chunk) {
  proto::Chunk message;
  EXPECT_TRUE(chunk.ok);
  EXPECT_TRUE(message.ParseFromArray(chunk.body.data(), static_cast<int>(chunk.body.size())));
  const std::string again = message.SerializeAsString();
  EXPECT_EQ(again.size(), chunk.body.size());
  EXPECT_EQ(std::memcmp(again.data(), chunk.body.data(), again.size()), 0);
  EXPECT_EQ(message.version(), kChunkVersion);
  EXPECT_EQ(message.family(), static_cast<uint32_t>(chunk.family));
  EXPECT_EQ(message.event_count(), chunk.event_count);
  EXPECT_EQ(message.sequence_count(), chunk.sequence_count);
  return message;
}

// Value |i| of a column that is either written out or said once.
template <typename Column, typename Value>
Value Item(const Column& column, Value all, uint64_t i) {
  return column.empty() ? all : static_cast<Value>(column.at(static_cast<int>(i)));
}

std::vector<EventRow> Rebuild(const proto::Chunk& chunk) {
  const proto::ThreadColumns& columns = chunk.thread_events();
  std::vector<uint32_t> open(columns.open_label().begin(), columns.open_label().end());
  std::vector<EventRow> events;
  int64_t now = chunk.base_ns();
  int codes = 0;
  int payloads = 0;
  for (uint64_t time : columns.time()) {
    now += static_cast<int64_t>(time >> 1);
    if ((time & 1) != 0) {
      events.push_back({now, SlotKind::kEnd, open.back(), 0});
      open.pop_back();
      continue;
    }
    const uint32_t code = Item(columns.code(), columns.code_all(), static_cast<uint64_t>(codes++));
    const auto kind = static_cast<SlotKind>(code & 15);
    const uint32_t label = code >> 4;
    events.push_back({now, kind, label, HasPayload(kind) ? columns.payload(payloads++) : 0});
    if (kind == SlotKind::kBegin && open.size() < kMaxOpenScopes) open.push_back(label);
    if (kind == SlotKind::kEnd) {
      const auto at = std::find(open.rbegin(), open.rend(), label);
      if (at != open.rend()) open.erase(std::next(at).base());
    }
  }
  EXPECT_EQ(payloads, columns.payload_size());
  return events;
}

// The three columns that every record family has.
template <typename Columns, typename Events>
void RebuildCommon(const proto::Chunk& chunk, const Columns& columns, Events* events) {
  int64_t start = chunk.base_ns();
  uint32_t correlation = 0;
  for (uint64_t i = 0; i < chunk.event_count(); ++i) {
    start += columns.start(static_cast<int>(i));
    correlation +=
        1 + static_cast<uint32_t>(Item(columns.correlation(), columns.correlation_all(), i));
    events->start_ns.push_back(start);
    events->end_ns.push_back(
        start + static_cast<int64_t>(Item(columns.duration(), columns.duration_all(), i)));
    events->correlation.push_back(correlation);
  }
}

void Rebuild(const proto::Chunk& chunk, ApiEvents* events) {
  const proto::ApiColumns& columns = chunk.api();
  RebuildCommon(chunk, columns, events);
  for (uint64_t i = 0; i < chunk.event_count(); ++i) {
    const auto call = static_cast<int>(Item(columns.call(), columns.call_all(), i));
    events->label.push_back(static_cast<LabelId>(columns.call_label(call)));
    events->tid.push_back(columns.call_tid(call));
    events->result.push_back(columns.call_result(call));
  }
}

void Rebuild(const proto::Chunk& chunk, DeviceEvents* events) {
  const proto::DeviceColumns& columns = chunk.device();
  RebuildCommon(chunk, columns, events);
  int bits = 0;
  while ((1 << bits) < columns.stream_id_size()) ++bits;
  uint64_t detail = 0;
  uint64_t node = 0;
  for (uint64_t i = 0; i < chunk.event_count(); ++i) {
    const uint64_t item = Item(columns.item(), columns.item_all(), i);
    const auto stream = static_cast<int>((item >> 1) & ((uint64_t{1} << bits) - 1));
    events->stream.push_back(static_cast<StreamId>(columns.stream_id(stream)));
    events->work.push_back(static_cast<WorkId>(item >> 1 >> bits));
    const bool has_detail = (item & 1) != 0;
    if (has_detail) {
      node += static_cast<uint64_t>(Item(columns.graph_node(), columns.graph_node_all(), detail));
    }
    WorkDetail& of_event = events->detail.emplace_back();
    if (!has_detail) continue;
    of_event.bytes = Item(columns.bytes(), columns.bytes_all(), detail);
    of_event.graph = static_cast<uint32_t>(Item(columns.graph(), columns.graph_all(), detail));
    of_event.graph_node = node;
    ++detail;
  }
}

void Rebuild(const proto::Chunk& chunk, SyncEvents* events) {
  const proto::SyncColumns& columns = chunk.sync();
  RebuildCommon(chunk, columns, events);
  for (uint64_t i = 0; i < chunk.event_count(); ++i) {
    events->type.push_back(Item(columns.type(), columns.type_all(), i));
    events->context.push_back(Item(columns.context(), columns.context_all(), i));
    events->stream.push_back(Item(columns.stream(), columns.stream_all(), i));
    events->event.push_back(Item(columns.event(), columns.event_all(), i));
  }
}

void Rebuild(const proto::Chunk& chunk, OverheadEvents* events) {
  const proto::OverheadColumns& columns = chunk.overhead();
  RebuildCommon(chunk, columns, events);
  for (uint64_t i = 0; i < chunk.event_count(); ++i) {
    events->tid.push_back(Item(columns.tid(), columns.tid_all(), i));
    events->label.push_back(static_cast<LabelId>(Item(columns.label(), columns.label_all(), i)));
  }
}

void Rebuild(const proto::Chunk& chunk, CpuTimeEvents* events) {
  const proto::CpuTimeColumns& columns = chunk.cpu_time();
  RebuildCommon(chunk, columns, events);
  for (uint64_t i = 0; i < chunk.event_count(); ++i) {
    events->tid.push_back(Item(columns.tid(), columns.tid_all(), i));
    events->on_cpu_ns.push_back(Item(columns.on_cpu(), columns.on_cpu_all(), i));
    events->ready_ns.push_back(Item(columns.ready(), columns.ready_all(), i));
  }
}

void Rebuild(const proto::Chunk& chunk, StackEvents* events) {
  const proto::StackColumns& columns = chunk.stack();
  RebuildCommon(chunk, columns, events);
  for (uint64_t i = 0; i < chunk.event_count(); ++i) {
    events->tid.push_back(Item(columns.tid(), columns.tid_all(), i));
    events->frame.push_back(static_cast<FrameId>(Item(columns.frame(), columns.frame_all(), i)));
    events->looks.push_back(Item(columns.looks(), columns.looks_all(), i));
    events->runnable.push_back(Item(columns.runnable(), columns.runnable_all(), i));
  }
}

class ChunkOracle : public testing::Test {
 protected:
  static constexpr uint32_t kSeeds = 40;

  EncodedChunk Encode(const std::vector<ApiRecord>& r) { return encoder.EncodeApi(meta, r, clock); }
  EncodedChunk Encode(const std::vector<DeviceRecord>& r) {
    return encoder.EncodeDevice(meta, r, clock);
  }
  EncodedChunk Encode(const std::vector<SyncRecord>& r) {
    return encoder.EncodeSync(meta, r, clock);
  }
  EncodedChunk Encode(const std::vector<OverheadRecord>& r) {
    return encoder.EncodeOverhead(meta, r, clock);
  }
  EncodedChunk Encode(const std::vector<CpuTimeRecord>& r) {
    return encoder.EncodeCpuTime(meta, r, clock);
  }
  EncodedChunk Encode(const std::vector<StackRecord>& r) {
    return encoder.EncodeStack(meta, r, clock);
  }

  template <typename Record, typename Events, typename Make>
  void ExpectAgreement(Make make) {
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      Dice dice(seed);
      const auto records = RandomRecords<Record>(&dice, dice.AnyMagnitude(11), make);
      Events events;
      Rebuild(Parse(Encode(records)), &events);
      ExpectSame(events, records, clock);
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
  }

  ChunkMeta meta{.thread = 4, .first_sequence = 1u << 20, .dropped_before = 9};
  ClockConversion clock = TscConversion();
  ChunkEncoder encoder;
};

TEST_F(ChunkOracle, ReadsThreadEvents) {
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    Dice dice(seed);
    const std::vector<Slot> slots = RandomSlots(&dice, dice.AnyMagnitude(11));
    const EncodedChunk chunk = encoder.EncodeThread(meta, 900'000, {}, slots, clock);
    EXPECT_EQ(Rebuild(Parse(chunk)), EventsOf(slots, 900'000, clock)) << "seed " << seed;
  }
}

TEST_F(ChunkOracle, ReadsThreadEventsInsideOpenScopes) {
  const uint32_t open[] = {0, 7, kMaxLabels - 1};
  const std::vector<Slot> slots = SlotWriter().End(kMaxLabels - 1, 3).End(0, 5).End(7, 9).slots();
  const proto::Chunk chunk = Parse(encoder.EncodeThread(meta, 0, open, slots, clock));
  EXPECT_EQ(Rebuild(chunk), EventsOf(slots, 0, clock));
}

TEST_F(ChunkOracle, ReadsApiCalls) { ExpectAgreement<ApiRecord, ApiEvents>(RandomApi); }
TEST_F(ChunkOracle, ReadsDeviceWork) { ExpectAgreement<DeviceRecord, DeviceEvents>(RandomDevice); }
TEST_F(ChunkOracle, ReadsSynchronisations) { ExpectAgreement<SyncRecord, SyncEvents>(RandomSync); }
TEST_F(ChunkOracle, ReadsOverheads) {
  ExpectAgreement<OverheadRecord, OverheadEvents>(RandomOverhead);
}
TEST_F(ChunkOracle, ReadsCpuTimes) { ExpectAgreement<CpuTimeRecord, CpuTimeEvents>(RandomCpuTime); }
TEST_F(ChunkOracle, ReadsStacks) { ExpectAgreement<StackRecord, StackEvents>(RandomStack); }

TEST_F(ChunkOracle, ReadsTheHeader) {
  const std::vector<Slot> slots = SlotWriter().Begin(1, 5).slots();
  const proto::Chunk chunk = Parse(encoder.EncodeThread(meta, 2'000'000, {}, slots, clock));
  EXPECT_EQ(chunk.thread(), 4u);
  EXPECT_EQ(chunk.first_sequence(), 1u << 20);
  EXPECT_EQ(chunk.dropped_before(), 9u);
  EXPECT_EQ(chunk.clock_size(), 2);
  EXPECT_EQ(chunk.clock(0).clock(), 1'000'000u);
  EXPECT_EQ(chunk.clock(1).monotonic_ns(), 500'700'000);
}

TEST_F(ChunkOracle, ReadsKnotsOfZeroAndTimesBelowZero) {
  clock = ClockConversion(std::vector<ClockKnot>{{0, 0}, {10, -0}, {20, 10}});
  Parse(encoder.EncodeThread(meta, 0, {}, SlotWriter().Begin(1, 5).slots(), clock));
  clock = ClockConversion(std::vector<ClockKnot>{{0, -1000}, {10, -990}});
  const std::vector<Slot> slots = SlotWriter().Begin(1, 5).slots();
  const proto::Chunk chunk = Parse(encoder.EncodeThread(meta, 0, {}, slots, clock));
  EXPECT_EQ(chunk.base_ns(), -995);
}

}  // namespace
}  // namespace gpubound
