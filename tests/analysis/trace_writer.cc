// SPDX-License-Identifier: Apache-2.0
//
// Writes segments and live mappings for tests. One object, one thread.
#include "tests/analysis/trace_writer.h"

#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "proto/schema.h"

namespace gpubound::testing_support {
namespace {

namespace fs = std::filesystem;

std::string Stem(const WriterIdentity& identity) {
  return identity.host + "." + std::to_string(identity.pid) + "." +
         std::to_string(identity.start_ns);
}

std::string BytesOf(const void* data, size_t size) {
  return {static_cast<const char*>(data), size};
}

}  // namespace

TemporaryRun::TemporaryRun() {
  std::string pattern = (fs::temp_directory_path() / "gpubound-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = pattern;
}

TemporaryRun::~TemporaryRun() {
  std::error_code ignored;
  fs::permissions(path_, fs::perms::owner_all, ignored);
  fs::remove_all(path_, ignored);
}

std::string TemporaryRun::Write(const std::string& name, std::string_view content) const {
  std::ofstream(File(name), std::ios::binary) << content;
  return File(name);
}

std::vector<std::string> TemporaryRun::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

SegmentWriter::SegmentWriter(const TemporaryRun& run, const WriterIdentity& identity,
                             uint32_t segment)
    : path_(run.File(Stem(identity) + "." + std::to_string(segment) + ".db")), identity_(identity) {
  if (sqlite3_open(path_.c_str(), &database_) != SQLITE_OK) throw std::runtime_error("open");
  Sql("PRAGMA page_size=4096; PRAGMA synchronous=OFF");
  Sql("PRAGMA application_id=" + std::to_string(kTraceApplicationId));
  Sql("PRAGMA user_version=" + std::to_string(kTraceFormatVersion));
  Sql(kSchemaSql);
  Meta("segment", segment);
}

SegmentWriter::~SegmentWriter() { Close(); }

void SegmentWriter::Sql(const std::string& sql) {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sql + ": " + sqlite3_errmsg(database_));
  }
}

void SegmentWriter::Meta(const std::string& key, const std::string& value) {
  Sql("INSERT OR REPLACE INTO meta VALUES('" + key + "', '" + value + "')");
}

void SegmentWriter::Meta(const std::string& key, int64_t value) {
  Sql("INSERT OR REPLACE INTO meta VALUES('" + key + "', " + std::to_string(value) + ")");
}

void SegmentWriter::CountRows() {
  Meta("row_counts", kCountedTables);
  Sql(kCountRowsSql);
}

void SegmentWriter::PutUsualRows() {
  Meta("host", identity_.host);
  Meta("pid", identity_.pid);
  Meta("start_realtime_ns", identity_.start_ns);
  Meta("start_monotonic_ns", 0);
  Meta("end_monotonic_ns", 1000);
  Meta("end_how", "exit");
  Meta("parent_pid", 1);
  Meta("name", "program");
  Meta("main_tid", 100);
  Meta("python", 0);
  Meta("device_kind", "real");
  Sql("INSERT INTO thread VALUES(1, 100, 'main')");
  Sql("INSERT INTO device VALUES(1, 0, 'GPU-1', 'Model', 4, 64, 2, 65536, 65536, 32, 9, 0, 0, 0)");
  Sql("INSERT INTO stream VALUES(1, 1, 1, 7)");
  Sql("INSERT INTO work VALUES(1, 1, 0, 'gemm', 8, 1, 1, 32, 1, 1, 16, 0, 0)");
  Sql("INSERT INTO label VALUES(1, 1, 0, '', 'train'), (2, 6, 0, '', 'cudaLaunchKernel'), "
      "(3, 1, 0, '', 'inner')");
}

void SegmentWriter::Put(const EncodedChunk& chunk) {
  if (!chunk.ok) throw std::runtime_error("encoder");
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database_, "INSERT INTO chunk VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?)", -1,
                     &statement, nullptr);
  int column = 0;
  const auto bind = [&](int64_t value) { sqlite3_bind_int64(statement, ++column, value); };
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
  sqlite3_bind_blob(statement, ++column, chunk.body.data(), static_cast<int>(chunk.body.size()),
                    SQLITE_TRANSIENT);
  const bool done = sqlite3_step(statement) == SQLITE_DONE;
  sqlite3_finalize(statement);
  if (!done) throw std::runtime_error(sqlite3_errmsg(database_));
}

void SegmentWriter::Scopes(const ChunkMeta& meta, const std::vector<Slot>& slots,
                           const std::vector<uint32_t>& open, uint64_t base_ticks) {
  Put(encoder_.EncodeThread(meta, base_ticks, open, slots, ClockConversion()));
}
void SegmentWriter::Calls(const ChunkMeta& meta, const std::vector<ApiRecord>& records) {
  Put(encoder_.EncodeApi(meta, records, ClockConversion()));
}
void SegmentWriter::Work(const ChunkMeta& meta, const std::vector<DeviceRecord>& records) {
  Put(encoder_.EncodeDevice(meta, records, ClockConversion()));
}
void SegmentWriter::Overheads(const ChunkMeta& meta, const std::vector<OverheadRecord>& records) {
  Put(encoder_.EncodeOverhead(meta, records, ClockConversion()));
}

void SegmentWriter::Syncs(const ChunkMeta& meta, const std::vector<SyncRecord>& records) {
  Put(encoder_.EncodeSync(meta, records, ClockConversion()));
}

void SegmentWriter::Stacks(const ChunkMeta& meta, const std::vector<StackRecord>& records) {
  Put(encoder_.EncodeStack(meta, records, ClockConversion()));
}

void SegmentWriter::PutFrames() {
  Sql("INSERT INTO function VALUES(1, 'a.py', 'train'), (2, 'a.py', 'step')");
  Sql("INSERT INTO frame VALUES(1, 0, 1, 10), (2, 1, 2, 20), (3, 1, 2, 21)");
}

void SegmentWriter::UseLog() { Sql("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0"); }

void SegmentWriter::Close(bool keep_log) {
  if (database_ == nullptr) return;
  if (keep_log) {
    // What a kill leaves: the files as they are at this instant.
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::copy_file(path_ + suffix, path_ + suffix + ".kept");
    }
  }
  sqlite3_close(database_);
  database_ = nullptr;
  if (!keep_log) return;
  for (const char* suffix : {"", "-wal", "-shm"}) {
    fs::rename(path_ + suffix + ".kept", path_ + suffix);
  }
}

Slot Begin(LabelId label, uint64_t time_ns) { return MakeSlot(SlotKind::kBegin, label, time_ns); }
Slot End(LabelId label, uint64_t time_ns) { return MakeSlot(SlotKind::kEnd, label, time_ns); }

ApiRecord Launch(uint64_t start_ns, uint64_t end_ns, uint32_t correlation, uint32_t tid) {
  return {start_ns, end_ns, correlation, tid, kLaunch, 0};
}

DeviceRecord Kernel(uint64_t start_ns, uint64_t end_ns, uint32_t correlation) {
  return {start_ns, end_ns, 0, 0, correlation, static_cast<StreamId>(1), static_cast<WorkId>(1), 0};
}

StackRecord Looks(uint64_t start_ns, uint64_t end_ns, uint32_t frame, uint32_t looks,
                  uint32_t tid) {
  return {start_ns, end_ns, 0, tid, static_cast<FrameId>(frame), looks, 0, 0};
}

LiveWriter::LiveWriter(const WriterIdentity& identity) {
  header_.magic = kLiveMagic;
  header_.version = kLiveVersion;
  header_.header_bytes = sizeof(LiveHeader);
  header_.pid = static_cast<uint64_t>(identity.pid);
  header_.start_realtime_ns = identity.start_ns;
  header_.clock_sample_count = 2;
  header_.clock_samples[0] = {0, 0, 0, 1, 1};
  header_.clock_samples[1] = {1'000'000, 1'000'000, 1'000'000, 1'000'001, 1};
}

void LiveWriter::AddThread(uint32_t ordinal, uint32_t tid, const std::string& name) {
  LiveThread thread{};
  thread.tid = tid;
  thread.ordinal = ordinal;
  std::strncpy(thread.name, name.c_str(), sizeof(thread.name) - 1);
  threads_.push_back(thread);
}

void LiveWriter::AddLabel(LabelId id, LabelKind kind, const std::string& text) {
  LiveLabel label{};
  const size_t size = (sizeof(LiveLabel) + text.size() + 3) / 4 * 4;
  label.size = static_cast<uint32_t>(size);
  label.id = Raw(id);
  label.kind = static_cast<uint8_t>(kind);
  label.text_bytes = static_cast<uint32_t>(text.size());
  std::string bytes = BytesOf(&label, sizeof(label)) + text;
  bytes.resize(size);
  labels_ += bytes;
}

LivePageHeader& LiveWriter::NewPage(EventFamily family, uint32_t thread, uint64_t first_sequence) {
  pages_.emplace_back(kLivePageSize, '\0');
  auto& page = *reinterpret_cast<LivePageHeader*>(pages_.back().data());
  page.state = static_cast<uint32_t>(PageState::kOwned);
  page.family = static_cast<uint32_t>(family);
  page.thread = thread;
  page.first_sequence = first_sequence;
  return page;
}

void LiveWriter::AddScopes(uint32_t thread, uint64_t first_sequence, const std::vector<Slot>& slots,
                           uint64_t base_ticks) {
  NewPage(EventFamily::kThread, thread, first_sequence).base_ticks = base_ticks;
  if (slots.empty()) return;  // memcpy takes no null pointer
  std::memcpy(pages_.back().data() + kLivePageHeaderBytes, slots.data(),
              slots.size() * sizeof(Slot));
}

template <typename Record>
void LiveWriter::AddRecords(EventFamily family, uint32_t writer, uint64_t first_sequence,
                            const std::vector<Record>& records) {
  NewPage(family, writer, first_sequence).record_count = static_cast<uint32_t>(records.size());
  std::memcpy(pages_.back().data() + kLivePageHeaderBytes, records.data(),
              records.size() * sizeof(Record));
}

void LiveWriter::AddWork(uint32_t writer, uint64_t first_sequence,
                         const std::vector<DeviceRecord>& records) {
  AddRecords(EventFamily::kDevice, writer, first_sequence, records);
}

void LiveWriter::AddStacks(uint64_t first_sequence, const std::vector<StackRecord>& records) {
  AddRecords(EventFamily::kStack, 0, first_sequence, records);
}

void LiveWriter::Count(LedgerCounter counter, uint64_t value) {
  header_.ledger[static_cast<size_t>(counter)] = value;
}

std::string LiveWriter::Bytes() const {
  LiveHeader header = header_;
  std::vector<LiveThread> threads = threads_;
  threads.resize(kLiveMaxThreads);
  std::string labels = labels_;
  labels.resize(kLiveLabelHeapBytes);
  header.threads_offset = sizeof(LiveHeader);
  header.labels_offset =
      static_cast<uint32_t>(header.threads_offset + threads.size() * sizeof(LiveThread));
  header.pages_offset = static_cast<uint32_t>(header.labels_offset + labels.size());
  header.page_count = static_cast<uint32_t>(pages_.size());
  header.file_size = header.pages_offset + pages_.size() * kLivePageSize;
  std::string bytes = BytesOf(&header, sizeof(header)) +
                      BytesOf(threads.data(), threads.size() * sizeof(LiveThread)) + labels;
  for (const std::string& page : pages_) bytes += page;
  return bytes;
}

std::string LiveWriter::NameFor(const WriterIdentity& identity) { return Stem(identity) + ".live"; }

}  // namespace gpubound::testing_support
