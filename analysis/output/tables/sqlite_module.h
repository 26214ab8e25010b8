// SPDX-License-Identifier: Apache-2.0
//
// The tables of a run (trace_table.h) as virtual tables of an SQLite connection:
//
//   CREATE VIRTUAL TABLE temp.gpu USING gpubound('train.gpubound', 'gpu');
//
// Nothing is copied: a query reads the chunks that its limits on time, process and thread leave.
// Compiled twice, for the SQLite that the command links and, in the loadable extension, for the one
// of the program that loads it.
//
// Thread rule: that of the connection.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_SQLITE_MODULE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_SQLITE_MODULE_H_

#include <map>
#include <memory>
#include <string>

#include "analysis/output/tables/trace_run.h"

struct sqlite3;

namespace gpubound {

// The runs that are open on a connection, one for all of their tables.
class OpenRuns {
 public:
  // An error names why |path| cannot be read.
  Result<std::shared_ptr<TraceRun>> Open(const std::string& path);

 private:
  std::map<std::string, std::weak_ptr<TraceRun>> runs_;
};

// Gives |database| the module `gpubound`. False where SQLite refuses; sqlite3_errmsg() says why.
bool RegisterTraceModule(sqlite3* database, std::shared_ptr<OpenRuns> runs);

// Makes every table of the run at |path| in |schema| ("main", "temp") of |database|, which has the
// module, under its name with |prefix| before it. Empty, or what is wrong.
std::string CreateTraceTables(sqlite3* database, const std::string& schema, const std::string& path,
                              const std::string& prefix);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_SQLITE_MODULE_H_
