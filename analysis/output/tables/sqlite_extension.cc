// SPDX-License-Identifier: Apache-2.0
//
// gpubound_sqlite.so, a loadable extension of SQLite:
//
//   .load ./gpubound_sqlite
//   SELECT gpubound_open('train.gpubound');
//   SELECT name, count(*) FROM gpu GROUP BY name;
//
// gpubound_open(RUN [, PREFIX]) makes every table of a run in schema `temp` and returns how many.
// State is that of a connection; thread rule as there.
#include <exception>
#include <memory>
#include <string>

#include "analysis/output/tables/sqlite_api.h"
#include "analysis/output/tables/sqlite_module.h"
#include "analysis/output/tables/trace_table.h"

SQLITE_EXTENSION_INIT1

namespace gpubound {
namespace {

std::string TextOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text != nullptr ? std::string(text, static_cast<size_t>(sqlite3_value_bytes(value))) : "";
}

void OpenTables(sqlite3_context* context, int count, sqlite3_value** values) noexcept {
  try {
    sqlite3* const database = sqlite3_context_db_handle(context);
    const std::string prefix = count > 1 ? TextOf(values[1]) : "";
    std::string wrong = CreateTraceTables(database, "temp", TextOf(values[0]), prefix);
    if (wrong.ends_with("already exists")) {
      wrong += "; give this run's tables a prefix: gpubound_open('RUN', 'b_')";
    }
    if (!wrong.empty()) {
      sqlite3_result_error(context, wrong.c_str(), -1);
    } else {
      sqlite3_result_int64(context, static_cast<sqlite3_int64>(AllTraceTables().size()));
    }
  } catch (const std::exception&) {
    sqlite3_result_error_nomem(context);
  }
}

int Register(sqlite3* database) noexcept {
  try {
    if (!RegisterTraceModule(database, std::make_shared<OpenRuns>())) return SQLITE_ERROR;
    for (const int arguments : {1, 2}) {
      const int made = sqlite3_create_function(database, "gpubound_open", arguments,
                                               SQLITE_UTF8 | SQLITE_DIRECTONLY, nullptr, OpenTables,
                                               nullptr, nullptr);
      if (made != SQLITE_OK) return made;
    }
    return SQLITE_OK;
  } catch (const std::exception&) {
    return SQLITE_NOMEM;
  }
}

}  // namespace
}  // namespace gpubound

// SQLite derives this name from the file's.
extern "C" __attribute__((visibility("default"))) int sqlite3_gpuboundsqlite_init(
    sqlite3* database, char**, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api)
  return gpubound::Register(database);
}
