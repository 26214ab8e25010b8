// SPDX-License-Identifier: Apache-2.0
//
// The VFS that gathers pages, over the system's own with writes counted and made to fail: what a
// database holds, what others see of it and when, and what a full disk leaves of it.
#include "libprofiler/batching_vfs.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <optional>
#include <random>
#include <string>

#include "tests/libprofiler/temp_directory.h"

namespace gpubound {
namespace {

// The system's VFS, which counts writes and fails them once there have been |writes_left|.
struct Disk {
  int writes = 0;
  std::optional<int> writes_left;
};
Disk g_disk;
decltype(sqlite3_io_methods::xWrite) g_system_write = nullptr;
sqlite3_vfs* g_system = nullptr;

int CountedWrite(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  ++g_disk.writes;
  if (g_disk.writes_left && (*g_disk.writes_left)-- <= 0) return SQLITE_FULL;
  return g_system_write(file, bytes, size, at);
}

int OpenCounted(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* opened) {
  static sqlite3_io_methods counted_database, counted_log;  // the system has two as well
  const int result = g_system->xOpen(g_system, path, file, flags, opened);
  if (result != SQLITE_OK || (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) == 0) return result;
  auto* counted = (flags & SQLITE_OPEN_WAL) != 0 ? &counted_log : &counted_database;
  *counted = *file->pMethods;
  g_system_write = counted->xWrite;
  counted->xWrite = CountedWrite;
  file->pMethods = counted;
  return SQLITE_OK;
}

// Registered as the default before anything asks for the VFS on top of it.
const char* VfsOnCountedDisk() {
  static sqlite3_vfs counted;
  static const char* const name = [] {
    g_system = sqlite3_vfs_find(nullptr);
    counted = *g_system;
    counted.zName = "counted";
    counted.xOpen = OpenCounted;
    sqlite3_vfs_register(&counted, /*makeDflt=*/1);
    const char* const batching = BatchingVfsName();
    sqlite3_vfs_register(g_system, /*makeDflt=*/1);
    return batching;
  }();
  return name;
}

class Connection {
 public:
  Connection(const std::string& path, const char* vfs) {
    constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database_, kFlags, vfs), SQLITE_OK);
  }
  ~Connection() { sqlite3_close_v2(database_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int Run(const std::string& sql) {
    return sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  }
  std::string Text(const char* query) {
    sqlite3_stmt* statement = nullptr;
    std::string text = "no row";
    if (sqlite3_prepare_v2(database_, query, -1, &statement, nullptr) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != nullptr) {
      text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    return text;
  }
  // Every row, as one text.
  std::string Rows() {
    return Text(
        "SELECT group_concat(id || ':' || length(body) || substr(hex(body),1,16)) FROM row");
  }
  void SetUp(const char* cache_pages) {
    ASSERT_EQ(Run(std::string("PRAGMA page_size=4096; PRAGMA journal_mode=WAL;"
                              "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0;"
                              "PRAGMA cache_size=") +
                  cache_pages + "; CREATE TABLE row(id INTEGER PRIMARY KEY, body BLOB)"),
              SQLITE_OK);
  }

 private:
  sqlite3* database_ = nullptr;
};

constexpr const char* kInsertMegabyte =
    "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<50)"
    "INSERT INTO row(body) SELECT zeroblob(20000) FROM n; COMMIT";

class BatchingVfsTest : public testing::Test {
 protected:
  void SetUp() override { g_disk = {}; }

  // What somebody finds who opens the files as they are on the disk now, without what is shared in
  // memory: as after a crash of the process.
  std::string RowsAfterACrash() {
    const std::string copy = directory_.Below("copy.db");
    std::filesystem::remove(copy + "-shm");
    for (const char* companion : {"", "-wal"}) {
      std::filesystem::copy_file(path_ + companion, copy + companion,
                                 std::filesystem::copy_options::overwrite_existing);
    }
    return Connection(copy, nullptr).Rows();
  }

  TempDirectory directory_;
  const std::string path_ = directory_.Below("run.db");
};

TEST_F(BatchingVfsTest, ALongTransactionIsFewWrites) {
  Connection connection(path_, VfsOnCountedDisk());
  connection.SetUp("4000");
  g_disk.writes = 0;
  ASSERT_EQ(connection.Run(kInsertMegabyte), SQLITE_OK);  // some 250 pages
  EXPECT_GE(g_disk.writes, 8);
  EXPECT_LE(g_disk.writes, 16);
  g_disk.writes = 0;
  ASSERT_EQ(connection.Run("PRAGMA wal_checkpoint(TRUNCATE)"), SQLITE_OK);
  EXPECT_GE(g_disk.writes, 8);
  EXPECT_LE(g_disk.writes, 16);
}

// Random transactions, with so small a cache that pages go to the log, come back from it and are
// written to it again before they are committed; the same on the system's VFS beside it. No
// savepoints: SQLite 3.40 itself writes wrong checksums after rolling back to one that was spilled.
TEST_F(BatchingVfsTest, HoldsWhatTheSystemsOwnHoldsAndShowsItAtEachCommit) {
  Connection batching(path_, VfsOnCountedDisk());
  Connection plain(directory_.Below("plain.db"), nullptr);
  Connection reader(path_, nullptr);
  for (Connection* each : {&batching, &plain}) each->SetUp("4");
  constexpr unsigned kSeed = 20261122;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  const auto draw = [&random](int below) { return std::to_string(random() % below); };
  const auto run = [&](const std::string& sql) {
    ASSERT_EQ(batching.Run(sql), SQLITE_OK) << sql;
    ASSERT_EQ(plain.Run(sql), SQLITE_OK) << sql;
  };
  const auto change = [&] {
    const std::string id = draw(60);
    switch (random() % 4) {
      case 0:
        return run("DELETE FROM row WHERE id=" + id);
      case 1:
        return run("UPDATE row SET body=body || CAST('more" + draw(1000) + "' AS BLOB) WHERE id<" +
                   id);
      default:
        return run("INSERT OR REPLACE INTO row VALUES(" + id + ",CAST('" + draw(1 << 30) +
                   "' || hex(zeroblob(" + draw(15'000) + ")) AS BLOB))");
    }
  };
  std::string committed = reader.Rows();
  for (int transaction = 0; transaction < 150; ++transaction) {
    run("BEGIN");
    for (uint32_t n = random() % 24; n > 0; --n) change();
    ASSERT_EQ(reader.Rows(), committed) << "before commit " << transaction;
    run(random() % 8 == 0 ? "ROLLBACK" : "COMMIT");
    committed = plain.Rows();
    ASSERT_EQ(reader.Rows(), committed) << "after commit " << transaction;
    if (transaction % 5 == 0) {
      ASSERT_EQ(RowsAfterACrash(), committed) << transaction;
    }
    if (random() % 10 == 0) run("PRAGMA wal_checkpoint(PASSIVE)");
    if (random() % 20 == 0) run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  EXPECT_EQ(batching.Rows(), committed);
  EXPECT_EQ(batching.Text("PRAGMA integrity_check"), "ok");
  run("PRAGMA wal_checkpoint(TRUNCATE)");
  EXPECT_EQ(Connection(path_, nullptr).Text("PRAGMA integrity_check"), "ok");
}

// At every write of a transaction and of the checkpoint after it: it fails where SQLite is told so,
// and what was committed stays.
TEST_F(BatchingVfsTest, AFullDiskFailsTheCommitOrTheCheckpoint) {
  bool everything_fitted = false;
  int failed_commits = 0;
  int failed_checkpoints = 0;
  for (int writes = 0; !everything_fitted; ++writes) {
    const std::string path = directory_.Below("full" + std::to_string(writes) + ".db");
    std::string before;
    std::string after;
    {
      Connection connection(path, VfsOnCountedDisk());
      connection.SetUp("4000");
      ASSERT_EQ(connection.Run("INSERT INTO row VALUES(7, CAST('kept' AS BLOB))"), SQLITE_OK);
      before = connection.Rows();
      g_disk.writes_left = writes;
      const bool committed = connection.Run(kInsertMegabyte) == SQLITE_OK;
      if (!committed) {
        ++failed_commits;
        connection.Run("ROLLBACK");
      }
      Connection reader(path, nullptr);
      after = reader.Rows();
      EXPECT_EQ(after == before, !committed) << writes;
      const bool moved = committed && connection.Run("PRAGMA wal_checkpoint(PASSIVE)") == SQLITE_OK;
      if (committed && !moved) ++failed_checkpoints;
      everything_fitted = moved;
      EXPECT_EQ(reader.Rows(), after) << writes;
      if (!moved) {  // and it does not go on as if nothing had been
        g_disk.writes_left.reset();
        EXPECT_NE(connection.Run(committed ? "PRAGMA wal_checkpoint(PASSIVE)" : kInsertMegabyte),
                  SQLITE_OK);
      }
      g_disk.writes_left.reset();
    }
    Connection later(path, nullptr);
    EXPECT_EQ(later.Rows(), after) << writes;
    EXPECT_EQ(later.Text("PRAGMA integrity_check"), "ok") << writes;
  }
  EXPECT_GE(failed_commits, 8);
  EXPECT_GE(failed_checkpoints, 8);
}

}  // namespace
}  // namespace gpubound
