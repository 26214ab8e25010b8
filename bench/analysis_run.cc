// SPDX-License-Identifier: Apache-2.0
//
// Draws launches one by one and writes them page by page. One thread.
#include "bench/analysis_run.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "bench/codec_database.h"
#include "proto/chunk_encoder.h"
#include "proto/live_format.h"
#include "proto/schema.h"

namespace gpubound {
namespace {

constexpr uint32_t kThreads = 4;
constexpr uint32_t kStreams = 2;
constexpr uint32_t kOperations = 8;
constexpr uint32_t kKernels = 200;
constexpr uint32_t kFirstTid = 41'000;
constexpr uint32_t kCallLabel = kOperations + 1;
constexpr size_t kApiPerPage = (kLivePageSize - kLivePageHeaderBytes) / sizeof(ApiRecord);
constexpr size_t kDevicePerPage = (kLivePageSize - kLivePageHeaderBytes) / sizeof(DeviceRecord);

// Threads go their own way for so many launches, then wait for each other, as a loop's do.
constexpr uint32_t kLaunchesPerTurn = 1000;

class ProcessWriter {
 public:
  ProcessWriter(const std::string& directory, uint32_t number)
      : pid_(kFirstTid + 1000 * number),
        db_(directory + "/host." + std::to_string(pid_) + ".1.0.db", 4096),
        random_(number + 1) {
    db_.Run(kSchemaSql);
    db_.Run(("PRAGMA application_id=" + std::to_string(kTraceApplicationId)).c_str());
    db_.Run(("PRAGMA user_version=" + std::to_string(kTraceFormatVersion)).c_str());
    insert_ = db_.Prepare("INSERT INTO chunk VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?)");
    db_.Run("BEGIN");
  }

  void Write(uint64_t scopes) {
    for (uint64_t i = 0; i < scopes; ++i) {
      if (i % kLaunchesPerTurn == 0) now_.fill(*std::max_element(now_.begin(), now_.end()));
      Launch(static_cast<uint32_t>(i % kThreads));
    }
    for (uint32_t thread = 0; thread < kThreads; ++thread) SubmitSlots(thread);
    SubmitCalls();
    SubmitKernels();
    WriteRows();
    db_.Run("COMMIT");
    db_.Close();
  }

 private:
  uint64_t Between(uint64_t low, uint64_t high) { return low + random_() % (high - low + 1); }

  void Launch(uint32_t thread) {
    const uint64_t scope_begin = now_[thread] + Between(2000, 20'000);
    const uint64_t call_begin = scope_begin + Between(200, 2000);
    const uint64_t call_end = call_begin + Between(2000, 8000);
    const uint64_t scope_end = call_end + Between(200, 2000);
    const auto label = static_cast<LabelId>(Between(1, kOperations));
    now_[thread] = scope_end;
    std::vector<Slot>& slots = slots_[thread];
    if (slots.size() + 2 > kSlotsPerPage) SubmitSlots(thread);
    if (slots.empty()) base_[thread] = scope_begin;
    slots.push_back(MakeSlot(SlotKind::kBegin, label, scope_begin - base_[thread]));
    slots.push_back(MakeSlot(SlotKind::kEnd, label, scope_end - base_[thread]));

    ++correlation_;
    if (calls_.size() == kApiPerPage) SubmitCalls();
    calls_.push_back({call_begin, call_end, correlation_, kFirstTid + thread,
                      static_cast<LabelId>(kCallLabel), 0});

    const uint32_t stream = thread % kStreams;
    DeviceRecord kernel{};
    kernel.start_ns =
        std::max(stream_free_[stream] + Between(600, 1500), call_end + Between(500, 4000));
    kernel.end_ns = kernel.start_ns + Between(1000, 6000);
    stream_free_[stream] = kernel.end_ns;
    end_ns_ = std::max({end_ns_, scope_end, kernel.end_ns});
    kernel.correlation = correlation_;
    kernel.stream = static_cast<StreamId>(1 + stream);
    kernel.work = static_cast<WorkId>(Between(1, kKernels));
    if (kernels_.size() == kDevicePerPage) SubmitKernels();
    kernels_.push_back(kernel);
  }

  void SubmitSlots(uint32_t thread) {
    std::vector<Slot>& slots = slots_[thread];
    if (slots.empty()) return;
    Put(encoder_.EncodeThread(MetaFor(thread + 1, slots.size()), base_[thread], {}, slots, clock_));
    slots.clear();
  }
  void SubmitCalls() {
    if (calls_.empty()) return;
    Put(encoder_.EncodeApi(MetaFor(kThreads + 1, calls_.size()), calls_, clock_));
    calls_.clear();
  }
  void SubmitKernels() {
    if (kernels_.empty()) return;
    Put(encoder_.EncodeDevice(MetaFor(kThreads + 2, kernels_.size()), kernels_, clock_));
    kernels_.clear();
  }
  ChunkMeta MetaFor(uint32_t writer, size_t count) {
    const uint64_t first = sequence_[writer];
    sequence_[writer] += count;
    return {.thread = writer, .first_sequence = first, .dropped_before = 0};
  }

  void Put(const EncodedChunk& chunk) {
    if (!chunk.ok) Fail("encode", nullptr);
    int column = 0;
    const auto bind = [&](int64_t value) { sqlite3_bind_int64(insert_, ++column, value); };
    bind(static_cast<int64_t>(chunk.family));
    bind(chunk.thread);
    bind(static_cast<int64_t>(chunk.first_sequence));
    bind(static_cast<int64_t>(chunk.sequence_count));
    bind(static_cast<int64_t>(chunk.event_count));
    bind(chunk.min_ns);
    bind(chunk.max_ns);
    bind(static_cast<int64_t>(chunk.compression));
    bind(static_cast<int64_t>(chunk.raw_bytes));
    bind(chunk.crc);
    sqlite3_bind_blob(insert_, ++column, chunk.body.data(), static_cast<int>(chunk.body.size()),
                      SQLITE_STATIC);
    db_.Step(insert_);
    if (++written_ % 32 == 0) db_.Run("COMMIT; BEGIN");
  }

  void Meta(const char* key, const std::string& value) {
    db_.Run(("INSERT INTO meta VALUES('" + std::string(key) + "','" + value + "')").c_str());
  }
  void WriteRows() {
    Meta("host", "host");
    Meta("pid", std::to_string(pid_));
    Meta("start_realtime_ns", "1");
    Meta("start_monotonic_ns", "0");
    Meta("end_monotonic_ns", std::to_string(end_ns_ + 1000));
    Meta("end_how", "exit");
    Meta("name", "train");
    Meta("main_tid", std::to_string(kFirstTid));
    Meta("python", "0");
    Meta("device_kind", "real");
    db_.Run("INSERT INTO device VALUES(1,0,'GPU-1','Model',132,64,32,65536,233472,32,9,0,0,0)");
    const auto insert = [this](const std::string& row) { db_.Run(("INSERT INTO " + row).c_str()); };
    for (uint32_t i = 1; i <= kThreads; ++i) {
      const std::string id = std::to_string(i);
      insert("thread VALUES(" + id + "," + std::to_string(kFirstTid + i - 1) + ",'t')");
    }
    for (uint32_t i = 1; i <= kStreams; ++i) {
      const std::string id = std::to_string(i);
      insert("stream VALUES(" + id + ",1,1," + id + ")");
    }
    for (uint32_t i = 1; i <= kOperations; ++i) {
      const std::string id = std::to_string(i);
      insert("label VALUES(" + id + ",1,0,'','operation " + id + "')");
    }
    insert("label VALUES(" + std::to_string(kCallLabel) + ",6,0,'','cudaLaunchKernel')");
    for (uint32_t i = 1; i <= kKernels; ++i) {
      const std::string id = std::to_string(i);
      insert("work VALUES(" + id + ",1,0,'kernel_" + id + "'," + id + ",1,1,128,1,1,32,0,0)");
    }
  }

  const uint32_t pid_;
  Database db_;
  sqlite3_stmt* insert_ = nullptr;
  std::mt19937_64 random_;
  ChunkEncoder encoder_;
  ClockConversion clock_{std::vector<ClockKnot>{}};
  std::array<uint64_t, kThreads> now_{};
  std::array<uint64_t, kThreads> base_{};
  std::array<uint64_t, kStreams> stream_free_{};
  std::array<uint64_t, kThreads + 3> sequence_{};
  std::array<std::vector<Slot>, kThreads> slots_;
  std::vector<ApiRecord> calls_;
  std::vector<DeviceRecord> kernels_;
  uint32_t correlation_ = 0;
  uint64_t end_ns_ = 0;
  uint64_t written_ = 0;
};

}  // namespace

void WriteBenchRun(const std::string& directory, uint64_t events, uint32_t processes) {
  for (uint32_t i = 0; i < processes; ++i) {
    ProcessWriter(directory, i).Write(std::max<uint64_t>(1, events / 3 / processes));
  }
}

}  // namespace gpubound
