// SPDX-License-Identifier: Apache-2.0
//
// chunk_corpus DIR: writes the fuzzer's seeds, one sound chunk of each family and shape per file.
#include <cstdio>
#include <string>
#include <vector>

#include "proto/chunk_encoder.h"
#include "tests/fuzz/fuzz_chunk.h"

namespace gpubound {
namespace {

class Seeds {
 public:
  explicit Seeds(std::string directory) : directory_(std::move(directory)) {}

  void Save(const EncodedChunk& chunk) {
    const auto compressed = chunk.compression == ChunkCompression::kNone ? 0 : kFuzzCompressed;
    std::vector<uint8_t> bytes{static_cast<uint8_t>(static_cast<int>(chunk.family) | compressed)};
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<uint8_t>(chunk.raw_bytes >> shift));
    }
    for (std::byte byte : chunk.body) bytes.push_back(std::to_integer<uint8_t>(byte));
    const std::string path = directory_ + "/seed-" + std::to_string(++count_);
    std::FILE* file = std::fopen(path.c_str(), "wb");
    ok_ = ok_ && chunk.ok && file != nullptr &&
          std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    if (file != nullptr) ok_ = std::fclose(file) == 0 && ok_;
  }
  bool ok() const { return ok_; }

 private:
  std::string directory_;
  int count_ = 0;
  bool ok_ = true;
};

void SaveAll(ChunkEncoder* encoder, uint32_t count, Seeds* seeds) {
  const ClockKnot knots[] = {{0, 100}, {1000, 600}, {100'000, 60'000}};
  const ClockConversion clock(knots);
  const uint32_t open[] = {3, 4};
  std::vector<Slot> slots;
  std::vector<ApiRecord> api;
  std::vector<DeviceRecord> device;
  std::vector<SyncRecord> sync;
  std::vector<OverheadRecord> overhead;
  std::vector<CpuTimeRecord> cpu_time;
  std::vector<StackRecord> stack;
  for (uint32_t i = 0; i < count; ++i) {
    const auto label = static_cast<LabelId>(i % 5);
    const uint64_t time = 37 * uint64_t{i};
    slots.push_back(MakeSlot(SlotKind::kBegin, label, time));
    const auto kind = static_cast<SlotKind>(3 + i % 11);
    slots.push_back(MakeSlot(kind, label, time + 5));
    if (HasPayload(kind)) slots.push_back(i);
    slots.push_back(MakeSlot(SlotKind::kEnd, i % 7 == 0 ? LabelId{4} : label, time + 9));
    const auto result = static_cast<int32_t>(i % 9 == 0);
    api.push_back({time, time + i, i, 70 + i % 2, label, result});
    const bool detail = i % 3 == 0;
    device.push_back({time, time + 30, detail ? i : 0u, detail ? i + 1 : 0u, 2 * i,
                      static_cast<StreamId>(i % 4), static_cast<WorkId>(i), detail ? 1u : 0u});
    sync.push_back({time, time + 1, i, i, i % 5, 1, i % 2});
    overhead.push_back({time, time + 2, i, i, label, 0});
    cpu_time.push_back({time, time + 20, i % 3, i % 4 == 0 ? kReadyNotKnown : i, 0, 70 + i % 2});
    stack.push_back(
        {time, time + 10, 0, 70 + i % 2, static_cast<FrameId>(i % 6), 1 + i % 3, i % 2, 0});
  }
  const ChunkMeta meta{.thread = 1, .first_sequence = count, .dropped_before = count % 2};
  seeds->Save(encoder->EncodeThread(meta, 50, open, slots, clock));
  seeds->Save(encoder->EncodeApi(meta, api, clock));
  seeds->Save(encoder->EncodeDevice(meta, device, clock));
  seeds->Save(encoder->EncodeSync(meta, sync, clock));
  seeds->Save(encoder->EncodeOverhead(meta, overhead, clock));
  seeds->Save(encoder->EncodeCpuTime(meta, cpu_time, clock));
  seeds->Save(encoder->EncodeStack(meta, stack, clock));
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: chunk_corpus DIR\n");
    return 2;
  }
  gpubound::Seeds seeds(argv[1]);
  for (auto compression : {gpubound::ChunkCompression::kNone, gpubound::ChunkCompression::kZstd}) {
    gpubound::ChunkEncoder encoder(compression);
    for (uint32_t count : {0u, 1u, 3u, 20u, 600u}) gpubound::SaveAll(&encoder, count, &seeds);
  }
  if (!seeds.ok()) {
    std::fprintf(stderr, "chunk_corpus: cannot write the seeds to %s\n", argv[1]);
    return 1;
  }
  return 0;
}
