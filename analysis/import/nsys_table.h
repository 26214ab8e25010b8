// SPDX-License-Identifier: Apache-2.0
//
// A table of an Nsight Systems export, read by the names of the columns that are wanted, whichever
// of them this version of the tool wrote. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_NSYS_TABLE_H_
#define GPUBOUND_ANALYSIS_IMPORT_NSYS_TABLE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/whole_number.h"
#include "analysis/segments/sqlite.h"

namespace gpubound {

// A global id is made of fields of 24 bits: host and machine above, then process, then thread.
constexpr int64_t NsysPid(int64_t global) { return (global >> 24) & 0xffffff; }
constexpr int64_t NsysTid(int64_t global) { return global & 0xffffff; }

// Of a number that may be missing.
uint64_t U64Of(std::optional<int64_t> value);

class NsysTable {
 public:
  // |database| outlives the object; the table may be missing. Columns are numbered in the order
  // given.
  NsysTable(Database* database, const std::string& table,
            std::initializer_list<const char*> columns);

  static bool Exists(Database* database, const std::string& table);

  // False where the table or one of the first |required| columns is missing.
  bool HasFirst(int required) const;
  // The missing ones of them, with a comma between each two.
  std::string MissingOfFirst(int required) const;
  // Whether there is a row, or what cannot be read. |database| is the constructor's.
  bool HasRows(Database* database) const;
  const std::string& name() const { return name_; }
  bool Has(int column) const { return present_[static_cast<size_t>(column)]; }

  // The next row. False at the end and on failure; ask failed().
  bool Step() { return query_.Step(); }
  bool failed() const { return exists_ && query_.failed(); }

  // Nothing where the column is missing or holds no integer.
  std::optional<int64_t> Int(int column) const;
  std::string Text(int column) const;

 private:
  const std::string name_;
  bool exists_ = false;
  std::vector<std::string> columns_;
  std::vector<bool> present_;
  Query query_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_NSYS_TABLE_H_
