// SPDX-License-Identifier: Apache-2.0
//
// Queries by SQLite. One object, one thread.
#include "analysis/output/tables/sqlite_session.h"

#include <string.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "analysis/output/tables/sqlite_api.h"

namespace gpubound {
namespace {

// What a query may do: read, call functions, and ask what there is.
int Authorize(void* read, int action, const char* first, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_READ:
      if (first != nullptr) static_cast<std::set<std::string>*>(read)->insert(first);
      return SQLITE_OK;
    case SQLITE_SELECT:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_PRAGMA:
      for (const char* harmless : {"table_info", "table_xinfo", "table_list", "function_list"}) {
        if (first != nullptr && strcasecmp(first, harmless) == 0) return SQLITE_OK;
      }
      return SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

Cell CellAt(sqlite3_stmt* statement, int column, std::string* hex) {
  const auto text_of = [&] {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
    return text != nullptr ? std::string_view(text, size) : std::string_view();
  };
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT:
      return text_of();
    case SQLITE_BLOB: {
      static constexpr char kHex[] = "0123456789ABCDEF";
      const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement, column));
      hex->clear();
      for (int i = 0; i < sqlite3_column_bytes(statement, column); ++i) {
        *hex += {kHex[bytes[i] >> 4], kHex[bytes[i] & 15]};
      }
      return std::string_view(*hex);
    }
    default:
      return {};
  }
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Error QueryError(sqlite3* database, std::string_view sql) {
  std::string found = sqlite3_errmsg(database);
  std::string remedy = "gpubound sql --tables lists tables and columns.";
  if ((sqlite3_errcode(database) & 0xff) == SQLITE_AUTH) {
    found = "a statement that does more than read";
    remedy = "gpubound export RUN --sqlite FILE makes a database that is yours to change.";
  }
  constexpr size_t kShown = 60;
  std::string object(sql.substr(0, kShown));
  if (sql.size() > kShown) object += "...";
  return {"running the query", object, found, "", remedy};
}

std::string Quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

// Statements that make |table| in |schema| and fill it from |source|, with indexes.
std::string CopyStatements(const TraceTable& table, const std::string& schema,
                           const std::string& source) {
  const std::string name = Quoted(table.name);
  std::string sql = "CREATE TABLE " + schema + "." + name + "(";
  std::string indexes;
  for (const ColumnInfo& column : table.columns) {
    if (&column != table.columns.data()) sql += ", ";
    sql += Quoted(column.name) + " " + SqlType(column.type);
    if (!column.indexed) continue;
    indexes += "CREATE INDEX " + schema + "." +
               Quoted(std::string(table.name) + "_" + column.name) + " ON " + name + "(" +
               Quoted(column.name) + ");";
  }
  return sql + "); INSERT INTO " + schema + "." + name + " SELECT * FROM " + source + ";" + indexes;
}

// A copy takes some hundred bytes and a microsecond for each event.
constexpr uint64_t kMostCopiedEvents = 20'000'000;

uint64_t EventsOf(TraceRun* run) {
  uint64_t events = 0;
  const auto add = [&events](const std::vector<EventPiece>& pieces) {
    for (const EventPiece& piece : pieces) events += piece.count;
  };
  for (size_t i = 0; i < run->processes(); ++i) {
    const EventPieces& pieces = run->pieces(i);
    for (uint32_t t = 0; t < run->process(i).threads.size(); ++t) add(pieces.OfThread(t));
    for (const EventFamily family : {EventFamily::kApi, EventFamily::kDevice, EventFamily::kSync,
                                     EventFamily::kOverhead, EventFamily::kStack}) {
      add(pieces.OfFamily(family));
    }
  }
  return events;
}

}  // namespace

void SqlSession::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

Result<std::unique_ptr<SqlSession>> SqlSession::Open(const std::string& run_path) {
  auto runs = std::make_shared<OpenRuns>();
  Result<std::shared_ptr<TraceRun>> run = runs->Open(run_path);
  if (!run.ok()) return run.error();
  auto session = std::make_unique<SqlSession>();
  session->run_ = std::move(*run);
  sqlite3* database = nullptr;
  const int opened =
      sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  session->database_.reset(database);
  std::string wrong = opened == SQLITE_OK ? "" : sqlite3_errstr(opened);
  if (wrong.empty() && !RegisterTraceModule(database, runs)) wrong = sqlite3_errmsg(database);
  if (wrong.empty()) wrong = CreateTraceTables(database, "main", run_path, "");
  if (!wrong.empty()) return Error{"opening the run for queries", run_path, wrong, "", ""};
  sqlite3_set_authorizer(database, Authorize, &session->read_);
  // A mistyped name in double quotes is an error and no text.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  return session;
}

Status SqlSession::Run(std::string_view sql, RowSink* sink) {
  while (!sql.empty()) {
    const Status done = RunStatement(&sql, sink);
    if (!done.ok()) return done;
  }
  return Ok{};
}

// Whether |statement| goes through virtual tables in more than one loop, or one of them more than
// once.
bool SqlSession::JoinsTables(std::string_view statement) {
  const std::string sql = "EXPLAIN QUERY PLAN " + std::string(statement);
  sqlite3_stmt* prepared = nullptr;
  sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &prepared, nullptr);
  const Statement plan(prepared);  // null where it is one that explains
  int loops = 0;
  while (prepared != nullptr && sqlite3_step(prepared) == SQLITE_ROW) {
    const auto* line = reinterpret_cast<const char*>(sqlite3_column_text(prepared, 3));
    if (line != nullptr && std::strstr(line, "VIRTUAL TABLE") != nullptr) ++loops;
  }
  return loops > 1;
}

// Of the tables that were read, those of events; a report's are short. A copy hides the virtual
// table of its name. One that cannot be made, because the disk is full, is none.
void SqlSession::CopyTables() {
  sqlite3* const database = database_.get();
  sqlite3_set_authorizer(database, nullptr, nullptr);
  for (const std::string& name : read_) {
    const TraceTable* const table = FindTraceTable(name);
    if (table == nullptr || !table->of_events || !copied_.insert(name).second) continue;
    const std::string sql =
        "SAVEPOINT copy;" + CopyStatements(*table, "temp", "main." + Quoted(name)) + "RELEASE copy";
    if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) continue;
    sqlite3_exec(database, "ROLLBACK TO copy; RELEASE copy", nullptr, nullptr, nullptr);
  }
  sqlite3_set_authorizer(database, Authorize, &read_);
}

// The first statement of |rest|, which loses it.
Status SqlSession::RunStatement(std::string_view* rest, RowSink* sink) {
  sqlite3_stmt* prepared = nullptr;
  const char* tail = nullptr;
  const std::string_view sql = *rest;
  read_.clear();
  if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &prepared,
                         &tail) != SQLITE_OK) {
    return QueryError(database_.get(), sql);
  }
  Statement statement(prepared);
  const auto length = static_cast<size_t>(tail - sql.data());
  rest->remove_prefix(length);
  if (prepared != nullptr && JoinsTables(sql.substr(0, length)) &&
      EventsOf(run_.get()) <= kMostCopiedEvents) {
    CopyTables();
    sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(length), &prepared, nullptr);
    statement.reset(prepared);
    if (prepared == nullptr) return QueryError(database_.get(), sql);
  }
  if (prepared == nullptr) return Ok{};  // a comment, or nothing
  const int columns = sqlite3_column_count(prepared);
  std::vector<std::string> names;
  for (int i = 0; i < columns; ++i) names.emplace_back(sqlite3_column_name(prepared, i));
  sink->Begin(names);
  std::vector<Cell> cells(static_cast<size_t>(columns));
  std::vector<std::string> hex(cells.size());
  int result = sqlite3_step(prepared);
  for (; result == SQLITE_ROW; result = sqlite3_step(prepared)) {
    for (int i = 0; i < columns; ++i) {
      const auto at = static_cast<size_t>(i);
      cells[at] = CellAt(prepared, i, &hex[at]);
    }
    if (!sink->Row(cells)) break;
  }
  sink->End();
  if (result != SQLITE_ROW && result != SQLITE_DONE) return QueryError(database_.get(), sql);
  return Ok{};
}

Status WriteSqliteTables(const std::string& run_path, const std::string& file, bool* input_failed,
                         std::vector<std::string>* problems) {
  *input_failed = true;
  auto runs = std::make_shared<OpenRuns>();
  Result<std::shared_ptr<TraceRun>> run = runs->Open(run_path);
  if (!run.ok()) return run.error();
  if ((*run)->report() == nullptr) return *(*run)->report_error();
  *input_failed = false;
  sqlite3* opened = nullptr;
  int result = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, sqlite3_close);
  // Whoever writes it removes it on failure, so there is nothing that a journal could save.
  std::string sql =
      "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA user_version=1; BEGIN;";
  sql += "CREATE TABLE export(key TEXT PRIMARY KEY, value TEXT);";
  sql += "INSERT INTO export VALUES('format', '" + std::string(kTablesFormat) +
         "'), ('version', '" GPUBOUND_VERSION "');";
  for (const TraceTable& table : AllTraceTables()) {
    sql += CopyStatements(table, "main", "temp." + Quoted("source_" + std::string(table.name)));
  }
  sql += "COMMIT;";
  std::string wrong;
  if (result == SQLITE_OK && !RegisterTraceModule(opened, runs)) result = SQLITE_ERROR;
  if (result == SQLITE_OK) {
    wrong = CreateTraceTables(opened, "temp", run_path, "source_");
    if (wrong.empty()) result = sqlite3_exec(opened, sql.c_str(), nullptr, nullptr, nullptr);
  }
  if (wrong.empty() && result != SQLITE_OK) wrong = sqlite3_errmsg(opened);
  *problems = (*run)->problems();
  if (wrong.empty()) return Ok{};
  return Error{"writing the tables", file, wrong, "room for them",
               "Choose a place with more room."};
}

}  // namespace gpubound
