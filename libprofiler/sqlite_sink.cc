// SPDX-License-Identifier: Apache-2.0
//
// The only file of the recording half that knows SQLite, beside the VFS under it.
//
// Why checkpoints are explicit: an automatic one runs fsync inside some commit, which on a slow
// disk stalls the flusher until every page of the pool is full. Nothing is lost by waiting: the log
// is as durable as the database, since NORMAL synchronises it before its content is moved.
#include "libprofiler/sqlite_sink.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>

#include "libprofiler/batching_vfs.h"
#include "proto/schema.h"

namespace gpubound {

enum SqliteSink::Statement : int {
  kBegin,
  kCommit,
  kMeta,
  kConfig,
  kLabel,
  kThread,
  kDevice,
  kContext,
  kStream,
  kWork,
  kGraphNode,
  kFunction,
  kFrame,
  kDeviceClient,
  kUtilization,
  kProcessTree,
  kCounterSample,
  kUnknown,
  kDropUnknown,
  kNote,
  kClock,
  kLedger,
  kChunk,
  kRowCount,
  kStatementCount
};

namespace {

// In the order of SqliteSink::Statement.
constexpr const char* kStatementSql[] = {
    "BEGIN IMMEDIATE",
    "COMMIT",
    "INSERT OR REPLACE INTO meta VALUES(?,?)",
    "INSERT OR REPLACE INTO config VALUES(?,?)",
    "INSERT OR REPLACE INTO label VALUES(?,?,?,?,?)",
    "INSERT OR REPLACE INTO thread VALUES(?,?,?)",
    "INSERT OR REPLACE INTO device VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO context VALUES(?,?,?,?,?)",
    "INSERT OR REPLACE INTO stream VALUES(?,?,?,?)",
    "INSERT OR REPLACE INTO work VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO graph_node VALUES(?,?,?,?,?)",
    "INSERT OR REPLACE INTO function VALUES(?,?,?)",
    "INSERT OR REPLACE INTO frame VALUES(?,?,?,?)",
    "INSERT OR REPLACE INTO device_client VALUES(?,?,?,?,?,?)",
    "INSERT INTO utilization VALUES(?,?,?,?,?,?,?,?)",
    "INSERT INTO process_tree VALUES(?,?,?,?,?)",
    "INSERT INTO counter_sample VALUES(?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO unknown VALUES(?,?,?,?)",
    "DELETE FROM unknown WHERE id=?",
    "INSERT OR REPLACE INTO note VALUES(?,?,?)",
    "INSERT INTO clock VALUES(NULL,?,?,?,?,?)",
    "INSERT OR REPLACE INTO ledger VALUES(?,?)",
    "INSERT INTO chunk VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR REPLACE INTO row_count VALUES(?,?)",
};

// What each of them changes the number of rows of. Chunks are counted in meta.
constexpr const char* kTableOf[] = {
    nullptr,   nullptr,         "meta",        "config",       "label",          "thread",
    "device",  "context",       "stream",      "work",         "graph_node",     "function",
    "frame",   "device_client", "utilization", "process_tree", "counter_sample", "unknown",
    "unknown", "note",          "clock",       "ledger",       nullptr,          nullptr,
};
constexpr uint32_t Bit(int statement) { return uint32_t{1} << statement; }

// A trace with less was recorded within some seconds: one transaction a second is written whatever
// happens.
constexpr uint64_t kSmallTraceBytes = 256 << 10;
constexpr uint64_t kFewTransactions = 8;

// Nothing is, until the file has its tables and the log its beginning: the program waits for this,
// and of a trace without events nothing is lost with the host. The first checkpoint synchronises all.
constexpr char kSynchronise[] = "PRAGMA synchronous=NORMAL";

constexpr size_t kPageBytes = 4096;

bool WriteAt(int fd, std::string_view bytes, size_t at) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
    at += static_cast<size_t>(written);
  }
  return true;
}

// SQLite would create it 0644; its companions inherit the mode. The first page, with which a file
// becomes a database, comes last: the process may be killed meanwhile. An errno, or 0.
int CreateFile(const std::string& path, std::string_view content) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return errno;
  const bool written = content.empty() || (WriteAt(fd, content.substr(kPageBytes), kPageBytes) &&
                                           WriteAt(fd, content.substr(0, kPageBytes), 0));
  const int error = written ? 0 : errno;
  close(fd);
  return error;
}

struct Blob {
  std::span<const std::byte> bytes;
};

void Bind(sqlite3_stmt* statement, int index, std::string_view text) {
  sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}
void Bind(sqlite3_stmt* statement, int index, Blob blob) {
  sqlite3_bind_blob64(statement, index, blob.bytes.data(), blob.bytes.size(), SQLITE_STATIC);
}
template <typename Number>
std::enable_if_t<std::is_integral_v<Number> || std::is_enum_v<Number>> Bind(sqlite3_stmt* statement,
                                                                            int index,
                                                                            Number number) {
  sqlite3_bind_int64(statement, index, static_cast<sqlite3_int64>(number));
}

void Bind(sqlite3_stmt* statement, int index, std::optional<double> number) {
  if (!number) sqlite3_bind_null(statement, index);
  if (number) sqlite3_bind_double(statement, index, *number);
}

// As nvidia-smi and CUDA_VISIBLE_DEVICES have it.
std::string UuidText(const DeviceInfo& device) {
  const uint8_t(&uuid)[16] = device.uuid;
  char text[48];
  std::snprintf(
      text, sizeof(text), "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
      device.is_mig ? "MIG" : "GPU", uuid[0], uuid[1], uuid[2], uuid[3], uuid[4], uuid[5], uuid[6],
      uuid[7], uuid[8], uuid[9], uuid[10], uuid[11], uuid[12], uuid[13], uuid[14], uuid[15]);
  return text;
}

}  // namespace

SqliteSink::~SqliteSink() { Abandon(); }

void SqliteSink::Fail(const char* doing) {
  if (failed()) return;
  error_ = std::string(doing) + ": " +
           (database_ == nullptr ? "out of memory" : sqlite3_errmsg(database_));
  const int system_error = database_ == nullptr ? 0 : sqlite3_system_errno(database_);
  if (system_error != 0) {
    char reason[128];
    error_ += std::string(" (") + strerror_r(system_error, reason, sizeof(reason)) + ")";
  }
}

bool SqliteSink::Execute(const char* sql) {
  if (failed()) return false;
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return true;
  Fail("setting up the database");
  return false;
}

bool SqliteSink::Open(const std::string& path, bool network, EmptySegment* empty) {
  static_assert(sizeof(kStatementSql) / sizeof(kStatementSql[0]) == kStatementCount);
  static_assert(sizeof(kTableOf) / sizeof(kTableOf[0]) == kStatementCount);
  static_assert(kStatementCount <= kMaxStatements);
  const bool has_tables = !network && empty != nullptr && *empty != nullptr;
  if (const int error = CreateFile(path, has_tables ? **empty : std::string_view()); error != 0) {
    char reason[128];
    error_ = std::string("creating it: ") + strerror_r(error, reason, sizeof(reason));
    return false;
  }
  // Nobody else opens a connection in this copy of SQLite, so its statistics need no lock.
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  files_.Clear();
  const NoteOpened note(path, &files_);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path.c_str(), &database_, flags, BatchingVfsName()) != SQLITE_OK) {
    Fail("opening it");
    return false;
  }
  sqlite3_busy_timeout(database_, 1000);  // a live view that reads while we commit
  wal_ = !network;
  chunks_ = 0;
  bytes_ = 0;
  changed_ = ~uint32_t{0};  // the first transaction says of each table how many rows it has
  std::fill(std::begin(added_rows_), std::end(added_rows_), 0);
  is_new_ = true;
  is_synchronised_ = false;
  log_bytes_ = 0;
  log_transactions_ = 0;
  const bool open =
      Execute("PRAGMA synchronous=OFF") && (has_tables || CreateTables(network)) &&
      Execute("PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-8192; PRAGMA temp_store=MEMORY") &&
      (!network || Execute(kSynchronise)) && Prepare();
  if (!open) return false;
  if (!network && !has_tables && empty != nullptr) *empty = CopyTables();
  files_.DropClosed();
  return true;
}

bool SqliteSink::CreateTables(bool network) {
  char identity[128];
  // In one step: a process may be killed between any two, and what has no version is of none.
  std::snprintf(identity, sizeof(identity),
                "BEGIN; PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
                kTraceApplicationId, kTraceFormatVersion);
  // Chunks of 8 to 30 KB waste a fifth of the file in pages of 16 or 64 KiB; pages of 4 KiB bring
  // it to 7.7 bytes an event and cost 1 ns more than those of 8 KiB, with 8.8 (bench/codec_bench).
  // To enter or leave WAL is a transaction with a rollback journal, of one page that is written in
  // one piece: kept in memory, it costs no file. ext4 is slow to make files after it removed some.
  static_assert(kPageBytes == 4096);
  return Execute("PRAGMA page_size=4096") &&
         Execute(network ? "PRAGMA journal_mode=TRUNCATE"
                         : "PRAGMA journal_mode=MEMORY; PRAGMA journal_mode=WAL") &&
         Execute(identity) && Execute("BEGIN") && Execute(kSchemaSql) && Execute("COMMIT");
}

// Without memory for it the next file is made as this one was.
EmptySegment SqliteSink::CopyTables() {
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(database_, "main", &size, 0);
  if (bytes == nullptr) return nullptr;
  const char* const begin = reinterpret_cast<const char*>(bytes);
  EmptySegment copy = std::make_shared<const std::string>(begin, static_cast<size_t>(size));
  sqlite3_free(bytes);
  return copy;
}

// Once they are not, the connection is forgotten as it is: to close it would close other files.
bool SqliteSink::FilesAreOurs() {
  if (database_ == nullptr) return false;
  if (files_.AreOurs()) return true;
  if (!failed()) error_ = "the program closed the files of the trace";
  database_ = nullptr;
  return false;
}

bool SqliteSink::Prepare() {
  for (int i = 0; i < kStatementCount; ++i) {
    if (sqlite3_prepare_v3(database_, kStatementSql[i], -1, SQLITE_PREPARE_PERSISTENT,
                           &statements_[i], nullptr) != SQLITE_OK) {
      Fail("preparing statements");
      return false;
    }
  }
  return true;
}

template <typename... Values>
void SqliteSink::Run(Statement statement, const Values&... values) {
  if (failed() || database_ == nullptr) return;
  sqlite3_stmt* prepared = statements_[statement];
  int index = 0;
  (Bind(prepared, ++index, values), ...);
  if (sqlite3_step(prepared) != SQLITE_DONE) Fail("writing");
  sqlite3_reset(prepared);
  changed_ |= Bit(statement);
  ++added_rows_[statement];
}

// The connection is good, and to write through it is of no use.
bool SqliteSink::FilesAreThere() {
  if (failed() || !files_.AnyRemoved()) return !failed();
  error_ = "somebody removed the run directory, or files in it";
  return false;
}

void SqliteSink::Begin() {
  if (FilesAreOurs() && FilesAreThere()) Run(kBegin);
}

// Rows that are only added are counted as they come: some do every second, for days. Other tables
// are gone through, where they have changed at all. One small statement after the other: the first
// ones run on the stack of the program's first scope, and a compound of them takes more than 16 KiB.
void SqliteSink::CountRows() {
  constexpr uint32_t kOnlyAdded =
      Bit(kUtilization) | Bit(kProcessTree) | Bit(kCounterSample) | Bit(kClock);
  PutMeta("row_counts", int64_t{kCountedTables});
  PutMeta("chunks", static_cast<int64_t>(chunks_));
  for (int statement = 0; statement < kStatementCount; ++statement) {
    const char* const table = kTableOf[statement];
    if (table == nullptr || (changed_ & Bit(statement)) == 0) continue;
    const bool is_known = (kOnlyAdded & Bit(statement)) != 0;
    Run(kRowCount, std::string_view(table), is_known ? added_rows_[statement] : RowsOf(table));
  }
  changed_ = 0;
}

uint64_t SqliteSink::RowsOf(const char* table) {
  if (failed() || database_ == nullptr) return 0;
  char sql[64];
  std::snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
  sqlite3_stmt* count = nullptr;
  sqlite3_prepare_v2(database_, sql, -1, &count, nullptr);
  if (sqlite3_step(count) != SQLITE_ROW) Fail("counting rows");
  const sqlite3_int64 rows = failed() ? 0 : sqlite3_column_int64(count, 0);
  sqlite3_finalize(count);
  return static_cast<uint64_t>(rows);
}

bool SqliteSink::Commit() {
  CountRows();
  Run(kCommit);
  ++log_transactions_;
  if (!failed() && wal_ && is_new_) Execute(kSynchronise);
  is_new_ = false;
  if (!failed()) return true;
  if (FilesAreOurs()) sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
  return false;
}

void SqliteSink::PutMeta(std::string_view key, std::string_view text) { Run(kMeta, key, text); }
void SqliteSink::PutMeta(std::string_view key, int64_t number) { Run(kMeta, key, number); }
void SqliteSink::PutConfig(std::string_view key, std::string_view text) { Run(kConfig, key, text); }
void SqliteSink::PutLabel(const LabelRow& row) {
  Run(kLabel, row.id, row.kind, row.layer, std::string_view(row.domain),
      std::string_view(row.text));
}
void SqliteSink::PutThread(const ThreadRow& row) {
  Run(kThread, row.id, row.tid, std::string_view(row.name));
}
void SqliteSink::PutDevice(const DeviceRow& row) {
  const DeviceInfo& d = row.info;
  const std::string uuid = UuidText(d);
  Run(kDevice, row.id, d.index, std::string_view(uuid), std::string_view(row.name),
      d.multiprocessors, d.max_warps_per_multiprocessor, d.max_blocks_per_multiprocessor,
      d.max_registers_per_multiprocessor, d.max_shared_bytes_per_multiprocessor, d.threads_per_warp,
      d.compute_capability_major, d.compute_capability_minor, d.memory_bytes, d.simulated);
}
void SqliteSink::PutContext(const ContextInfo& row) {
  Run(kContext, row.device, row.context, row.parent, row.multiprocessors, row.is_green);
}
void SqliteSink::PutStream(const StreamRow& row) {
  Run(kStream, row.id, row.device, row.context, row.stream);
}
void SqliteSink::PutWork(const WorkRow& row) {
  const WorkInfo& w = row.info;
  Run(kWork, row.id, w.kind, w.copy_kind, std::string_view(row.name), w.grid[0], w.grid[1],
      w.grid[2], w.block[0], w.block[1], w.block[2], w.registers_per_thread, w.static_shared_bytes,
      w.dynamic_shared_bytes);
}
void SqliteSink::PutGraphNode(const GraphNodeRow& row) {
  Run(kGraphNode, row.info.node, row.info.graph, row.info.type, row.info.operation,
      std::string_view(row.name));
}
void SqliteSink::PutFunction(const FunctionRow& row) {
  Run(kFunction, row.id, std::string_view(row.file), std::string_view(row.name));
}
void SqliteSink::PutFrame(const FrameRow& row) {
  Run(kFrame, row.id, row.caller, row.function, row.line);
}
void SqliteSink::PutDeviceClient(const DeviceClientRow& row) {
  const DeviceClient& c = row.client;
  Run(kDeviceClient, std::string_view(row.uuid), c.pid, std::string_view(row.name), c.through_mps,
      c.first_ns, c.last_ns);
}
void SqliteSink::PutUtilization(const UtilizationRow& row) {
  const UtilizationSample& s = row.sample;
  Run(kUtilization, s.time_ns, std::string_view(row.uuid), s.gpu_percent, s.memory_percent,
      s.memory_used_bytes, s.power_mw, s.sm_mhz, s.memory_mhz);
}
void SqliteSink::PutProcessTree(const ProcessTreeSample& row) {
  Run(kProcessTree, row.time_ns, row.processes, row.cpu_ns, row.resident_bytes, row.run_delay_ns);
}
void SqliteSink::PutCounters(const CounterSample& row) {
  const auto known = [&row](CounterQuantity quantity) {
    const double percent = row.percent[static_cast<size_t>(quantity)];
    return percent < 0 ? std::nullopt : std::optional(percent);
  };
  Run(kCounterSample, row.device, row.begin_ns, row.end_ns, known(CounterQuantity::kSmActive),
      known(CounterQuantity::kWarpsActive), known(CounterQuantity::kDramThroughput));
}
void SqliteSink::PutUnknown(const UnknownRow& row) {
  Run(kUnknown, row.id, row.from_ns, row.to_ns, std::string_view(row.reason));
}
void SqliteSink::DropUnknown(int64_t id) { Run(kDropUnknown, id); }
void SqliteSink::PutNote(const NoteRow& row) {
  Run(kNote, row.id, row.time_ns, std::string_view(row.text));
}
void SqliteSink::PutClock(const ClockSample& sample) {
  Run(kClock, sample.ticks, sample.monotonic_ns, sample.realtime_ns, sample.source_ns,
      sample.width_ns);
}
void SqliteSink::PutLedger(const char* counter, uint64_t value) {
  Run(kLedger, std::string_view(counter), value);
}
void SqliteSink::PutChunk(const ChunkRow& row) {
  Run(kChunk, row.family, row.thread, row.first_sequence, row.sequence_count, row.event_count,
      row.min_ns, row.max_ns, row.compression, row.raw_bytes, row.crc, Blob{row.body});
  ++chunks_;
  bytes_ += row.body.size();
  log_bytes_ += row.body.size();
}

void SqliteSink::CheckpointIfLarger(uint64_t max_bytes, uint64_t max_transactions) {
  if (!wal_ || failed() || database_ == nullptr) return;
  if (log_bytes_ <= max_bytes && log_transactions_ <= max_transactions) return;
  if (!FilesAreOurs()) return;
  log_bytes_ = 0;
  log_transactions_ = 0;
  is_synchronised_ = true;
  // Passive: a reader in the way only leaves some of it for the next time.
  const int result =
      sqlite3_wal_checkpoint_v2(database_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (result != SQLITE_OK && result != SQLITE_BUSY) Fail("moving the log into the database");
}

void SqliteSink::Finalize() {
  for (sqlite3_stmt*& statement : statements_) {
    sqlite3_finalize(statement);
    statement = nullptr;
  }
}

void SqliteSink::Seal() {
  if (failed()) return Abandon();
  if (!FilesAreOurs()) return;
  Finalize();
  // Workers that end at once would wait three times for the disk, so that seconds of their life
  // outlast a crash of the host that comes just then.
  const bool is_small = bytes_ < kSmallTraceBytes && log_transactions_ < kFewTransactions;
  if (wal_ && is_small && !is_synchronised_) Execute("PRAGMA synchronous=OFF");
  // Leaving WAL rewrites a few bytes in the first sector of a file that is synchronised by then. It
  // fails when a reader has the file open: then the log stays beside it, which is as good a trace.
  if (wal_ && sqlite3_wal_checkpoint_v2(database_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                                        nullptr) == SQLITE_OK) {
    sqlite3_exec(database_, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY", nullptr, nullptr,
                 nullptr);
  }
  sqlite3_close_v2(database_);
  database_ = nullptr;
}

void SqliteSink::Abandon() {
  if (!FilesAreOurs()) return;
  Finalize();
  sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_close_v2(database_);
  database_ = nullptr;
}

}  // namespace gpubound
