// SPDX-License-Identifier: Apache-2.0
//
// An Nsight Systems export that is being read: its rows, its strings, who its global ids are, and
// what it lacks. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_NSYS_EXPORT_H_
#define GPUBOUND_ANALYSIS_IMPORT_NSYS_EXPORT_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "analysis/base/status.h"
#include "analysis/import/foreign_trace.h"
#include "analysis/import/nsys_table.h"
#include "analysis/segments/sqlite.h"
#include "analysis/trace/plausible_time.h"

namespace gpubound {

// What is called so has a name that cannot be known, or none; a kernel is kUnnamedKernel.
inline constexpr char kUnnamed[] = "(unnamed)";

class NsysExport {
 public:
  // |trace|, which everything is added to, outlives the object; |path| is for errors.
  NsysExport(std::string path, Database database, ForeignTrace* trace);

  const std::string& path() const { return path_; }
  Database& database() { return database_; }
  ForeignTrace& trace() { return trace_; }

  // Before any name is asked for.
  Status ReadStrings();

  // The string |id|; empty where there is none.
  const std::string& StringOf(std::optional<int64_t> id) const;
  // Whether a string is referred to that is not there.
  bool Dangles(std::optional<int64_t> id) const { return id && !strings_.contains(*id); }
  // Counts something in |table| that had a name, which is not there.
  void LoseName(const NsysTable& table);

  // Of global ids.
  uint32_t ProcessOf(int64_t global);
  uint32_t ThreadOf(int64_t global);

  // Whether |table| has its first |required| columns. One that has rows and lacks a column is a
  // gap, and GPU time is unknown without its rows where it |hides_work|.
  bool CanRead(const NsysTable& table, int required, bool hides_work);

  // Calls |each|(table, start, end) for each row of |name| that has a start, the first of its
  // |columns|, of which it is to have the first |required|; the end, the second, may be missing.
  template <typename Each>
  Status ForEachStart(const std::string& name, int required, bool hides_work,
                      std::initializer_list<const char*> columns, const Each& each) {
    NsysTable table(&database_, name, columns);
    if (!CanRead(table, required, hides_work)) return Ok{};
    while (table.Step()) {
      const std::optional<int64_t> start = table.Int(0);
      const std::optional<int64_t> end = table.Int(1);
      if (!start || !end) ++trace_.malformed;
      if (!start || !(end ? trace_.Takes(*start, *end) : IsPlausibleTime(*start))) continue;
      const Status added = each(table, *start, end);
      if (!added.ok()) return added;
    }
    return Checked(table);
  }

  // Likewise for each row that has an end too.
  template <typename Each>
  Status ForEachInterval(const std::string& name, int required, bool hides_work,
                         std::initializer_list<const char*> columns, const Each& each) {
    return ForEachStart(
        name, required, hides_work, columns,
        [&each](const NsysTable& table, int64_t start_ns, std::optional<int64_t> end_ns) -> Status {
          return end_ns ? each(table, start_ns, *end_ns) : Ok{};
        });
  }

  // Whether the last Step() of |table| was the end of it.
  Status Checked(const NsysTable& table) const;

  // Adds the gap of names that were lost. Call once, last.
  void NoteLostNames();

 private:
  const std::string path_;
  Database database_;
  ForeignTrace& trace_;
  std::unordered_map<int64_t, std::string> strings_;
  std::unordered_map<int64_t, uint32_t> thread_of_;  // by global id
  uint64_t names_lost_ = 0;
  std::set<std::string> tables_with_lost_names_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_NSYS_EXPORT_H_
