// SPDX-License-Identifier: Apache-2.0
//
// Asks for each part in turn. No state.
#include "analysis/attribution/training.h"

#include <memory>
#include <utility>

#include "analysis/attribution/model_flops.h"
#include "analysis/attribution/roles.h"
#include "analysis/attribution/sample_use.h"
#include "analysis/attribution/target_times.h"
#include "analysis/attribution/weight_sync.h"
#include "analysis/attribution/work_done.h"
#include "analysis/base/in_parallel.h"
#include "analysis/report/main_process.h"
#include "analysis/report/report_training.h"

namespace gpubound {
namespace {

void AddToProcesses(const Run& run, const std::vector<SteppingThread>& threads, Report* report) {
  ForEachInParallel(run.processes.size(), [&](size_t p) {
    const ProcessTrace& process = run.processes[p];
    const SteppingThread& thread = threads[p];
    ProcessTraining training;
    training.flops = ModelFlops(process, thread.steady, report->processes[p]);
    training.weight_sync = WeightSync(process, thread.thread, thread.steady);
    if (!training.flops && !training.weight_sync) return;
    report->processes[p].training = std::make_shared<const ProcessTraining>(training);
  });
}

// Of the process whose iterations are the run's.
std::vector<ReportWork> WorkOf(const Run& run, const std::vector<SteppingThread>& threads,
                               const ClockAlignment& clocks, const Report& report) {
  const ReportProcess* const process = SteppingProcess(report);
  if (process == nullptr) return {};
  const auto stepping = static_cast<size_t>(process - report.processes.data());
  const std::vector<Iteration>& steady = threads[stepping].steady;
  if (steady.empty()) return {};
  const int64_t offset_ns = clocks.offset_ns[stepping];
  const Interval window{steady.front().time.begin_ns + offset_ns,
                        steady.back().time.end_ns + offset_ns};
  return WorkDone(run, clocks, stepping, window, report);
}

}  // namespace

Status AddTraining(const Run& run, const RecordedProcesses& recorded, const RunUnknown& unknown,
                   const ClockAlignment& clocks, const Interval& span, const Interval& window,
                   const BreakdownOptions& options, Report* report) {
  RunTraining training;
  Result<std::vector<ReportTarget>> targets = TargetTimes(run, clocks, span, options, *report);
  if (!targets.ok()) return targets.error();
  training.targets = std::move(*targets);
  // Of summed time the records are gone.
  if (run.sums == nullptr) {
    AddToProcesses(run, recorded.threads, report);
    training.work = WorkOf(run, recorded.threads, clocks, *report);
    training.samples = SampleUse(run, clocks, *report);
    // Of a replayed run nobody asks.
    if (!run.recorded_offsets_ns) {
      training.roles = RolesAtWork(run, recorded.waits, recorded.activity, unknown, clocks, window,
                                   options, *report);
    }
  }
  if (!training.targets.empty() || !training.work.empty() || training.samples || training.roles) {
    report->run.training = std::make_shared<const RunTraining>(std::move(training));
  }
  return Ok{};
}

}  // namespace gpubound
