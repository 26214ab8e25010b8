// SPDX-License-Identifier: Apache-2.0
//
// Opens databases for reading. Which way depends on what lies beside them:
//
//   no -wal, or an empty one    immutable: no lock, no index file, nothing is created
//   -wal and -shm               in place: the writer may be alive, and the index lets both work
//   -wal without -shm           a copy of both, since reading in place would create a -shm
//   -journal                    a copy, in which the interrupted transaction is rolled back
//   a page in part at its end   a copy without it: SQLite would take what is missing for zeros
#include "analysis/segments/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <system_error>

#include "analysis/base/plain_file.h"
#include "proto/filesystem_kind.h"
#include "proto/run_path.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

// How long a reader waits for a writer's short lock (segment rollover, rollback journals).
constexpr int kBusyTimeoutMs = 5000;

constexpr int kMostCopies = 5;

std::string UriOf(const std::string& path, const char* parameters) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      uri += c;
    }
  }
  return uri + "?" + parameters;
}

// Of address space, not of memory.
constexpr sqlite3_int64 kWholeDatabase = sqlite3_int64{1} << 40;

bool map_files = false;

std::atomic<uint64_t> open_databases{0};

uint64_t DescriptorLimit() {
  rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// SQLite says of a file only that it could not be opened.
bool DescriptorsAreUsedUp() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) close(fd);
  return fd < 0 && (errno == EMFILE || errno == ENFILE);
}

bool IsLocal(const std::string& path) {
  struct statfs info;
  return statfs(path.c_str(), &info) == 0 &&
         !KindOfFilesystem(static_cast<uint64_t>(info.f_type)).is_network;
}

Error OpenError(const std::string& path, const std::string& found) {
  if (DescriptorsAreUsedUp()) {
    return {"opening the database", path,
            "no file descriptor left of the " + std::to_string(DescriptorLimit()) +
                " that a process may have",
            "one more",
            "Raise the limit (`ulimit -n 65536`; beyond `ulimit -Hn` an administrator must) and "
            "try again: nothing is wrong with the file."};
  }
  std::error_code ignored;
  const bool fits = fs::absolute(path, ignored).string().size() <= kLongestDatabasePath;
  return {"opening the database", path, found, "a readable SQLite file",
          fits ? "Check that you may read the file and that its directory is complete."
               : "Move the run to a shorter path: SQLite opens no file whose path has more than " +
                     std::to_string(kLongestDatabasePath) + " bytes."};
}

Error CreateError(const std::string& path, const std::string& found) {
  return {"creating the database", path, found, "a new file",
          "Choose a folder that can be written and has room."};
}

// Whoever wrote the file may have put queries into it that never end: a view in the place of a
// table, a trigger.
void ExecuteNothing(sqlite3* database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

}  // namespace

void Query::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
  open_databases.fetch_sub(1, std::memory_order_relaxed);
}

void Database::Own(sqlite3* opened) {
  if (opened != nullptr) open_databases.fetch_add(1, std::memory_order_relaxed);
  database_.reset(opened);
}

bool Database::ManyAreOpen() {
  return 2 * open_databases.load(std::memory_order_relaxed) >= DescriptorLimit();
}

Database::TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

bool Query::Step() {
  if (statement_ == nullptr) failed_ = true;
  if (failed_) return false;
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  failed_ = result != SQLITE_DONE;
  return false;
}

bool Query::IsInteger(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

int64_t Query::Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }

double Query::Real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Query::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return {};
  const int bytes = sqlite3_column_bytes(statement_.get(), column);
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(bytes)};
}

std::span<const std::byte> Query::Blob(int column) const {
  const void* blob = sqlite3_column_blob(statement_.get(), column);
  if (blob == nullptr) return {};
  const int bytes = sqlite3_column_bytes(statement_.get(), column);
  return {static_cast<const std::byte*>(blob), static_cast<size_t>(bytes)};
}

void Query::Bind(int parameter, int64_t value) {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_.get());
  sqlite3_bind_int64(statement_.get(), parameter, value);
  failed_ = false;
}

Result<Database> Database::OpenReadOnly(const std::string& path) {
  if (IsNoPlainFile(path)) return OpenError(path, kNoPlainFile);
  const std::optional<DatabaseExtent> extent = ExtentOf(path);
  const bool in_part = extent && extent->EndsInsidePage();
  Result<Database> opened = in_part ? OpenCopyOf(path, &*extent) : OpenBesideLog(path);
  if (opened.ok()) opened->extent_ = extent;
  return opened;
}

Result<Database> Database::OpenBesideLog(const std::string& path) {
  // A recorder on a network filesystem may end its transaction, and begin another, meanwhile.
  for (int copies = 1; HasContent(path + "-journal"); ++copies) {
    Result<Database> copy = OpenCopyOf(path);
    if (copy.ok() || copies == kMostCopies) return copy;
  }
  if (!HasContent(path + "-wal")) {
    Result<Database> sealed = OpenAt(path, UriOf(path, "mode=ro&immutable=1"));
    if (sealed.ok()) {
      sealed->immutable_ = true;
      sealed->may_be_mapped_ = map_files && IsLocal(path);
    }
    return sealed;
  }
  if (!HasContent(path + "-shm")) return OpenCopyOf(path);
  Result<Database> in_place = OpenAt(path, UriOf(path, "mode=ro"));
  // The index may be unusable (read-only directory, another user's file): then nothing can be read
  // in place, which shows at the first query only.
  if (!in_place.ok() || in_place->Scalar("PRAGMA schema_version", -1) < 0) {
    Result<Database> copy = OpenCopyOf(path);
    if (copy.ok()) return copy;
  }
  return in_place;
}

void Database::MapFiles() { map_files = true; }

void Database::PrepareForThreads() {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3_initialize();
}

// A limit of zero unmaps the file, the limit of before maps it anew.
void Database::MapAnew() {
  if (!may_be_mapped_) return;
  if (!mapped_) {
    const std::string pragma = "PRAGMA mmap_size=" + std::to_string(kWholeDatabase);
    sqlite3_exec(database_.get(), pragma.c_str(), nullptr, nullptr, nullptr);
    mapped_ = true;
    return;
  }
  for (sqlite3_int64 limit : {sqlite3_int64{0}, kWholeDatabase}) {
    sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_MMAP_SIZE, &limit);
  }
}

Result<Database> Database::OpenAt(const std::string& path, const std::string& uri) {
  Database database;
  sqlite3* opened = nullptr;
  // The URI's mode narrows this to reading, except for a copy of ours.
  const int result = sqlite3_open_v2(
      uri.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  database.Own(opened);
  if (result != SQLITE_OK) return OpenError(path, sqlite3_errstr(result));
  sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  ExecuteNothing(opened);
  sqlite3_busy_timeout(opened, kBusyTimeoutMs);
  return database;
}

Result<Database> Database::OpenCopyOf(const std::string& path, const DatabaseExtent* cut) {
  if (cut != nullptr && cut->WholePages() == 0 && !cut->has_log) {
    Error error = OpenError(path, std::to_string(cut->found) + " of " +
                                      std::to_string(cut->expected) + " bytes, less than a page");
    error.remedy =
        "It was cut, or copied while it was written: copy it again, with the files beside it whose "
        "names begin as its own (-wal).";
    return error;
  }
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "gpubound-XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr) {
    return OpenError(path, "no temporary directory to copy it to");
  }
  auto copy = std::make_unique<TemporaryDirectory>(pattern);
  const std::string target = pattern + "/segment.db";
  // The logs first: a page that moves from one into the database in between is then read twice, not
  // lost.
  for (const char* log : {"-wal", "-journal"}) {
    if (!error && HasContent(path + log)) fs::copy_file(path + log, target + log, error);
  }
  if (!error) fs::copy_file(path, target, error);
  if (!error) {
    fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write, error);
  }
  if (!error && cut != nullptr) fs::resize_file(target, cut->WholePages(), error);
  // Of an empty database SQLite would not read the log.
  if (!error && cut != nullptr && cut->WholePages() == 0) fs::resize_file(target, cut->page, error);
  if (error) return OpenError(path, "a copy that failed (" + error.message() + ")");
  Result<Database> database = OpenAt(path, UriOf(target, "mode=rw"));
  if (database.ok()) database->copy_ = std::move(copy);
  return database;
}

Result<Database> Database::Create(const std::string& path, const std::string& schema) {
  // SQLite would create it 0644.
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return CreateError(path, std::generic_category().message(errno));
  close(fd);
  return OpenToWrite(path, "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; BEGIN;" + schema);
}

Result<Database> Database::GoOn(const std::string& path) {
  return OpenToWrite(path, "PRAGMA journal_mode=OFF; BEGIN;");
}

Result<Database> Database::OpenToWrite(const std::string& path, const std::string& sql) {
  Database database;
  sqlite3* opened = nullptr;
  // Nobody else knows of the file yet. To lock it, SQLite would look through all files that it has
  // open.
  const int result = sqlite3_open_v2(path.c_str(), &opened,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, "unix-none");
  database.Own(opened);
  if (result != SQLITE_OK) return CreateError(path, sqlite3_errstr(result));
  // Whoever writes it removes it on failure, so there is nothing that a journal could save.
  if (!database.Execute(("PRAGMA synchronous=OFF; " + sql).c_str())) {
    return CreateError(path, database.LastError());
  }
  return database;
}

Result<Database> Database::OpenToChange(const std::string& path) {
  Database database;
  sqlite3* opened = nullptr;
  const int result =
      sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  database.Own(opened);
  if (result != SQLITE_OK) return OpenError(path, sqlite3_errstr(result));
  ExecuteNothing(opened);
  sqlite3_busy_timeout(opened, kBusyTimeoutMs);
  return database;
}

bool Database::Execute(const char* sql) {
  return sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK;
}

Status Database::FoldLogs(const std::string& path) {
  const auto has_log = [&path] {
    return HasContent(path + "-wal") || HasContent(path + "-journal");
  };
  if (!has_log()) return Ok{};
  Result<Database> database = OpenToChange(path);
  if (!database.ok()) return database.error();
  // To begin is enough to roll an interrupted transaction back.
  const bool done = database->Execute("BEGIN IMMEDIATE") && database->Execute("COMMIT") &&
                    database->Execute("PRAGMA journal_mode=DELETE") && !has_log();
  if (done) return Ok{};
  const bool read = sqlite3_errcode(database->database_.get()) == SQLITE_BUSY;
  return Error{"moving the log into the database", path,
               read ? "somebody who reads it" : database->LastError(),
               "a segment that can be changed and that nobody reads",
               "Its sums are safe. Compact again when nobody reads the run."};
}

Status Database::RemoveRows(const std::string& path, const std::string& table,
                            const std::vector<int64_t>& ids) {
  Result<Database> database = OpenToChange(path);
  if (!database.ok()) return database.error();
  // No journal: a copy that is done in part is thrown away.
  bool done = database->Execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN IMMEDIATE");
  {
    Query remove = database->Prepare("DELETE FROM " + table + " WHERE rowid=?1");
    for (size_t i = 0; done && i < ids.size(); ++i) {
      remove.Bind(1, ids[i]);
      remove.Step();
      done = !remove.failed();
    }
  }
  done = done && database->Execute("COMMIT") && database->Execute("VACUUM");
  if (done) return Ok{};
  return Error{"removing detail", path, database->LastError(), "a segment that can be changed",
               "Its sums are safe. Check permissions and space, then compact again."};
}

bool Database::Insert(const std::string& table, std::initializer_list<SqlValue> values) {
  Query& query = inserts_[table];
  if (query.statement_ == nullptr) {
    std::string sql = "INSERT OR REPLACE INTO " + table + " VALUES(?";
    for (size_t i = 1; i < values.size(); ++i) sql += ",?";
    query = Prepare(sql + ")");
  }
  sqlite3_stmt* const statement = query.statement_.get();
  if (statement == nullptr) return false;
  int index = 0;
  for (const SqlValue& value : values) {
    ++index;
    switch (value.kind_) {
      case SqlValue::Kind::kNumber:
        sqlite3_bind_int64(statement, index, value.number_);
        break;
      case SqlValue::Kind::kText:
        sqlite3_bind_text64(statement, index, value.text_.data(), value.text_.size(), SQLITE_STATIC,
                            SQLITE_UTF8);
        break;
      case SqlValue::Kind::kBlob:
        sqlite3_bind_blob64(statement, index, value.blob_.data(), value.blob_.size(),
                            SQLITE_STATIC);
        break;
    }
  }
  const bool done = sqlite3_step(statement) == SQLITE_DONE;
  sqlite3_reset(statement);
  return done;
}

bool Database::Commit() {
  inserts_.clear();
  return sqlite3_exec(database_.get(), "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK;
}

Query Database::Prepare(std::string_view sql) {
  Query query;
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                     nullptr);
  query.statement_.reset(statement);
  return query;
}

int64_t Database::Scalar(std::string_view sql, int64_t otherwise) {
  Query query = Prepare(sql);
  return query.Step() ? query.Int(0) : otherwise;
}

void Database::TolerateTruncation() {
  tolerates_truncation_ = true;
  // Read-only, so "writable schema" changes nothing but SQLite's refusal to look at a short file.
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
}

std::string Database::LastError() const { return sqlite3_errmsg(database_.get()); }

std::string Database::LastErrorOf(const std::string& table) const {
  std::string error = LastError();
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database_.get(), "SELECT 1 FROM sqlite_schema WHERE type='view' AND name=?1",
                     -1, &statement, nullptr);
  sqlite3_bind_text(statement, 1, table.data(), static_cast<int>(table.size()), SQLITE_STATIC);
  if (sqlite3_step(statement) == SQLITE_ROW) {
    error = "a view, which is a query; nothing that a trace holds is run";
  }
  sqlite3_finalize(statement);
  return error;
}

bool Database::LastErrorWasDamage() const {
  const int code = sqlite3_errcode(database_.get()) & 0xff;
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

}  // namespace gpubound
