// SPDX-License-Identifier: Apache-2.0
//
// `gpubound sql RUN QUERY`: SQL on the tables of a run.
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/base/suggestion.h"
#include "analysis/base/text_table.h"
#include "analysis/output/tables/sqlite_session.h"
#include "analysis/output/tables/trace_table.h"
#include "analysis/report/simulated_mark.h"
#include "tools/commands/commands.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/commands/row_printer.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/console/progress_note.h"

namespace gpubound {
namespace {

constexpr CommandHelp kSqlHelp = {
    "gpubound sql", "[OPTIONS] RUN [QUERY]",
    "Runs SQL (SQLite's) on the tables of a run; without QUERY, what comes on stdin.\n"
    "The run is only read. A query that limits begin_ns or time_ns, process or\n"
    "thread reads no more of the run than that.",
    "For a database that other tools read: gpubound export RUN --sqlite FILE.\n"
    "Exit status: 0; 2 if the query is wrong; 3 if the run cannot be read.\n",
    "  gpubound sql --tables\n"
    "  gpubound sql train.gpubound 'select name, count(*) from gpu group by 1'\n"
    "  gpubound sql train.gpubound --csv < query.sql > rows.csv\n"};

std::string TableListing() {
  std::string text;
  for (const TraceTable& table : AllTraceTables()) {
    text += fmt::format("{}: {}\n", table.name, table.summary);
    std::string columns = "   ";
    for (const ColumnInfo& column : table.columns) columns += fmt::format(" {}", column.name);
    text += Wrap(columns, 80, 4);
  }
  return text;
}

// The same as rows, for programs.
int PrintTableRows(RowFormat format) {
  const std::unique_ptr<RowPrinter> rows = MakeRowPrinter(format);
  rows->Begin({"table", "summary", "column", "type"});
  for (const TraceTable& table : AllTraceTables()) {
    for (const ColumnInfo& column : table.columns) {
      const std::array<Cell, 4> cells{std::string_view(table.name), std::string_view(table.summary),
                                      std::string_view(column.name),
                                      std::string_view(SqlType(column.type))};
      rows->Row(cells);
    }
  }
  rows->End();
  return rows->Flush();
}

std::string ReadStdin() {
  std::string text;
  char buffer[4096];
  // On a terminal reading goes on behind an end, with what is typed next.
  while (feof(stdin) == 0 && ferror(stdin) == 0) {
    text.append(buffer, fread(buffer, 1, sizeof(buffer), stdin));
  }
  return text;
}

// Where the column that was asked for is to be had; empty where nowhere.
std::string TablesWith(const std::string& column_name) {
  std::string tables;
  for (const TraceTable& table : AllTraceTables()) {
    for (const ColumnInfo& column : table.columns) {
      if (column.name == column_name)
        tables += (tables.empty() ? "" : ", ") + std::string(table.name);
    }
  }
  return tables;
}

// "no such table: gpus" deserves the closest name there is.
std::string Suggestion(const std::string& found) {
  constexpr std::string_view kNoTable = "no such table: ";
  constexpr std::string_view kNoColumn = "no such column: ";
  std::vector<std::string> names;
  std::string typed;
  if (found.starts_with(kNoTable)) {
    typed = found.substr(kNoTable.size());
    for (const TraceTable& table : AllTraceTables()) names.emplace_back(table.name);
  } else if (found.starts_with(kNoColumn)) {
    typed = found.substr(kNoColumn.size());
    typed.erase(0, typed.rfind('.') + 1);
    const std::string tables = TablesWith(typed);
    if (!tables.empty()) return fmt::format("Tables with a column '{}': {}. ", typed, tables);
    for (const TraceTable& table : AllTraceTables()) {
      for (const ColumnInfo& column : table.columns) names.emplace_back(column.name);
    }
  }
  const std::string closest = ClosestName(typed, names);
  return closest.empty() ? "" : fmt::format("Did you mean '{}'? ", closest);
}

// Ends the note on the terminal before the first row is written there.
class FirstRowEndsNote : public RowSink {
 public:
  FirstRowEndsNote(RowSink* rows, const std::string& run)
      : rows_(*rows), note_("querying " + run) {}
  void Begin(const std::vector<std::string>& columns) override { rows_.Begin(columns); }
  bool Row(std::span<const Cell> cells) override {
    note_.reset();
    return rows_.Row(cells);
  }
  void End() override {
    note_.reset();
    rows_.End();
  }

 private:
  RowSink& rows_;
  std::optional<ProgressNote> note_;
};

}  // namespace

int QueryRun(const Arguments& words) {
  std::string run;
  std::optional<std::string> query;
  bool csv = false;
  bool json = false;
  bool tables = false;
  OptionParser parser(kSqlHelp);
  parser.AddOption("RUN", &run, "Directory of a run").Value("");
  parser.AddOption("QUERY", &query, "SQL; several statements with ';' between them").Value("");
  parser.AddFlag("--json", &json, "Print an array of objects for each statement");
  parser.AddFlag("--csv", &csv, "Print comma-separated values");
  parser.AddFlag("--tables", &tables,
                 "List the tables and their columns; types too with --json or --csv");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  AllowManyFiles();
  const bool both = csv && json;
  if (both || (run.empty() && !tables)) {
    parser.Complain(both ? "--csv and --json exclude each other." : "RUN is missing.");
    return kExitWrongUse;
  }
  const RowFormat format = csv ? RowFormat::kCsv : json ? RowFormat::kJson : RowFormat::kTable;
  if (tables)
    return format == RowFormat::kTable ? WriteStdout(TableListing()) : PrintTableRows(format);
  if (!query && FactsOf(STDIN_FILENO).is_terminal) {
    PrintMessage("reading the query from standard input; ^D ends it.");
  }
  if (!query) query = ReadStdin();

  std::optional<ProgressNote> reading("reading " + run);
  Result<std::unique_ptr<SqlSession>> session = SqlSession::Open(run);
  reading.reset();
  if (!session.ok()) {
    PrintError(session.error());
    return kExitUnreadable;
  }
  const std::vector<ProcessTrace>& processes = (*session)->run().run().processes;
  if (std::any_of(processes.begin(), processes.end(),
                  [](const ProcessTrace& process) { return process.device_kind == "simulated"; })) {
    PrintMessage(kSimulatedMark);
  }
  const std::unique_ptr<RowPrinter> printer = MakeRowPrinter(format);
  FirstRowEndsNote sink(printer.get(), run);
  const Status done = (*session)->Run(*query, &sink);
  const int written = printer->Flush();
  for (const std::string& problem : (*session)->run().problems()) {
    PrintWarning("read in part only: " + EscapeName(problem));
  }
  if (done.ok()) return written;
  if (const Error* unreadable = (*session)->run().report_error()) {
    PrintError(*unreadable);
    return kExitUnreadable;
  }
  Error error = done.error();
  error.remedy.insert(0, Suggestion(error.found));
  PrintError(error);
  return kExitWrongUse;
}

}  // namespace gpubound
