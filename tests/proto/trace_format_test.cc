// SPDX-License-Identifier: Apache-2.0
//
// The worked bytes of docs/trace_format.md: the chunks that it shows are encoded here, and the
// document must show exactly these bytes.
#include <fstream>
#include <sstream>

#include "tests/proto/chunk_samples.h"

namespace gpubound {
namespace {

std::string Hex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (std::byte byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    if (!hex.empty()) hex += ' ';
    hex += kDigits[value >> 4];
    hex += kDigits[value & 15];
  }
  return hex;
}

class TraceFormatDocument : public testing::Test {
 protected:
  // The bytes of the block that begins with ```chunk NAME: per line bytes in hex, two spaces,
  // words.
  static std::string BytesShown(const std::string& name) {
    std::ifstream file(GPUBOUND_TRACE_FORMAT_DOCUMENT);
    EXPECT_TRUE(file) << GPUBOUND_TRACE_FORMAT_DOCUMENT;
    std::string line;
    std::string bytes;
    bool inside = false;
    while (std::getline(file, line)) {
      if (line == "```") inside = false;
      if (inside) {
        const std::string shown = line.substr(0, line.find("  "));
        bytes += bytes.empty() || shown.empty() ? shown : " " + shown;
      }
      if (line == "```chunk " + name) inside = true;
    }
    return bytes;
  }
  void ExpectShown(const std::string& name, const EncodedChunk& chunk) {
    ASSERT_TRUE(chunk.ok);
    EXPECT_EQ(BytesShown(name), Hex(chunk.body)) << "docs/trace_format.md, block " << name;
  }

  ClockConversion ticks{std::vector<ClockKnot>{{1000, 500}, {3000, 1500}}};
  ChunkEncoder encoder;
};

TEST_F(TraceFormatDocument, ShowsTheBytesOfAThreadChunk) {
  const uint32_t open[] = {5};
  const std::vector<Slot> slots = SlotWriter()
                                      .Begin(20, 0)
                                      .Begin(21, 100)
                                      .End(21, 500)
                                      .Put(SlotKind::kStep, 3, 540, 7)
                                      .End(5, 600)
                                      .End(20, 640)
                                      .slots();
  ExpectShown("thread",
              encoder.EncodeThread({.thread = 2, .first_sequence = 100}, 1000, open, slots, ticks));
}

TEST_F(TraceFormatDocument, ShowsTheBytesOfAnApiChunk) {
  std::vector<ApiRecord> records;
  for (uint64_t start : {1'000, 1'300, 1'250}) {
    ApiRecord record = At<ApiRecord>(start, start + 200);
    record.correlation = 8 + static_cast<uint32_t>(records.size());
    record.tid = 4000;
    record.label = static_cast<LabelId>(records.size() == 1 ? 31 : 30);
    record.result = records.size() == 1 ? 2 : 0;
    records.push_back(record);
  }
  ExpectShown("api", encoder.EncodeApi({.thread = 9}, records, ClockConversion()));
}

TEST_F(TraceFormatDocument, ShowsTheBytesOfADeviceChunk) {
  std::vector<DeviceRecord> records;
  for (uint32_t i = 0; i < 3; ++i) {
    DeviceRecord record = At<DeviceRecord>(2000 + 100 * i, 2050 + 100 * i);
    record.correlation = 8 + 2 * i;
    record.stream = static_cast<StreamId>(1 + i % 2);
    record.work = static_cast<WorkId>(6 + i);
    record.bytes = i == 1 ? 4096 : 0;
    records.push_back(record);
  }
  ExpectShown("device", encoder.EncodeDevice({.thread = 9}, records, ClockConversion()));
}

TEST_F(TraceFormatDocument, ShowsTheBytesOfAChunkOfStacks) {
  const std::vector<StackRecord> records = {{1000, 1900, 0, 4000, FrameId{6}, 10, 0, 0},
                                            {2000, 2000, 0, 4000, FrameId{7}, 1, 1, 0},
                                            {2100, 2400, 0, 4000, FrameId{6}, 4, 2, 0}};
  ExpectShown("stack", encoder.EncodeStack({}, records, ClockConversion()));
}

}  // namespace
}  // namespace gpubound
