// SPDX-License-Identifier: Apache-2.0
//
// Draws launches one by one and writes them page by page. One thread.
#include "bench/analysis_run.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "libprofiler/sqlite_sink.h"
#include "proto/chunk_encoder.h"
#include "proto/live_format.h"

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

// A scope, a call and a kernel each.
constexpr uint64_t kLaunchesOfShortThread = kEventsOfShortThread / 3;

// A benchmark that goes on would measure nonsense.
[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "analysis_bench: writing the run: %s\n", what.c_str());
  std::exit(1);
}

class ProcessWriter {
 public:
  ProcessWriter(const std::string& directory, uint32_t number, uint32_t threads)
      : pid_(kFirstTid + 1000 * number),
        threads_(threads),
        random_(number + 1),
        now_(threads),
        base_(threads),
        sequence_(threads + size_t{3}),
        slots_(threads) {
    const std::string path = directory + "/host." + std::to_string(pid_) + ".1.0.db";
    if (!sink_.Open(path, /*network=*/false)) Fail(sink_.error());
    sink_.Begin();
  }

  void Write(uint64_t scopes) {
    for (uint64_t i = 0; i < scopes; ++i) {
      if (i % kLaunchesPerTurn == 0) std::ranges::fill(now_, std::ranges::max(now_));
      Launch(static_cast<uint32_t>(i % threads_));
    }
    for (uint32_t thread = 0; thread < threads_; ++thread) SubmitSlots(thread);
    Finish();
  }

  void WriteOneAfterTheOther() {
    for (uint32_t thread = 0; thread < threads_; ++thread) {
      if (thread > 0) now_[thread] = now_[thread - 1];
      for (uint64_t i = 0; i < kLaunchesOfShortThread; ++i) Launch(thread);
      SubmitSlots(thread);
    }
    Finish();
  }

 private:
  void Finish() {
    SubmitCalls();
    SubmitKernels();
    WriteRows();
    if (!sink_.Commit()) Fail(sink_.error());
    sink_.Seal();
  }

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
    Put(encoder_.EncodeApi(MetaFor(threads_ + 1, calls_.size()), calls_, clock_));
    calls_.clear();
  }
  void SubmitKernels() {
    if (kernels_.empty()) return;
    Put(encoder_.EncodeDevice(MetaFor(threads_ + 2, kernels_.size()), kernels_, clock_));
    kernels_.clear();
  }
  ChunkMeta MetaFor(uint32_t writer, size_t count) {
    const uint64_t first = sequence_[writer];
    sequence_[writer] += count;
    return {.thread = writer, .first_sequence = first, .dropped_before = 0};
  }

  void Put(const EncodedChunk& chunk) {
    if (!chunk.ok) Fail("encoding");
    sink_.PutChunk(chunk);
    if (++written_ % 32 != 0) return;
    if (!sink_.Commit()) Fail(sink_.error());
    sink_.Begin();
  }

  void WriteRows() {
    sink_.PutMeta("host", "host");
    sink_.PutMeta("pid", int64_t{pid_});
    sink_.PutMeta("start_realtime_ns", int64_t{1});
    sink_.PutMeta("start_monotonic_ns", int64_t{0});
    sink_.PutMeta("end_monotonic_ns", static_cast<int64_t>(end_ns_ + 1000));
    sink_.PutMeta("end_how", "exit");
    sink_.PutMeta("name", "train");
    sink_.PutMeta("main_tid", int64_t{kFirstTid});
    sink_.PutMeta("python", int64_t{0});
    sink_.PutMeta("device_kind", "real");
    DeviceInfo device;
    device.multiprocessors = 132;
    device.max_warps_per_multiprocessor = 64;
    device.max_blocks_per_multiprocessor = 32;
    device.max_registers_per_multiprocessor = 65536;
    device.max_shared_bytes_per_multiprocessor = 233472;
    device.compute_capability_major = 9;
    device.uuid[0] = 1;
    sink_.PutDevice({DeviceId{1}, device, "Model"});
    for (uint32_t i = 1; i <= threads_; ++i) {
      sink_.PutThread({static_cast<ThreadId>(i), kFirstTid + i - 1, "t"});
    }
    for (uint32_t i = 1; i <= kStreams; ++i) {
      sink_.PutStream({static_cast<StreamId>(i), DeviceId{1}, 1, i});
    }
    for (uint32_t i = 1; i <= kOperations; ++i) {
      sink_.PutLabel({static_cast<LabelId>(i), LabelKind::kOperation, Layer::kUnset, "",
                      "operation " + std::to_string(i)});
    }
    sink_.PutLabel({LabelId{kCallLabel}, LabelKind::kApi, Layer::kUnset, "", "cudaLaunchKernel"});
    for (uint32_t i = 1; i <= kKernels; ++i) {
      WorkInfo work;
      work.kind = WorkKind::kKernel;
      std::fill_n(work.grid, 3, 1);
      std::fill_n(work.block, 3, 1);
      work.grid[0] = i;
      work.block[0] = 128;
      work.registers_per_thread = 32;
      sink_.PutWork({static_cast<WorkId>(i), work, "kernel_" + std::to_string(i)});
    }
  }

  const uint32_t pid_;
  const uint32_t threads_;
  SqliteSink sink_;
  std::mt19937_64 random_;
  ChunkEncoder encoder_;
  ClockConversion clock_{std::vector<ClockKnot>{}};
  std::vector<uint64_t> now_;  // by thread
  std::vector<uint64_t> base_;
  std::array<uint64_t, kStreams> stream_free_{};
  std::vector<uint64_t> sequence_;  // by writer
  std::vector<std::vector<Slot>> slots_;
  std::vector<ApiRecord> calls_;
  std::vector<DeviceRecord> kernels_;
  uint32_t correlation_ = 0;
  uint64_t end_ns_ = 0;
  uint64_t written_ = 0;
};

}  // namespace

void WriteBenchRun(const std::string& directory, uint64_t events, uint32_t processes) {
  for (uint32_t i = 0; i < processes; ++i) {
    ProcessWriter(directory, i, kThreads).Write(std::max<uint64_t>(1, events / 3 / processes));
  }
}

void WriteShortThreads(const std::string& directory, uint64_t events) {
  const uint64_t threads = std::max<uint64_t>(1, events / kEventsOfShortThread);
  ProcessWriter(directory, 0, static_cast<uint32_t>(threads)).WriteOneAfterTheOther();
}

}  // namespace gpubound
