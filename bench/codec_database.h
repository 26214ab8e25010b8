// SPDX-License-Identifier: Apache-2.0
//
// The least of an SQLite writer with the collector's pragmas, for the plain rows of codec_bench.
// Ends the program on any error: a benchmark that goes on would print nonsense.
#ifndef GPUBOUND_BENCH_CODEC_DATABASE_H_
#define GPUBOUND_BENCH_CODEC_DATABASE_H_

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace gpubound {

[[noreturn]] inline void Fail(const char* what, sqlite3* db) {
  std::fprintf(stderr, "codec_bench: %s: %s\n", what, db != nullptr ? sqlite3_errmsg(db) : "");
  std::exit(1);
}

// A database of our own, with the collector's pragmas.
class Database {
 public:
  Database(const std::string& path, int page_size) : path_(path) {
    Remove();
    if (sqlite3_open_v2(path.c_str(), &db_,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        nullptr) != SQLITE_OK) {
      Fail("open", db_);
    }
    Run(("PRAGMA page_size=" + std::to_string(page_size) +
         "; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=" +
         std::to_string(kLogBytes / page_size) + "; PRAGMA cache_size=-8192;")
            .c_str());
  }
  ~Database() { Close(); }

  sqlite3* handle() { return db_; }
  void Run(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) Fail(sql, db_);
  }
  sqlite3_stmt* Prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr) != SQLITE_OK) Fail(sql, db_);
    statements_.push_back(statement);
    return statement;
  }
  void Step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) Fail("insert", db_);
    sqlite3_reset(statement);
  }
  void Close() {
    if (db_ == nullptr) return;
    for (sqlite3_stmt* statement : statements_) sqlite3_finalize(statement);
    statements_.clear();
    if (sqlite3_close(db_) != SQLITE_OK) Fail("close", db_);
    db_ = nullptr;
  }
  double Bytes() const {
    struct stat info;
    return stat(path_.c_str(), &info) == 0 ? static_cast<double>(info.st_size) : 0;
  }
  void Remove() {
    for (const char* suffix : {"", "-wal", "-shm"}) unlink((path_ + suffix).c_str());
  }

 private:
  static constexpr int kLogBytes = 8 << 20;  // of the log between two checkpoints

  std::string path_;
  sqlite3* db_ = nullptr;
  std::vector<sqlite3_stmt*> statements_;
};

}  // namespace gpubound

#endif  // GPUBOUND_BENCH_CODEC_DATABASE_H_
