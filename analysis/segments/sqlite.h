// SPDX-License-Identifier: Apache-2.0
//
// SQLite, and the only place of the reading half that knows its header. A database that is read is
// opened so that nothing next to it changes: no checkpoint, no new -wal or -shm file. One that is
// created is worthless before whoever writes it has committed all of it. One object, one thread
// at a time.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_SQLITE_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_SQLITE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/segments/database_extent.h"

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

  bool IsInteger(int column) const;  // else it is NULL or of another type
  int64_t Int(int column) const;
  uint32_t Uint32(int column) const { return static_cast<uint32_t>(Int(column)); }
  double Real(int column) const;
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

// A value of a row. Refers to what it was made from.
class SqlValue {
 public:
  template <typename Number>
    requires(std::is_integral_v<Number> || std::is_enum_v<Number>)
  SqlValue(Number number) : number_(static_cast<int64_t>(number)) {}       // NOLINT: implicit
  SqlValue(std::string_view text) : kind_(Kind::kText), text_(text) {}     // NOLINT: implicit
  SqlValue(const std::string& text) : SqlValue(std::string_view(text)) {}  // NOLINT: implicit
  SqlValue(const char* text) : SqlValue(std::string_view(text)) {}         // NOLINT: implicit
  SqlValue(std::span<const std::byte> blob) : kind_(Kind::kBlob), blob_(blob) {}  // NOLINT

 private:
  friend class Database;
  enum class Kind : uint8_t { kNumber, kText, kBlob };
  Kind kind_ = Kind::kNumber;
  int64_t number_ = 0;
  std::string_view text_;
  std::span<const std::byte> blob_;
};

class Database {
 public:
  // Opens |path| without changing anything beside it. A database that was left in write-ahead mode
  // without its index file is copied, with its log, to a temporary directory first, and so is one
  // in a place where the index cannot be used, or one that ends inside a page: the copy ends
  // before.
  static Result<Database> OpenReadOnly(const std::string& path);

  // From now on, databases that nobody writes any more and that lie on this machine are read where
  // they lie in the page cache. A disk that fails meanwhile, or a file that gets shorter, is a
  // SIGBUS then: for programs that handle it. Call before threads are started.
  static void MapFiles();
  // Has SQLite begin, and keep no sum of the memory it takes: threads that open databases side by
  // side would wait for each other. Nothing happens where it has begun.
  static void PrepareForThreads();
  // Whether the databases that are open take half of the descriptors that the process may have, or
  // more: then those that can be opened again at any time had better be closed. Any thread.
  static bool ManyAreOpen();
  // Whether to open it again reads the same: nobody writes it any more, and it is read as it is.
  bool CanBeOpenedAgain() const { return immutable_ && !tolerates_truncation_; }

  // Begins to read so, where that is wanted and possible, or gives back what was read so by now.
  // While a query holds a row, that may stay.
  void MapAnew();

  // Creates |path|, 0600, in which |schema| is executed, and begins a transaction. A file
  // that is there already is an error.
  static Result<Database> Create(const std::string& path, const std::string& schema);
  // Opens one that was created and committed, and begins another transaction.
  static Result<Database> GoOn(const std::string& path);

  // Moves into the database |path|, which nobody writes any more, what lies in logs beside it; then
  // none does. An error where that cannot be, as while somebody reads there.
  static Status FoldLogs(const std::string& path);

  // Removes the rows |ids| of |table| from the database |path| and gives their space back. For a
  // copy that nobody else has open: a reader would find pages of before and of after.
  static Status RemoveRows(const std::string& path, const std::string& table,
                           const std::vector<int64_t>& ids);

  // Adds a row to |table|, of a database that was created. False on failure; ask LastError().
  bool Insert(const std::string& table, std::initializer_list<SqlValue> values);

  // Ends the transaction. False where the database could not be written whole.
  bool Commit();

  // A query that fails to compile behaves like one that fails at its first step.
  Query Prepare(std::string_view sql);

  // First column of the first row; |otherwise| where there is none.
  int64_t Scalar(std::string_view sql, int64_t otherwise);

  // Of the file as it was when it was opened for reading; absent where it had no header.
  const std::optional<DatabaseExtent>& extent() const { return extent_; }

  // Goes on with what is there of a file that is shorter than it says: whole pages are readable,
  // and a query fails when it meets one that is missing.
  void TolerateTruncation();

  // What SQLite says about the last failure.
  std::string LastError() const;
  // The same of a failure to read |table|. That it is none but a view, which is not run, is said in
  // plain words.
  std::string LastErrorOf(const std::string& table) const;
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
  static Result<Database> OpenToWrite(const std::string& path, const std::string& sql);
  static Result<Database> OpenToChange(const std::string& path);
  void Own(sqlite3* opened);
  bool Execute(const char* sql);
  static Result<Database> OpenAt(const std::string& path, const std::string& uri);
  static Result<Database> OpenBesideLog(const std::string& path);
  static Result<Database> OpenCopyOf(const std::string& path, const DatabaseExtent* cut = nullptr);

  std::optional<DatabaseExtent> extent_;
  bool immutable_ = false;
  bool tolerates_truncation_ = false;
  bool may_be_mapped_ = false;
  bool mapped_ = false;
  std::unique_ptr<TemporaryDirectory> copy_;  // outlives database_
  std::unique_ptr<sqlite3, Close> database_;
  std::map<std::string, Query> inserts_;  // by table; gone before database_
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_SQLITE_H_
