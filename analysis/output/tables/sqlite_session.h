// SPDX-License-Identifier: Apache-2.0
//
// SQL on a run, and a run as an SQLite file. Queries run on a database in memory that holds nothing
// but the run's virtual tables, and may only read. A query that joins tables reads copies of them
// with indexes, which SQLite keeps in a file of its own: a join reads one table for each row of
// another. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_SQLITE_SESSION_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_SQLITE_SESSION_H_

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/output/tables/sqlite_module.h"
#include "analysis/output/tables/trace_run.h"
#include "analysis/output/tables/trace_table.h"

namespace gpubound {

// Takes the rows of one statement after the other.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void Begin(const std::vector<std::string>& columns) = 0;  // of a statement
  virtual bool Row(std::span<const Cell> cells) = 0;                // false: no more are wanted
  virtual void End() = 0;
};

class SqlSession {
 public:
  // Errors are those of OpenRun.
  static Result<std::unique_ptr<SqlSession>> Open(const std::string& run_path);

  // Runs every statement of |sql|. An error is one of the query, with SQLite's words; rows before
  // it have been given out.
  Status Run(std::string_view sql, RowSink* sink);

  TraceRun& run() { return *run_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Status RunStatement(std::string_view* rest, RowSink* sink);
  bool JoinsTables(std::string_view statement);
  void CopyTables();

  // Of the statements prepared so far since it was cleared: what they read.
  std::set<std::string> read_;
  std::set<std::string> copied_;

  std::shared_ptr<TraceRun> run_;
  std::unique_ptr<sqlite3, Close> database_;
};

// Writes every table of |run_path| into the database at |file|, an empty file, with indexes. What
// could be read in part only is added to |problems|. |input_failed|: the error is about the run.
Status WriteSqliteTables(const std::string& run_path, const std::string& file, bool* input_failed,
                         std::vector<std::string>* problems);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_SQLITE_SESSION_H_
