// SPDX-License-Identifier: Apache-2.0
//
// Virtual tables. What SQLite calls here is C: nothing throws across. State is that of a
// connection.
#include "analysis/output/tables/sqlite_module.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include "analysis/base/utf8.h"
#include "analysis/output/tables/sqlite_api.h"
#include "analysis/output/tables/trace_table.h"

namespace gpubound {
namespace {

// Rows of a table of events, for the planner; a report's are a handful.
constexpr double kManyRows = 1e6;
constexpr double kFewRows = 30;
constexpr double kRowsOfCorrelation = 2;

// SQLite's structures come first, since it hands back pointers to them.
struct Table : sqlite3_vtab {
  std::shared_ptr<TraceRun> run;
  const TraceTable* table = nullptr;
};
struct Cursor : sqlite3_vtab_cursor {
  std::unique_ptr<RowCursor> rows;
  sqlite3_int64 row = 0;
  bool at_end = false;
  std::string scratch;
};

void SetError(char** message, const std::string& text) {
  *message = sqlite3_mprintf("%s", text.c_str());
}

// Runs |body|, which returns an SQLite result code; an exception becomes one.
template <typename Body>
int Guarded(char** message, const Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const std::exception& exception) {
    if (message != nullptr) SetError(message, exception.what());
    return SQLITE_ERROR;
  }
}

// An argument of CREATE VIRTUAL TABLE without its quotes.
std::string Unquoted(const char* argument) {
  std::string text(argument);
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"') || text.back() != text[0]) {
    return text;
  }
  std::string plain;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    plain += text[i];
    if (text[i] == text[0]) ++i;  // doubled
  }
  return plain;
}

std::string Declaration(const TraceTable& table) {
  std::string sql = "CREATE TABLE x(";
  for (const ColumnInfo& column : table.columns) {
    if (sql.back() != '(') sql += ", ";
    sql += std::string("\"") + column.name + "\" " + SqlType(column.type);
  }
  return sql + ")";
}

int Connect(sqlite3* database, void* runs, int count, const char* const* arguments,
            sqlite3_vtab** result, char** message) {
  return Guarded(message, [&] {
    if (count != 5) {
      SetError(message, "gpubound takes two arguments: USING gpubound('RUN', 'TABLE')");
      return SQLITE_ERROR;
    }
    const std::string name = Unquoted(arguments[4]);
    const TraceTable* table = FindTraceTable(name);
    if (table == nullptr) {
      SetError(message, "gpubound has no table '" + name + "'");
      return SQLITE_ERROR;
    }
    auto run = (*static_cast<std::shared_ptr<OpenRuns>*>(runs))->Open(Unquoted(arguments[3]));
    if (!run.ok()) {
      SetError(message, run.error().ToString());
      return SQLITE_ERROR;
    }
    const int declared = sqlite3_declare_vtab(database, Declaration(*table).c_str());
    if (declared != SQLITE_OK) return declared;
    auto made = std::make_unique<Table>();
    made->run = std::move(*run);
    made->table = table;
    *result = made.release();
    return SQLITE_OK;
  });
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

// Which limits a plan passes to Filter(), two characters each: the column's role, the comparison.
char RoleCode(ColumnRole role) {
  static constexpr char kCodes[] = {'\0', 'p', 't', 'b', 'e', 'i', 'c'};
  return kCodes[static_cast<size_t>(role)];
}

char ComparisonCode(unsigned char op) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return '=';
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
      return '>';
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
      return '<';
    default:
      return '\0';
  }
}

int BestIndex(sqlite3_vtab* base, sqlite3_index_info* info) {
  return Guarded(nullptr, [&] {
    const TraceTable& table = *static_cast<Table*>(base)->table;
    std::string plan;
    double rows = table.of_events ? kManyRows : kFewRows;
    for (int i = 0; i < info->nConstraint; ++i) {
      const auto& constraint = info->aConstraint[i];
      if (constraint.usable == 0 || constraint.iColumn < 0) continue;
      const ColumnRole role = table.columns[static_cast<size_t>(constraint.iColumn)].role;
      const char comparison = ComparisonCode(constraint.op);
      const bool is_correlation = role == ColumnRole::kCorrelation;
      const bool is_number =
          is_correlation || role == ColumnRole::kProcess || role == ColumnRole::kThread;
      if (role == ColumnRole::kNone || comparison == '\0') continue;
      if (is_number && comparison != '=') continue;
      plan += {RoleCode(role), comparison};
      // Not omitted: a piece holds more than what is asked for, and SQLite looks at each row.
      info->aConstraintUsage[i].argvIndex = static_cast<int>(plan.size() / 2);
      rows = is_correlation                    ? std::min(rows, kRowsOfCorrelation)
             : comparison == '=' && !is_number ? rows / 1000
                                               : rows / 4;
    }
    info->idxStr = sqlite3_mprintf("%s", plan.c_str());
    info->needToFreeIdxStr = 1;
    info->estimatedCost = rows;
    info->estimatedRows = static_cast<sqlite3_int64>(rows) + 1;
    return info->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
  });
}

// The integer at or below |value|. False where it limits nothing, as a text does.
bool Floor(sqlite3_value* value, int64_t* floor) {
  const int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_INTEGER) {
    *floor = sqlite3_value_int64(value);
    return true;
  }
  const double real = std::floor(sqlite3_value_double(value));
  if (type != SQLITE_FLOAT || !(std::fabs(real) < 9e18)) return false;
  *floor = static_cast<int64_t>(real);
  return true;
}

// Narrows |filter| by one limit of a plan; a fraction is taken as the integers around it.
void Narrow(char role, char comparison, int64_t floor, RowFilter* filter) {
  if (role == 'p') filter->process = floor;
  if (role == 't') filter->thread = floor;
  if (role == 'c') filter->correlation = floor;
  const bool from = comparison != '<';
  const bool until = comparison != '>';
  const int64_t ceiling = floor == std::numeric_limits<int64_t>::max() ? floor : floor + 1;
  if (role == 'b' || role == 'i') {
    if (from) filter->begin_min_ns = std::max(filter->begin_min_ns, floor);
    if (until) filter->begin_max_ns = std::min(filter->begin_max_ns, ceiling);
  }
  if (role == 'e' || role == 'i') {
    if (from) filter->end_min_ns = std::max(filter->end_min_ns, floor);
    if (until) filter->end_max_ns = std::min(filter->end_max_ns, ceiling);
  }
}

int Advance(Cursor* cursor) {
  cursor->at_end = cursor->at_end || !cursor->rows->Next();
  ++cursor->row;
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* base, int, const char* plan, int count, sqlite3_value** values) {
  return Guarded(nullptr, [&] {
    auto* cursor = static_cast<Cursor*>(base);
    auto* table = static_cast<Table*>(base->pVtab);
    RowFilter filter;
    cursor->at_end = false;
    cursor->row = 0;
    for (int i = 0; i < count; ++i) {
      int64_t floor = 0;
      if (sqlite3_value_type(values[i]) == SQLITE_NULL) cursor->at_end = true;  // nothing equals it
      if (Floor(values[i], &floor)) Narrow(plan[2 * i], plan[2 * i + 1], floor, &filter);
    }
    // No row would say that there is nothing.
    if (table->table->of_report && table->run->report() == nullptr) {
      sqlite3_free(table->zErrMsg);
      SetError(&table->zErrMsg, table->run->report_error()->ToString());
      return SQLITE_ERROR;
    }
    cursor->rows = table->table->open(table->run.get(), filter);
    return Advance(cursor);
  });
}

int Open(sqlite3_vtab*, sqlite3_vtab_cursor** result) {
  return Guarded(nullptr, [&] {
    *result = new Cursor();
    return SQLITE_OK;
  });
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* base) {
  return Guarded(nullptr, [&] { return Advance(static_cast<Cursor*>(base)); });
}

int Eof(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->at_end ? 1 : 0; }

int ColumnValue(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  return Guarded(nullptr, [&] {
    auto* cursor = static_cast<Cursor*>(base);
    const Cell cell = cursor->rows->At(static_cast<size_t>(column));
    if (const auto* integer = std::get_if<int64_t>(&cell)) {
      sqlite3_result_int64(context, *integer);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      sqlite3_result_double(context, *real);
    } else if (const auto* text = std::get_if<std::string_view>(&cell)) {
      const std::string_view valid = ValidUtf8(*text, &cursor->scratch);
      sqlite3_result_text64(context, valid.data(), valid.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    } else {
      sqlite3_result_null(context);
    }
    return SQLITE_OK;
  });
}

int RowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* row) {
  *row = static_cast<Cursor*>(cursor)->row;
  return SQLITE_OK;
}

sqlite3_module MakeModule() {
  sqlite3_module module = {};
  module.iVersion = 1;
  module.xCreate = Connect;
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xDestroy = Disconnect;
  module.xOpen = Open;
  module.xClose = Close;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = Eof;
  module.xColumn = ColumnValue;
  module.xRowid = RowId;
  return module;
}

void DropRuns(void* runs) { delete static_cast<std::shared_ptr<OpenRuns>*>(runs); }

}  // namespace

Result<std::shared_ptr<TraceRun>> OpenRuns::Open(const std::string& path) {
  std::weak_ptr<TraceRun>& known = runs_[path];
  if (std::shared_ptr<TraceRun> open = known.lock()) return open;
  Result<std::unique_ptr<TraceRun>> opened = TraceRun::Open(path);
  if (!opened.ok()) return opened.error();
  std::shared_ptr<TraceRun> run = std::move(*opened);
  known = run;
  return run;
}

bool RegisterTraceModule(sqlite3* database, std::shared_ptr<OpenRuns> runs) {
  static const sqlite3_module module = MakeModule();
  auto* held = new std::shared_ptr<OpenRuns>(std::move(runs));
  return sqlite3_create_module_v2(database, "gpubound", &module, held, DropRuns) == SQLITE_OK;
}

std::string CreateTraceTables(sqlite3* database, const std::string& schema, const std::string& path,
                              const std::string& prefix) {
  for (const TraceTable& table : AllTraceTables()) {
    const std::string name = prefix + table.name;
    char* sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\".\"%w\" USING gpubound(%Q, %Q)",
                                schema.c_str(), name.c_str(), path.c_str(), table.name);
    char* message = nullptr;
    const int result = sqlite3_exec(database, sql, nullptr, nullptr, &message);
    sqlite3_free(sql);
    if (result == SQLITE_OK) continue;
    std::string text = message != nullptr ? message : "the tables cannot be made";
    sqlite3_free(message);
    return text;
  }
  return "";
}

}  // namespace gpubound
