// SPDX-License-Identifier: Apache-2.0
//
// One segment as an SQLite file: opens it, puts rows, commits, seals. Confined to the background
// thread, or to the thread that has stopped it.
//
// Errors latch: after the first one every Put does nothing and Commit returns false, so that
// callers check once per transaction. A failed segment stays readable up to its last commit.
#ifndef GPUBOUND_LIBPROFILER_SQLITE_SINK_H_
#define GPUBOUND_LIBPROFILER_SQLITE_SINK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "libprofiler/device_tables.h"
#include "libprofiler/interner.h"
#include "libprofiler/open_files.h"
#include "libprofiler/python/frame_table.h"
#include "libprofiler/thread_registry.h"
#include "proto/chunk_row.h"
#include "proto/live_format.h"

struct sqlite3;
struct sqlite3_stmt;

namespace gpubound {

// The bytes of a segment on a local disk that has its tables and no row. To write them takes a
// fraction of what it takes SQLite to make the tables. Null: none.
using EmptySegment = std::shared_ptr<const std::string>;

class SqliteSink {
 public:
  SqliteSink() = default;
  ~SqliteSink();
  SqliteSink(const SqliteSink&) = delete;
  SqliteSink& operator=(const SqliteSink&) = delete;

  // Creates the file |path|, 0600, with the schema. |network|: rollback journal instead of WAL.
  // |empty|: a file on a local disk begins as such a one, where there is one, and it is made where
  // there is none. Null: neither.
  bool Open(const std::string& path, bool network, EmptySegment* empty = nullptr);

  void Begin();
  void PutMeta(std::string_view key, std::string_view text);
  void PutMeta(std::string_view key, int64_t number);
  void PutConfig(std::string_view key, std::string_view text);
  void PutLabel(const LabelRow& row);
  void PutThread(const ThreadRow& row);
  void PutDevice(const DeviceRow& row);
  void PutContext(const ContextInfo& row);
  void PutStream(const StreamRow& row);
  void PutWork(const WorkRow& row);
  void PutGraphNode(const GraphNodeRow& row);
  void PutFunction(const FunctionRow& row);
  void PutFrame(const FrameRow& row);
  void PutDeviceClient(const DeviceClientRow& row);
  void PutUtilization(const UtilizationRow& row);
  void PutProcessTree(const ProcessTreeSample& row);
  void PutCounters(const CounterSample& row);
  void PutUnknown(const UnknownRow& row);
  void DropUnknown(int64_t id);
  void PutNote(const NoteRow& row);
  void PutClock(const ClockSample& sample);
  void PutLedger(const char* counter, uint64_t value);
  void PutChunk(const ChunkRow& row);
  bool Commit();

  // Moves what the write-ahead log holds into the database when it has grown past |max_bytes| of
  // chunks or |max_transactions|.
  void CheckpointIfLarger(uint64_t max_bytes, uint64_t max_transactions);

  // After the last commit: checkpoints and turns the file into a plain database without a log,
  // which a reader without write permission can open. Closes.
  void Seal();

  // Closes without touching the file again, as after an error.
  void Abandon();

  bool is_open() const { return database_ != nullptr; }
  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  // Bytes of rows committed or pending, without SQLite's own overhead.
  uint64_t bytes() const { return bytes_; }

 private:
  enum Statement : int;
  template <typename... Values>
  void Run(Statement statement, const Values&... values);
  bool CreateTables(bool network);
  EmptySegment CopyTables();
  bool Prepare();
  // Inside a transaction: how many rows each table has (table row_count), and how many chunks there
  // are.
  void CountRows();
  uint64_t RowsOf(const char* table);
  void Finalize();
  bool Execute(const char* sql);
  bool FilesAreOurs();
  bool FilesAreThere();
  void Fail(const char* doing);

  static constexpr int kMaxStatements = 24;
  sqlite3* database_ = nullptr;
  OpenFiles files_;
  sqlite3_stmt* statements_[kMaxStatements] = {};
  uint32_t changed_ = 0;                      // by statement, within this transaction
  uint64_t added_rows_[kMaxStatements] = {};  // by each, to this segment
  uint64_t chunks_ = 0;
  uint64_t bytes_ = 0;
  uint64_t log_bytes_ = 0;         // put since the last checkpoint
  uint64_t log_transactions_ = 0;  // committed since the last checkpoint
  bool wal_ = false;
  bool is_new_ = true;            // until the first transaction has ended
  bool is_synchronised_ = false;  // once, of this segment
  std::string error_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_SQLITE_SINK_H_
