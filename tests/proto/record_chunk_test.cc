// SPDX-License-Identifier: Apache-2.0
//
// Chunks of device-source records: all families bring back what went in.
#include "tests/proto/chunk_samples.h"

namespace gpubound {
namespace {

class RecordChunk : public testing::TestWithParam<ChunkCompression> {
 protected:
  static constexpr ChunkMeta kMeta{.thread = 2, .first_sequence = 1000, .dropped_before = 3};

  EncodedChunk Encode(const std::vector<ApiRecord>& r) {
    return encoder.EncodeApi(kMeta, r, clock);
  }
  EncodedChunk Encode(const std::vector<DeviceRecord>& r) {
    return encoder.EncodeDevice(kMeta, r, clock);
  }
  EncodedChunk Encode(const std::vector<SyncRecord>& r) {
    return encoder.EncodeSync(kMeta, r, clock);
  }
  EncodedChunk Encode(const std::vector<OverheadRecord>& r) {
    return encoder.EncodeOverhead(kMeta, r, clock);
  }
  EncodedChunk Encode(const std::vector<CpuTimeRecord>& r) {
    return encoder.EncodeCpuTime(kMeta, r, clock);
  }
  EncodedChunk Encode(const std::vector<StackRecord>& r) {
    return encoder.EncodeStack(kMeta, r, clock);
  }

  template <typename Record, typename Events>
  void RoundTrip(const std::vector<Record>& records, Events* events) {
    chunk = Encode(records);
    ASSERT_TRUE(chunk.ok);
    EXPECT_EQ(chunk.sequence_count, records.size());
    EXPECT_EQ(chunk.event_count, records.size());
    const ChunkStatus status = decoder.Decode(chunk, events);
    ASSERT_TRUE(status.ok()) << status.what << " at " << status.offset;
    EXPECT_EQ(events->thread, 2u);
    EXPECT_EQ(events->first_sequence, 1000u);
    EXPECT_EQ(events->dropped_before, 3u);
    ExpectSame(*events, records, clock);
  }

  template <typename Record, typename Events, typename Make>
  void RoundTripRandom(Make make) {
    Events events;  // whose storage is used again
    for (uint32_t seed = 0; seed < 40; ++seed) {
      Dice dice(seed);
      RoundTrip(RandomRecords<Record>(&dice, dice.AnyMagnitude(12), make), &events);
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
  }

  static DeviceRecord Kernel(uint64_t start_ns, uint32_t stream, uint32_t work) {
    return {.start_ns = start_ns,
            .end_ns = start_ns + 10,
            .bytes = 0,
            .graph_node = 0,
            .correlation = 1,
            .stream = static_cast<StreamId>(stream),
            .work = static_cast<WorkId>(work),
            .graph = 0};
  }

  ClockConversion clock{std::vector<ClockKnot>{{1'700'000'000'000'000'000, 5'000'000},
                                               {1'700'000'000'010'000'000, 15'000'100},
                                               {1'700'000'000'020'000'000, 24'999'900}}};
  ChunkEncoder encoder{GetParam()};
  ChunkDecoder decoder;
  EncodedChunk chunk;
  ApiEvents api;
  DeviceEvents device;
  SyncEvents sync;
  OverheadEvents overhead;
  CpuTimeEvents cpu_time;
  StackEvents stack;
};

INSTANTIATE_TEST_SUITE_P(PlainAndCompressed, RecordChunk,
                         testing::Values(ChunkCompression::kNone, ChunkCompression::kZstd));

TEST_P(RecordChunk, WithoutRecordsIsAChunk) {
  RoundTrip(std::vector<ApiRecord>(), &api);
  RoundTrip(std::vector<DeviceRecord>(), &device);
  RoundTrip(std::vector<SyncRecord>(), &sync);
  RoundTrip(std::vector<OverheadRecord>(), &overhead);
  RoundTrip(std::vector<CpuTimeRecord>(), &cpu_time);
  RoundTrip(std::vector<StackRecord>(), &stack);
}

TEST_P(RecordChunk, HoldsOneRecordOfEachFamily) {
  Dice dice(1);
  RoundTrip(RandomRecords<ApiRecord>(&dice, 1, RandomApi), &api);
  RoundTrip(RandomRecords<DeviceRecord>(&dice, 1, RandomDevice), &device);
  RoundTrip(RandomRecords<SyncRecord>(&dice, 1, RandomSync), &sync);
  RoundTrip(RandomRecords<OverheadRecord>(&dice, 1, RandomOverhead), &overhead);
  RoundTrip(RandomRecords<CpuTimeRecord>(&dice, 1, RandomCpuTime), &cpu_time);
  RoundTrip(RandomRecords<StackRecord>(&dice, 1, RandomStack), &stack);
}

TEST_P(RecordChunk, BringsBackRandomApiCalls) { RoundTripRandom<ApiRecord, ApiEvents>(RandomApi); }
TEST_P(RecordChunk, BringsBackRandomDeviceWork) {
  RoundTripRandom<DeviceRecord, DeviceEvents>(RandomDevice);
}
TEST_P(RecordChunk, WorkHasNoDetailOfAnotherChunks) {
  std::vector<DeviceRecord> work{Kernel(100, 1, 2), Kernel(200, 1, 2)};
  work[1].bytes = 4096;
  work[1].graph_node = 7;
  RoundTrip(work, &device);
  EXPECT_EQ(device.detail.size(), 2u);
  work[0].graph = 9;
  std::swap(work[0], work[1]);
  work[0].bytes = work[0].graph_node = 0;
  RoundTrip(work, &device);
  RoundTrip(std::vector<DeviceRecord>{Kernel(100, 1, 2), Kernel(200, 1, 2)}, &device);
  EXPECT_TRUE(device.detail.empty());
}
TEST_P(RecordChunk, BringsBackRandomSynchronisations) {
  RoundTripRandom<SyncRecord, SyncEvents>(RandomSync);
}
TEST_P(RecordChunk, BringsBackRandomOverheads) {
  RoundTripRandom<OverheadRecord, OverheadEvents>(RandomOverhead);
}
TEST_P(RecordChunk, BringsBackRandomCpuTimes) {
  RoundTripRandom<CpuTimeRecord, CpuTimeEvents>(RandomCpuTime);
}
TEST_P(RecordChunk, BringsBackRandomStacks) {
  RoundTripRandom<StackRecord, StackEvents>(RandomStack);
}

TEST_P(RecordChunk, CorrelationsMayWrap) {
  std::vector<ApiRecord> records(3, At<ApiRecord>(5, 6));
  records[0].correlation = UINT32_MAX;
  records[1].correlation = 0;
  records[2].correlation = 0x80000000;
  RoundTrip(records, &api);
}

TEST_P(RecordChunk, HoldsTheLargestValues) {
  clock = ClockConversion();
  std::vector<ApiRecord> calls{{.start_ns = 0,
                                .end_ns = INT64_MAX,
                                .correlation = UINT32_MAX,
                                .tid = UINT32_MAX,
                                .label = static_cast<LabelId>(kMaxLabels - 1),
                                .result = INT32_MIN},
                               At<ApiRecord>(INT64_MAX, INT64_MAX)};
  RoundTrip(calls, &api);
  std::vector<DeviceRecord> work{{.start_ns = 0,
                                  .end_ns = INT64_MAX,
                                  .bytes = UINT64_MAX,
                                  .graph_node = UINT64_MAX,
                                  .correlation = UINT32_MAX,
                                  .stream = static_cast<StreamId>(UINT32_MAX),
                                  .work = static_cast<WorkId>(UINT32_MAX),
                                  .graph = UINT32_MAX},
                                 {}};
  RoundTrip(work, &device);
}

TEST_P(RecordChunk, StoresInvertedRecordsWithoutLengthAndCountsThem) {
  RoundTrip(std::vector<ApiRecord>{At<ApiRecord>(100, 50)}, &api);
  EXPECT_EQ(chunk.inverted_records, 1u);
  EXPECT_EQ(api.end_ns[0], api.start_ns[0]);
}

TEST_P(RecordChunk, SurvivesTimesBeyondTheTimeline) {
  clock = ClockConversion();
  chunk = Encode(std::vector<ApiRecord>{At<ApiRecord>(7, UINT64_MAX),
                                        At<ApiRecord>(UINT64_MAX - 1, UINT64_MAX)});
  ASSERT_TRUE(decoder.Decode(chunk, &api).ok());
  EXPECT_EQ(api.start_ns[0], 7);
  EXPECT_EQ(api.end_ns[0], 7);
}

TEST_P(RecordChunk, SaysTheRangeOfItsTimes) {
  clock = ClockConversion();
  chunk =
      Encode(std::vector<DeviceRecord>{Kernel(500, 1, 1), Kernel(300, 1, 1), Kernel(400, 1, 1)});
  EXPECT_EQ(chunk.min_ns, 300);
  EXPECT_EQ(chunk.max_ns, 510);
}

TEST_P(RecordChunk, ElidesColumnsWhoseValuesAreAllEqual) {
  std::vector<DeviceRecord> records;
  for (uint32_t i = 0; i < 1000; ++i) {
    records.push_back(Kernel(20 * i, 5, 900));
    records.back().correlation = i + 1;
  }
  RoundTrip(records, &device);
  EXPECT_LT(chunk.raw_bytes, 1100u);  // a byte for each begin, and nothing else
}

TEST_P(RecordChunk, TakesElisionBackAtTheLastValue) {
  std::vector<SyncRecord> records(1000, At<SyncRecord>(1, 2));
  records.back() = {.start_ns = 1,
                    .end_ns = 9,
                    .event = 1,
                    .correlation = 4,
                    .type = 1,
                    .context = 2,
                    .stream = 3};
  RoundTrip(records, &sync);
}

TEST_P(RecordChunk, KeepsManyStreamsAndManyDistinctCallsApart) {
  std::vector<DeviceRecord> work;
  std::vector<ApiRecord> calls;
  for (uint32_t i = 0; i < 5000; ++i) {
    work.push_back(Kernel(i, i * 7919, i));
    calls.push_back(At<ApiRecord>(i, i));
    calls.back().tid = i * 104729;
    calls.back().label = LabelId{i % 300};
  }
  RoundTrip(work, &device);
  RoundTrip(calls, &api);
}

}  // namespace
}  // namespace gpubound
