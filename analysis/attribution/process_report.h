// SPDX-License-Identifier: Apache-2.0
//
// The pipeline for one process: roles, scan, sweep, attribution. Processes depend on each other
// only through ProcessContext, so calls for different ones may run at the same time. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_REPORT_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_REPORT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/base/interval.h"
#include "analysis/base/status.h"
#include "analysis/processes/process_waits.h"
#include "analysis/report/report.h"
#include "analysis/segments/process_sums.h"
#include "analysis/sweep/iteration_book.h"
#include "analysis/timeline/device_activity.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"

namespace gpubound {

// What a process has to know of the others.
struct ProcessContext {
  std::vector<Peer> peers;  // processes of the same host that it may wait for
  Heritage left;            // to it, if it has no operations
  // Of the time before which the events may be gone; null: none is.
  const ProcessSums* before = nullptr;
  bool simulates = false;  // as far as another process asks; see ProcessNature
};

struct ProcessAnalysis {
  ReportProcess report;
  Ledger found{};                     // what the analysis counted, beside what the recorder did
  int64_t work_before_launch_ns = 0;  // by how much at most
  int64_t work_after_wait_ns = 0;     // likewise
  ProcessWaits waits;
  bool any_operation = false;       // it opens some, or what serves as one, so inherits nothing
  bool inherits = false;            // from ProcessContext::left
  std::vector<Iteration> steady;    // iterations after warm-up, in order
  std::optional<Interval> warm_up;  // from the begin of the first iteration to that of |steady|
  std::shared_ptr<const DeviceActivity> activity;  // of its devices, since the sums
  std::vector<Interval> pauses;                    // in which recording was off, since the sums
  bool launches_unanswered = false;                // as of SweepResult
  size_t primary_thread = SIZE_MAX;                // of ProcessTrace::threads; beyond them: none
};

// Everything of ReportProcess but `parent`. An error is internal: rows that do not sum to the span.
Result<ProcessAnalysis> AnalyzeProcess(const ProcessTrace& process, const EventSource& source,
                                       const BreakdownOptions& options,
                                       const ProcessContext& context);

// A process until some instant.
struct SummedProcess {
  ProcessSums sums;                                // but for |writers|
  ProcessWaits waits;                              // since the sums before
  bool any_operation = false;                      // as of ProcessAnalysis
  bool inherits = false;                           // likewise
  std::vector<int64_t> boundaries_ns;              // as in SweepStop
  std::optional<Interval> warm_up;                 // as of ProcessAnalysis
  std::vector<Iteration> steady;                   // iterations after warm-up, in order
  std::shared_ptr<const DeviceActivity> activity;  // since the sums before
  std::vector<Interval> pauses;                    // likewise
};

// Sums the events that begin before |until_ns|; the sums of |context| end there or before.
Result<SummedProcess> SumProcess(const ProcessTrace& process, const EventSource& source,
                                 const BreakdownOptions& options, const ProcessContext& context,
                                 int64_t until_ns);

// The same for a process that holds its events and knows of no other.
Result<ProcessAnalysis> AnalyzeProcess(const ProcessTrace& process,
                                       const BreakdownOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_REPORT_H_
