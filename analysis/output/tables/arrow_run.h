// SPDX-License-Identifier: Apache-2.0
//
// A run as Arrow tables: what a program gets that reads runs without the command. Tables are those of
// run_wide_table.h.
//
// Thread rule: any thread; one at a time reads.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_ARROW_RUN_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_ARROW_RUN_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/output/tables/arrow_columns.h"
#include "analysis/output/tables/run_times.h"
#include "analysis/output/tables/sqlite_session.h"

namespace gpubound {

// Rows as they come, once from begin to end.
class RowBatches {
 public:
  virtual ~RowBatches() = default;
  // Adds up to |most| rows to |columns|; how many, 0 at the end.
  virtual size_t Read(std::vector<ColumnBuilder>* columns, size_t most) = 0;
};

// A table, or what a query found: read as often as anybody likes.
class ArrowTable {
 public:
  virtual ~ArrowTable() = default;
  virtual const std::vector<ArrowColumn>& columns() const = 0;
  virtual std::unique_ptr<RowBatches> Read() = 0;
};

// Fills |out| with a stream over |table|, which it keeps.
void GiveStream(std::shared_ptr<ArrowTable> table, ArrowArrayStream* out);

class ArrowRun : public std::enable_shared_from_this<ArrowRun> {
 public:
  // Errors are those of OpenRun.
  static Result<std::shared_ptr<ArrowRun>> Open(const std::string& path);

  // The columns of |table| by name, or those of |chosen| in its order. Errors are those of the
  // report where the table is of one; |doing| is "choosing a table" where there is none of the name,
  // or no such column.
  Result<std::shared_ptr<ArrowTable>> Table(const std::string& name,
                                            const std::optional<std::vector<std::string>>& chosen);

  // What the last statement of |sql| finds, in memory. Errors are those of SqlSession::Run().
  Result<std::shared_ptr<ArrowTable>> Query(const std::string& sql);

  // How far the figures of its report are to be believed, in a line.
  Result<std::string> Verdict();

  // What could be read in part only, and why, as far as was noticed until now.
  std::vector<std::string> Problems();

 private:
  friend class TraceTableReader;
  ArrowRun(std::string path, std::unique_ptr<SqlSession> session)
      : path_(std::move(path)), session_(std::move(session)) {}
  const RunTimes* Times();

  const std::string path_;
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<SqlSession> session_;
  std::unique_ptr<RunTimes> times_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_ARROW_RUN_H_
