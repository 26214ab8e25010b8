// SPDX-License-Identifier: Apache-2.0
//
// Rows of a query as they come, on stdout: as a table for people, as CSV or as JSON. One object,
// one thread.
#ifndef GPUBOUND_TOOLS_COMMANDS_ROW_PRINTER_H_
#define GPUBOUND_TOOLS_COMMANDS_ROW_PRINTER_H_

#include <memory>
#include <string>

#include "analysis/output/tables/sqlite_session.h"

namespace gpubound {

enum class RowFormat {
  kTable,  // columns as wide as the first rows need; names escaped for a terminal
  kCsv,    // RFC 4180, with a head; NULL is an empty field
  kJson,   // an array of objects for each statement
};

class RowPrinter : public RowSink {
 public:
  // Writes what has been collected. Exit status, as WriteStdout().
  virtual int Flush() = 0;
};

std::unique_ptr<RowPrinter> MakeRowPrinter(RowFormat format);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_ROW_PRINTER_H_
