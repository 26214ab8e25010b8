// SPDX-License-Identifier: Apache-2.0
//
// Streams, and loads where that fails. No state.
#include "analysis/correction/run_report.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/attribution/build_report.h"
#include "analysis/base/in_parallel.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/correction/report_options.h"
#include "analysis/correction/run_costs.h"
#include "analysis/parts/part_file.h"
#include "analysis/parts/part_report.h"
#include "analysis/reader/reader.h"
#include "analysis/report/report_training.h"
#include "analysis/segments/run_sums.h"
#include "analysis/trace/event_source.h"

namespace gpubound {
namespace {

// Of what process |pid| of |host| recorded.
void DropCorrectedTargets(const std::string& host, int64_t pid, Report* report) {
  if (report->run.training == nullptr) return;
  RunTraining training = *report->run.training;
  for (ReportTarget& target : training.targets) {
    if (target.pid == pid && target.host == host) target.corrected.reset();
  }
  report->run.training = std::make_shared<const RunTraining>(std::move(training));
}

// A calibration is of one machine, the processes of a run may be of several.
void RefuseWhatHasNoCosts(const Run& run, const ReportOptions& options, Report* report) {
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const std::string why = WhyNotCorrected(options, run.processes[p]);
    if (why.empty()) continue;
    ReportProcess& process = report->processes[p];
    process.corrected = nullptr;
    process.corrected_why_not = why;
    DropCorrectedTargets(process.host, process.pid, report);
    report->notes.push_back("pid " + std::to_string(process.pid) + " on " + process.host +
                            ": not corrected for profiling, because " + process.corrected_why_not +
                            ".");
  }
}

Result<Report> Analyse(const Run& run, const ReportOptions& options) {
  Result<Report> report = BuildReport(run, options);
  if (!report.ok() || !options.replays) return report;
  if (run.sums != nullptr) {
    for (ReportProcess& process : report->processes) {
      process.corrected_why_not = "older detail was thinned";
    }
    return report;
  }
  const ReportOptions known = WithCostsOf(run, options);
  const Status replayed = AddReplays(run, known, &*report);
  if (!replayed.ok()) return replayed.error();
  if (known.costs) RefuseWhatHasNoCosts(run, known, &*report);
  return report;
}

}  // namespace

Result<AnalyzedRun> AnalyzeRun(const std::string& path, const ReportOptions& wanted) {
  if (HoldsParts(path)) {
    Result<PartsReport> parts = ReportOfParts(path, wanted);
    if (!parts.ok()) return parts.error();
    return AnalyzedRun{std::move(parts->run), std::move(parts->report)};
  }
  ReportOptions options = wanted;
  options.finds_lost_kernels = true;
  const HelpersKept kept;  // for the opening, the processes and the devices
  Result<Run> run = OpenRun(path);
  if (!run.ok()) return run.error();
  Result<Report> report = Analyse(*run, options);
  const bool failed =
      std::any_of(run->processes.begin(), run->processes.end(), [](const ProcessTrace& process) {
        return process.source != nullptr && process.source->failed();
      });
  if (failed) {
    run = LoadRun(path);
    if (!run.ok()) return run.error();
    report = Analyse(*run, options);
  }
  if (!report.ok()) return report.error();
  return AnalyzedRun{std::move(*run), std::move(*report)};
}

Result<Report> ReportOfRun(const std::string& path, const ReportOptions& options) {
  Result<AnalyzedRun> analyzed = AnalyzeRun(path, options);
  if (!analyzed.ok()) return analyzed.error();
  return std::move(analyzed->report);
}

Result<Report> ReportAsSummed(const std::string& path) {
  ReportOptions options;
  const Result<std::shared_ptr<const RunSums>> sums = ReadRunSums(path);
  if (sums.ok() && *sums != nullptr) options.operations = (*sums)->operations;
  return ReportOfRun(path, options);
}

}  // namespace gpubound
