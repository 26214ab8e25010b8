// SPDX-License-Identifier: Apache-2.0
//
// Chooses the writer of a format and sees to it that what it writes is complete. No state.
#include "analysis/output/export/export.h"

#include <algorithm>
#include <memory>

#include "analysis/correction/run_report.h"
#include "analysis/output/export/export_chrome.h"
#include "analysis/output/export/export_csv.h"
#include "analysis/output/export/export_parquet.h"
#include "analysis/output/export/export_perfetto.h"
#include "analysis/output/export/export_prometheus.h"
#include "analysis/output/export/export_stacks.h"
#include "analysis/output/export/output_file.h"
#include "analysis/output/tables/sqlite_session.h"
#include "analysis/output/tables/trace_table.h"
#include "analysis/reader/reader.h"
#include "analysis/segments/run_sums.h"
#include "analysis/trace/event_source.h"

namespace gpubound {
namespace {

bool AnySourceFailed(const Run& run) {
  return std::any_of(run.processes.begin(), run.processes.end(), [](const ProcessTrace& process) {
    return process.source != nullptr && process.source->failed();
  });
}

using WriteEvents = void (*)(const Run& run, OutputFile* file);

// A chunk that turns out damaged while it is streamed voids what was written.
void ExportEvents(const std::string& run_path, const std::string& path, bool replace,
                  WriteEvents write, ExportOutcome* outcome) {
  for (const auto open : {&OpenRun, &LoadRun}) {
    const Result<Run> run = open(run_path);
    outcome->input_failed = !run.ok();
    if (!run.ok()) {
      outcome->status = run.error();
      return;
    }
    const auto file = OutputFile::Create(path, replace);
    if (!file.ok()) {
      outcome->status = file.error();
      return;
    }
    write(*run, file->get());
    if (AnySourceFailed(*run)) continue;
    outcome->problems = run->problems;
    if (run->sums != nullptr) outcome->problems.emplace_back(kDetailIsLess);
    outcome->status = (*file)->Commit();
    return;
  }
}

void ExportSqlite(const std::string& run_path, const std::string& path, bool replace,
                  ExportOutcome* outcome) {
  const auto file = OutputFile::Create(path, replace);
  outcome->status = file.ok() ? WriteSqliteTables(run_path, (*file)->temporary_path(),
                                                  &outcome->input_failed, &outcome->problems)
                              : Status(file.error());
  if (outcome->status.ok()) outcome->status = (*file)->Commit();
}

constexpr char kCsvEnding[] = ".csv";

using WriteAll = Status (*)(TraceRun* run, const std::string& run_path, const std::string& folder);

Status WriteParquet(TraceRun* run, const std::string& run_path, const std::string& folder) {
  const std::unique_ptr<RunTimes> times = RunTimesOf(run->run(), run_path);
  return WriteParquetTables(run, times.get(), folder);
}

Status WriteCsv(TraceRun* run, const std::string& /*run_path*/, const std::string& folder) {
  for (const TraceTable& table : AllTraceTables()) {
    const auto file = OutputFile::Create(folder + "/" + table.name + kCsvEnding, /*replace=*/false);
    if (!file.ok()) return file.error();
    WriteCsvTable(table, run, file->get());
    const Status stored = (*file)->Commit();
    if (!stored.ok()) return stored;
  }
  return Ok{};
}

// Every table in a file of its own.
void ExportTables(const std::string& run_path, const std::string& path, bool replace,
                  const char* extension, WriteAll write, ExportOutcome* outcome) {
  const auto folder = OutputFolder::Create(path, extension, replace);
  if (!folder.ok()) {
    outcome->status = folder.error();
    return;
  }
  const Result<std::unique_ptr<TraceRun>> run = TraceRun::Open(run_path);
  outcome->input_failed = !run.ok();
  if (!run.ok()) {
    outcome->status = run.error();
    return;
  }
  if ((*run)->report() == nullptr) {
    outcome->input_failed = true;
    outcome->status = *(*run)->report_error();
    return;
  }
  outcome->status = write(run->get(), run_path, (*folder)->temporary_path());
  outcome->problems = (*run)->problems();
  if (outcome->status.ok()) outcome->status = (*folder)->Commit();
}

void ExportReport(const std::string& run_path, const std::string& path, bool replace,
                  std::string (*render)(const Report&), ExportOutcome* outcome) {
  const Result<Report> report = ReportAsSummed(run_path);
  outcome->input_failed = !report.ok();
  if (!report.ok()) {
    outcome->status = report.error();
    return;
  }
  const auto file = OutputFile::Create(path, replace);
  if (file.ok()) (*file)->Write(render(*report));
  outcome->status = file.ok() ? (*file)->Commit() : Status(file.error());
}

}  // namespace

ExportOutcome ExportRunTo(ExportFormat format, const std::string& run_path, const std::string& path,
                          bool replace) {
  ExportOutcome outcome;
  switch (format) {
    case ExportFormat::kSqlite:
      ExportSqlite(run_path, path, replace, &outcome);
      break;
    case ExportFormat::kCsv:
      ExportTables(run_path, path, replace, kCsvEnding, &WriteCsv, &outcome);
      break;
    case ExportFormat::kParquet:
      ExportTables(run_path, path, replace, kParquetEnding, &WriteParquet, &outcome);
      break;
    case ExportFormat::kChrome:
      ExportEvents(run_path, path, replace, &WriteChromeJson, &outcome);
      break;
    case ExportFormat::kPerfetto:
      ExportEvents(run_path, path, replace, &WritePerfettoTrace, &outcome);
      break;
    case ExportFormat::kPrometheus:
      ExportReport(run_path, path, replace, &RenderPrometheus, &outcome);
      break;
    case ExportFormat::kSpeedscope:
      ExportReport(run_path, path, replace, &RenderSpeedscope, &outcome);
      break;
    case ExportFormat::kCollapsed:
      ExportReport(run_path, path, replace, &RenderCollapsed, &outcome);
      break;
  }
  return outcome;
}

}  // namespace gpubound
