// SPDX-License-Identifier: Apache-2.0
//
// Every form of the encoder's loops leaves the columns of the portable one, to the byte.
#include "proto/encode_loops.h"

#include <string>

#include "proto/encoder_buffers.h"
#include "tests/proto/chunk_samples.h"

namespace gpubound {
namespace {

// Everything that an encoding leaves behind, as text that can be compared.
std::string Describe(const EncodedChunk& row, const ChunkColumns& columns) {
  std::string text =
      std::to_string(row.event_count) + " " + std::to_string(row.sequence_count) + " " +
      std::to_string(row.min_ns) + " " + std::to_string(row.max_ns) + " " +
      std::to_string(row.clock_backwards) + " " + std::to_string(row.inverted_records) + " " +
      std::to_string(row.invalid_slots) + " " + std::to_string(columns.base_ns) + " " +
      std::to_string(columns.first_clock) + " " + std::to_string(columns.last_clock);
  for (uint32_t label : row.open_labels_after) text += " open " + std::to_string(label);
  for (size_t i = 0; i < columns.packed_count; ++i) {
    text += "\n" + std::to_string(columns.packed[i].field) + ":";
    for (uint8_t byte : columns.packed[i].bytes) text += " " + std::to_string(byte);
  }
  for (size_t i = 0; i < columns.scalar_count; ++i) {
    text += "\nall " + std::to_string(columns.scalars[i].value);
  }
  return text;
}

class EncoderLoops : public testing::TestWithParam<EncodeLoops> {
 protected:
  EncoderLoops() {
    portable.loops = &SupportedEncodeLoops().front();
    tested.loops = &GetParam();
  }

  void ExpectSameThread(const std::vector<Slot>& slots) {
    EXPECT_EQ(Thread(&tested, slots), Thread(&portable, slots));
  }
  std::string Thread(EncoderBuffers* buffers, const std::vector<Slot>& slots) const {
    EncodedChunk row;
    ChunkColumns columns;
    EXPECT_TRUE(
        EncodeThreadColumns(buffers, {}, base_ticks, open_labels, slots, clock, &row, &columns));
    return Describe(row, columns);
  }
  template <typename Record, typename Encode>
  void ExpectSameRecords(const std::vector<Record>& records, Encode encode) {
    const auto describe = [&](EncoderBuffers* buffers) {
      EncodedChunk row;
      ChunkColumns columns;
      EXPECT_TRUE(encode(buffers, records, clock, &row, &columns));
      return Describe(row, columns);
    };
    EXPECT_EQ(describe(&tested), describe(&portable));
  }
  // Nested scopes without anything uncommon, so that whole groups are taken at once.
  static std::vector<Slot> NestedScopes(Dice* dice, size_t count) {
    SlotWriter writer;
    std::vector<uint32_t> open;
    uint64_t ticks = 0;
    for (size_t i = 0; i < count; ++i) {
      ticks += dice->Below(50'000);
      if (open.empty() || (open.size() < 20 && dice->OneIn(2))) {
        open.push_back(static_cast<uint32_t>(dice->Below(300)));
        writer.Begin(open.back(), ticks);
      } else {
        writer.End(open.back(), ticks);
        open.pop_back();
      }
    }
    return writer.slots();
  }

  uint64_t base_ticks = 900'000;
  std::vector<uint32_t> open_labels;
  ClockConversion clock = TscConversion();
  EncoderBuffers portable;
  EncoderBuffers tested;
};

INSTANTIATE_TEST_SUITE_P(Forms, EncoderLoops,
                         testing::ValuesIn(SupportedEncodeLoops().begin(),
                                           SupportedEncodeLoops().end()),
                         [](const auto& loops) { return std::string(loops.param.name); });

TEST_P(EncoderLoops, AgreeOnAnythingThatAThreadWrites) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    ExpectSameThread(RandomSlots(&dice, dice.AnyMagnitude(12)));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST_P(EncoderLoops, AgreeOnNestedScopes) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    ExpectSameThread(NestedScopes(&dice, dice.AnyMagnitude(12)));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST_P(EncoderLoops, AgreeOnScopesInARowFromEitherSide) {
  SlotWriter rows;
  rows.Begin(1, 0);
  for (uint64_t i = 0; i < 500; ++i) rows.Begin(2 + i % 5, 9 * i).End(2 + i % 5, 9 * i + 4);
  ExpectSameThread(rows.slots());
  SlotWriter shifted;
  shifted.Begin(7, 0);
  for (uint64_t i = 0; i < 500; ++i) shifted.End(7 + i % 5, 9 * i).Begin(8 + i % 5, 9 * i + 4);
  ExpectSameThread(shifted.slots());
}

TEST_P(EncoderLoops, AgreeWhereAGroupIsUncommonAtEachOfItsPlaces) {
  for (size_t place = 0; place < 24; ++place) {
    for (int trouble = 0; trouble < 5; ++trouble) {
      SlotWriter writer;
      for (size_t i = 0; i < 24; ++i) {
        const uint64_t ticks = 1000 + 10 * i;
        if (i != place) {
          i % 4 < 2 ? writer.Begin(static_cast<uint32_t>(i % 2), ticks)
                    : writer.End(static_cast<uint32_t>(1 - i % 2), ticks);
        } else if (trouble == 0) {
          writer.End(99, ticks);
        } else if (trouble == 1) {
          writer.Put(SlotKind::kMark, 3, ticks);
        } else if (trouble == 2) {
          writer.Begin(1, 5);
        } else if (trouble == 3) {
          writer.Begin(1, 3'000'000);  // beyond the knot
        } else {
          writer.Raw64(0);
        }
      }
      ExpectSameThread(writer.slots());
    }
  }
}

TEST_P(EncoderLoops, AgreeWhereTheStackIsFullOrEmpty) {
  open_labels.assign(kMaxOpenScopes, 4);
  SlotWriter writer;
  for (uint64_t i = 0; i < 100; ++i) writer.Begin(5, 10 * i).End(5, 10 * i + 5);
  ExpectSameThread(writer.slots());
  open_labels.assign(kMaxOpenScopes - 1, 4);
  ExpectSameThread(writer.slots());
  open_labels.clear();
  SlotWriter ends;
  for (uint64_t i = 0; i < 100; ++i) ends.End(5, 10 * i).Begin(5, 10 * i + 5);
  ExpectSameThread(ends.slots());
}

TEST_P(EncoderLoops, AgreeForSlopesAboveOne) {
  clock = ClockConversion(std::vector<ClockKnot>{{0, 0}, {10, 47}, {5'000'000, 90'000'000'001}});
  Dice dice(4);
  base_ticks = 0;
  ExpectSameThread(NestedScopes(&dice, 2000));
}

TEST_P(EncoderLoops, AgreeOnRecords) {
  clock = ClockConversion(std::vector<ClockKnot>{{1'700'000'000'000'000'000, 5'000'000},
                                                 {1'700'000'000'010'000'000, 15'000'100},
                                                 {1'700'000'000'020'000'000, 24'999'900}});
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    const size_t count = dice.AnyMagnitude(12);
    ExpectSameRecords(RandomRecords<ApiRecord>(&dice, count, RandomApi), EncodeApiColumns);
    ExpectSameRecords(RandomRecords<DeviceRecord>(&dice, count, RandomDevice), EncodeDeviceColumns);
    ExpectSameRecords(RandomRecords<SyncRecord>(&dice, count, RandomSync), EncodeSyncColumns);
    ExpectSameRecords(RandomRecords<OverheadRecord>(&dice, count, RandomOverhead),
                      EncodeOverheadColumns);
    ExpectSameRecords(RandomRecords<CpuTimeRecord>(&dice, count, RandomCpuTime),
                      EncodeCpuTimeColumns);
    ExpectSameRecords(RandomRecords<StackRecord>(&dice, count, RandomStack), EncodeStackColumns);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST_P(EncoderLoops, AgreeOnRecordsOfAnyTimeAtAll) {
  clock = ClockConversion();
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    std::vector<ApiRecord> records(200);
    for (ApiRecord& record : records) {
      record = At<ApiRecord>(dice.AnyMagnitude(), dice.AnyMagnitude());
      record.correlation = static_cast<uint32_t>(dice.AnyMagnitude());
    }
    ExpectSameRecords(records, EncodeApiColumns);
  }
}

}  // namespace
}  // namespace gpubound
