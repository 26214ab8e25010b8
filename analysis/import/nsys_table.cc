// SPDX-License-Identifier: Apache-2.0
//
// Asks the database which columns there are, and selects NULL for the rest. One object, one thread.
#include "analysis/import/nsys_table.h"

#include <algorithm>
#include <set>

namespace gpubound {
namespace {

std::set<std::string> ColumnsOf(Database* database, const std::string& table) {
  std::set<std::string> columns;
  Query query = database->Prepare("SELECT name FROM pragma_table_info('" + table + "')");
  while (query.Step()) columns.insert(query.Text(0));
  return columns;
}

}  // namespace

uint64_t U64Of(std::optional<int64_t> value) { return static_cast<uint64_t>(value.value_or(0)); }

NsysTable::NsysTable(Database* database, const std::string& table,
                     std::initializer_list<const char*> columns)
    : name_(table), columns_(columns.begin(), columns.end()) {
  const std::set<std::string> there = ColumnsOf(database, table);
  exists_ = !there.empty();
  std::string sql;
  for (const std::string& column : columns_) {
    present_.push_back(there.count(column) != 0);
    sql += sql.empty() ? "SELECT " : ", ";
    sql += present_.back() ? "\"" + column + "\"" : "NULL";
  }
  if (exists_ && !columns_.empty()) query_ = database->Prepare(sql + " FROM " + table);
}

bool NsysTable::Exists(Database* database, const std::string& table) {
  return !ColumnsOf(database, table).empty();
}

bool NsysTable::HasFirst(int required) const {
  return exists_ && std::all_of(present_.begin(), present_.begin() + required,
                                [](bool present) { return present; });
}

std::string NsysTable::MissingOfFirst(int required) const {
  std::string missing;
  for (size_t i = 0; i < static_cast<size_t>(required); ++i) {
    if (!present_[i]) missing += (missing.empty() ? "" : ", ") + columns_[i];
  }
  return missing;
}

bool NsysTable::HasRows(Database* database) const {
  return exists_ && database->Scalar("SELECT EXISTS(SELECT 1 FROM " + name_ + ")", 1) != 0;
}

std::optional<int64_t> NsysTable::Int(int column) const {
  if (!query_.IsInteger(column)) return std::nullopt;
  return query_.Int(column);
}

std::string NsysTable::Text(int column) const { return query_.Text(column); }

}  // namespace gpubound
