// SPDX-License-Identifier: Apache-2.0
//
// Writes run directories as the recorder does, for tests of the reader: real schema, real encoder,
// and the means to damage what it wrote. One object, one segment. Clocks are the identity: ticks
// and the device's clock are trace time.
#ifndef GPUBOUND_TESTS_ANALYSIS_TRACE_WRITER_H_
#define GPUBOUND_TESTS_ANALYSIS_TRACE_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/chunk_encoder.h"
#include "proto/event_model.h"
#include "proto/live_format.h"

struct sqlite3;

namespace gpubound::testing_support {

// A directory that goes away with the object.
class TemporaryRun {
 public:
  TemporaryRun();
  ~TemporaryRun();
  TemporaryRun(const TemporaryRun&) = delete;
  TemporaryRun& operator=(const TemporaryRun&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  std::string Write(const std::string& name, std::string_view content) const;
  std::vector<std::string> Names() const;  // sorted

 private:
  std::string path_;
};

struct WriterIdentity {
  std::string host = "host";
  int64_t pid = 100;
  int64_t start_ns = 5;
};

class SegmentWriter {
 public:
  SegmentWriter(const TemporaryRun& run, const WriterIdentity& identity, uint32_t segment = 0);
  ~SegmentWriter();  // closes
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  const std::string& path() const { return path_; }

  // Identity, span 0..1000, closed, native, device_kind real; and the rows that the events below
  // refer to: thread 1 (main, tid 100), device 1, stream 1, work 1 ("gemm"), label 1 operation
  // "train", label 2 "cudaLaunchKernel", label 3 operation "inner".
  void PutUsualRows();

  void Sql(const std::string& sql);
  void Meta(const std::string& key, const std::string& value);
  void Meta(const std::string& key, int64_t value);

  // As a recorder does it with each transaction: rows that go after this are missed.
  void CountRows();

  // A slot's time counts from |base_ticks|; it holds 18 minutes.
  void Scopes(const ChunkMeta& meta, const std::vector<Slot>& slots,
              const std::vector<uint32_t>& open = {}, uint64_t base_ticks = 0);
  void Calls(const ChunkMeta& meta, const std::vector<ApiRecord>& records);
  void Work(const ChunkMeta& meta, const std::vector<DeviceRecord>& records);
  void Overheads(const ChunkMeta& meta, const std::vector<OverheadRecord>& records);
  void Syncs(const ChunkMeta& meta, const std::vector<SyncRecord>& records);
  void Stacks(const ChunkMeta& meta, const std::vector<StackRecord>& records);

  // Functions 1 "train" and 2 "step" of a.py; frame 1 is train in line 10, called by nobody, frame
  // 2 step in line 20, called by 1, and frame 3 step in line 21, likewise.
  void PutFrames();

  // Writes from now on into the log, which is never moved into the database.
  void UseLog();

  // Closes; with |keep_log| as a killed process leaves it, -wal and -shm beside the database.
  void Close(bool keep_log = false);

 private:
  void Put(const EncodedChunk& chunk);
  sqlite3* database_ = nullptr;
  std::string path_;
  WriterIdentity identity_;
  ChunkEncoder encoder_;
};

inline constexpr LabelId kTrain{1};
inline constexpr LabelId kLaunch{2};
inline constexpr LabelId kInner{3};

Slot Begin(LabelId label, uint64_t time_ns);
Slot End(LabelId label, uint64_t time_ns);
ApiRecord Launch(uint64_t start_ns, uint64_t end_ns, uint32_t correlation, uint32_t tid = 100);
DeviceRecord Kernel(uint64_t start_ns, uint64_t end_ns, uint32_t correlation);
StackRecord Looks(uint64_t start_ns, uint64_t end_ns, uint32_t frame, uint32_t looks,
                  uint32_t tid = 100);

// Builds the bytes of a live mapping.
class LiveWriter {
 public:
  explicit LiveWriter(const WriterIdentity& identity);

  void AddThread(uint32_t ordinal, uint32_t tid, const std::string& name);
  void AddLabel(LabelId id, LabelKind kind, const std::string& text);
  void AddScopes(uint32_t thread, uint64_t first_sequence, const std::vector<Slot>& slots,
                 uint64_t base_ticks = 0);
  void AddWork(uint32_t writer, uint64_t first_sequence, const std::vector<DeviceRecord>& records);
  void AddStacks(uint64_t first_sequence, const std::vector<StackRecord>& records);  // of writer 0
  void Count(LedgerCounter counter, uint64_t value);
  LiveHeader& header() { return header_; }

  std::string Bytes() const;
  static std::string NameFor(const WriterIdentity& identity);

 private:
  LivePageHeader& NewPage(EventFamily family, uint32_t thread, uint64_t first_sequence);
  template <typename Record>
  void AddRecords(EventFamily family, uint32_t writer, uint64_t first_sequence,
                  const std::vector<Record>& records);
  LiveHeader header_{};
  std::vector<LiveThread> threads_;
  std::string labels_;
  std::vector<std::string> pages_;
};

}  // namespace gpubound::testing_support

#endif  // GPUBOUND_TESTS_ANALYSIS_TRACE_WRITER_H_
