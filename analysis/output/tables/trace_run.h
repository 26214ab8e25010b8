// SPDX-License-Identifier: Apache-2.0
//
// A run opened for queries: its rows in memory, its events in pieces that are read when a query
// needs them, and its report, built when somebody asks for it. One object, one thread at a time.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_TRACE_RUN_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_TRACE_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/output/tables/correlated_records.h"
#include "analysis/output/tables/event_pieces.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

class TraceRun {
 public:
  // Errors are those of OpenRun.
  static Result<std::unique_ptr<TraceRun>> Open(const std::string& path);

  const Run& run() const { return run_; }
  const ProcessTrace& process(size_t index) const { return run_.processes[index]; }
  size_t processes() const { return run_.processes.size(); }
  EventPieces& pieces(size_t process) { return *pieces_[process]; }

  // Records of a family by correlation; the first question for one reads all of them.
  template <typename Record>
  CorrelatedRecords<Record>& correlated(size_t process) {
    return std::get<CorrelatedRecords<Record>>(correlated_[process]);
  }

  // Built by the first question for it. Null where the pipeline fails, which report_error() says.
  const Report* report();
  const Error* report_error() const;

  // The number here of the process that has number |in_report| there. The report is read later than
  // the rows: absent for a process that began, or was found, meanwhile.
  std::optional<size_t> ProcessOf(size_t in_report) const { return by_report_[in_report]; }

  // What could be read in part only, and why, as far as was noticed until now.
  std::vector<std::string> problems() const;

  // Over all processes: how much was read and decoded for the queries so far.
  uint64_t pieces_read() const;

 private:
  using CorrelatedFamilies = std::tuple<CorrelatedRecords<CallOfTid>, CorrelatedRecords<DeviceWork>,
                                        CorrelatedRecords<Sync>, CorrelatedRecords<OverheadOfTid>>;

  TraceRun(Run run, std::string path) : run_(std::move(run)), path_(std::move(path)) {}
  void FindProcesses(const Report& report);

  Run run_;
  const std::string path_;  // absolute: the report is built wherever the program has gone meanwhile
  std::vector<std::unique_ptr<EventPieces>> pieces_;  // by process
  std::vector<CorrelatedFamilies> correlated_;        // likewise
  std::optional<Result<Report>> report_;
  std::vector<std::optional<size_t>> by_report_;  // ProcessOf()
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_TRACE_RUN_H_
