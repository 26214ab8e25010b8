// SPDX-License-Identifier: Apache-2.0
//
// SQLite for reading, and the only place of the reading half that knows its header. A database is
// opened so that nothing next to it changes: no checkpoint, no new -wal or -shm file. One object,
// one thread at a time.
#ifndef GPUBOUND_ANALYSIS_SQLITE_H_
#define GPUBOUND_ANALYSIS_SQLITE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "analysis/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace gpubound {

// A prepared query and its current row. Column accessors are valid after Step() returned true and
// until the next Step(); a column that is NULL or of another type converts as SQLite does.
class Query {
 public:
  // True when there is a row. False at the end and on failure; ask failed().
  bool Step();
  bool failed() const { return failed_; }

  int64_t Int(int column) const;
  std::string Text(int column) const;
  std::span<const std::byte> Blob(int column) const;

  // For parameters ?1, ?2, ... Resets the query.
  void Bind(int parameter, int64_t value);

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  bool failed_ = false;
};

class Database {
 public:
  // Opens |path| without changing anything beside it. A database that was left in write-ahead mode
  // without its index file is copied, with its log, to a temporary directory first, and so is one
  // in a place where the index cannot be used.
  static Result<Database> OpenReadOnly(const std::string& path);

  // A query that fails to compile behaves like one that fails at its first step.
  Query Prepare(std::string_view sql);

  // First column of the first row; |otherwise| where there is none.
  int64_t Scalar(std::string_view sql, int64_t otherwise);

  // Goes on with what is there of a file that is shorter than it says: whole pages are readable,
  // and a query fails when it meets one that is missing.
  void TolerateTruncation();

  // What SQLite says about the last failure.
  std::string LastError() const;
  bool LastErrorWasDamage() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  // A directory that is removed with its content.
  struct TemporaryDirectory {
    explicit TemporaryDirectory(std::string made) : path(std::move(made)) {}
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const std::string path;
  };
  static Result<Database> OpenAt(const std::string& path, const std::string& uri);
  static Result<Database> OpenCopyOf(const std::string& path);

  std::unique_ptr<TemporaryDirectory> copy_;  // outlives database_
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SQLITE_H_
