// SPDX-License-Identifier: Apache-2.0
//
// Runs the stages for one process and checks their sum. No state.
#include "analysis/attribution/process_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/iteration_report.h"
#include "analysis/attribution/kernel_report.h"
#include "analysis/attribution/long_calls.h"
#include "analysis/attribution/process_summing.h"
#include "analysis/attribution/stack_tree.h"
#include "analysis/attribution/sweep_setup.h"
#include "analysis/sweep/overlap_sweep.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/row_names.h"
#include "analysis/trace/told_progress.h"

namespace gpubound {
namespace {

Interval SpanOf(const ProcessTrace& process) {
  return {process.span_begin_ns, std::max(process.span_begin_ns, process.span_end_ns)};
}

std::vector<ReportGap> NamedGaps(const ProcessTrace& process, const std::vector<IdleGap>& gaps,
                                 const LabelRoles& roles) {
  std::vector<ReportGap> named;
  for (const IdleGap& gap : gaps) {
    const Device& device = process.DeviceOf(static_cast<DeviceId>(gap.device));
    ReportGap& row = named.emplace_back();
    row.uuid = device.uuid;
    row.ordinal = device.info.index;
    row.begin_ns = gap.time.begin_ns - process.span_begin_ns;
    row.ns = gap.time.length();
    row.cause = IdleCauseName(gap.cause);
    row.operation_at_begin = roles.operations()[gap.at_begin.operation];
    row.layer_at_begin = LayerName(gap.at_begin.layer);
    row.operation_at_end = roles.operations()[gap.at_end.operation];
    row.layer_at_end = LayerName(gap.at_end.layer);
    row.work_before = process.WorkOf(gap.before).name;
    row.work_after = process.WorkOf(gap.after).name;
  }
  return named;
}

std::vector<ReportIdleMark> IdleMarks(const ProcessTrace& process,
                                      const std::vector<MarkedGap>& gaps) {
  std::vector<ReportIdleMark> marks;
  for (const MarkedGap& gap : gaps) {
    marks.push_back({process.DeviceOf(static_cast<DeviceId>(gap.device)).info.index,
                     gap.time.begin_ns - process.span_begin_ns, gap.time.length(), gap.cause});
  }
  return marks;
}

// Rows of a thread some of whose scopes are missing: what was open then is not known.
void MarkScopesMissing(const ProcessTrace& process, ThreadId thread,
                       std::vector<ReportOperation>* rows) {
  const bool missing =
      std::any_of(process.lost_scopes.begin(), process.lost_scopes.end(),
                  [thread](const LostScopes& lost) { return lost.thread == thread; });
  for (ReportOperation& row : *rows) row.scopes_missing = missing;
}

std::vector<ReportLane> NamedLanes(const ProcessTrace& process, const SweepResult& sweep,
                                   const LabelRoles& roles) {
  std::vector<ReportLane> lanes;
  for (const LaneCells& lane : sweep.lanes) {
    AttributionInput input;
    input.roles = &roles;
    input.rows = &lane.rows;
    input.lane = &lane.scopes;
    input.cpu = &lane.cpu;
    const ThreadTrace& thread = process.threads[lane.thread];
    lanes.push_back(
        {thread.name, thread.tid, NamedCells(input), OperationRows(input), lane.handed_over});
    MarkScopesMissing(process, thread.ordinal, &lanes.back().operations);
  }
  return lanes;
}

std::vector<ReportWait> RowsOf(const std::vector<SummedWait>& waits) {
  std::vector<ReportWait> rows;
  for (const SummedWait& wait : waits) rows.push_back({wait.pids, wait.operation, wait.ns});
  return rows;
}

std::vector<ReportCounters> NamedCounters(const std::vector<CounterMeans>& means,
                                          const std::vector<ReportOperation>& operations,
                                          const LabelRoles& roles) {
  const auto share = [](const CounterMeans& of, CounterQuantity quantity) {
    return of.share[static_cast<size_t>(quantity)];
  };
  std::vector<ReportCounters> rows;
  for (const ReportOperation& operation : operations) {
    for (size_t i = 0; i < means.size(); ++i) {
      if (means[i].sampled_ns == 0 || roles.operations()[i] != operation.operation) continue;
      rows.push_back({operation.operation, means[i].sampled_ns,
                      share(means[i], CounterQuantity::kSmActive),
                      share(means[i], CounterQuantity::kWarpsActive),
                      share(means[i], CounterQuantity::kDramThroughput)});
    }
  }
  return rows;
}

// Operations that launched graphs which were recorded as a whole, wherever these ran.
void MarkCaused(const std::vector<KernelTime>& kernels, const std::vector<std::string>& operations,
                ReportProcess* report) {
  for (const KernelTime& kernel : kernels) {
    if (!kernel.is_graph || kernel.lengths.sum_ns() == 0) continue;
    for (ReportOperation& row : report->operations) {
      if (row.operation == operations[kernel.operation]) row.gpu_caused_is_upper_bound = true;
    }
  }
}

// After the totals. What came without a launch is booked in (no operation); where that holds no
// time, neither did it.
void MarkCausedAtLeast(bool any_without_launch, ReportProcess* report) {
  const auto none =
      std::find_if(report->operations.begin(), report->operations.end(),
                   [](const ReportOperation& row) { return row.operation == kNoOperation; });
  const bool unlaunched =
      any_without_launch && none != report->operations.end() && none->gpu_caused_ns > 0;
  for (ReportOperation& row : report->operations) {
    row.gpu_caused_is_lower_bound =
        report->unknown_ns > 0 || (unlaunched && row.operation != kNoOperation);
  }
}

void AddTotals(ReportProcess* report) {
  for (const ReportOperation& row : report->operations) {
    report->gpu_busy_ns += row.gpu_busy_ns;
    report->gpu_busy_is_upper_bound |= row.gpu_busy_is_upper_bound;
    report->gpu_wait_ns += row.gpu_wait_ns;
    report->gpu_sum_ns += row.gpu_sum_ns;
    report->unknown_ns += row.unknown_ns;
  }
  for (const ReportOperation& row : report->operations) {
    if (!row.cpu) continue;
    if (!report->cpu) report->cpu.emplace();
    report->cpu->on_cpu_ns += row.cpu->on_cpu_ns;
    report->cpu->ready_ns += row.cpu->ready_ns;
    report->cpu->blocked_ns += row.cpu->blocked_ns;
    report->cpu->unknown_ns += row.cpu->unknown_ns;
  }
  if (report->gpu_busy_ns > 0) {
    report->inflation = report->smi_model * static_cast<double>(report->span_ns) /
                        static_cast<double>(report->gpu_busy_ns);
  }
}

// The promise of the partition, kept at run time too: a figure that breaks it is never shown.
Status CheckPartition(const ReportProcess& report) {
  int64_t cells_ns = 0;
  for (const ReportCell& cell : report.cells) cells_ns += cell.ns;
  int64_t rows_ns = 0;
  int64_t columns_ns = 0;
  for (const ReportOperation& row : report.operations) {
    rows_ns += row.wall_ns;
    columns_ns += row.cpu_only_ns + row.cpu_gpu_ns + row.gpu_only_ns + row.waiting_ns +
                  row.idle_ns + row.unknown_ns;
  }
  if (cells_ns == report.span_ns && rows_ns == report.span_ns && columns_ns == report.span_ns) {
    return Ok{};
  }
  return Error{"breaking down the time of", report.host + " pid " + std::to_string(report.pid),
               "cells of " + std::to_string(cells_ns) + " ns, rows of " + std::to_string(rows_ns) +
                   " ns, columns of " + std::to_string(columns_ns) + " ns",
               "the span of " + std::to_string(report.span_ns) + " ns each",
               "This is a fault of gpubound, not of the trace: please report it with the trace."};
}

void FillReport(const ProcessTrace& process, const SweepResult& sweep, const LabelRoles& roles,
                ReportProcess* report) {
  AttributionInput input;
  input.roles = &roles;
  input.rows = &sweep.rows;
  input.device_used = &sweep.device_used;
  input.device_ran_graph = &sweep.device_ran_graph;
  input.counts = &sweep.counts;
  input.caused_ns = &sweep.caused_ns;
  input.queued = &sweep.queued;
  input.launches = &sweep.launches;
  input.cpu = &sweep.cpu;
  report->host = process.identity.host;
  report->pid = process.identity.pid;
  if (process.job) report->rank = process.job->rank;
  report->name = process.name;
  report->start_ns = process.identity.start_realtime_ns;
  report->span_ns = SpanOf(process).length();
  report->span_end = process.span_end;
  report->cells = NamedCells(input);
  report->operations = OperationRows(input);
  MarkCaused(sweep.kernels, roles.operations(), report);
  AddKernelTables(sweep.kernels, sweep.ops, roles.operations(), process, report);
  report->device_shares = DeviceShares(input, process);
  report->gaps = NamedGaps(process, sweep.gaps, roles);
  report->idle_marks = IdleMarks(process, sweep.marked_gaps);
  report->queued_gaps = QueuedGaps(input, IdleCause::kQueued);
  report->event_wait_gaps = QueuedGaps(input, IdleCause::kEventWait);
  report->launches = AllLaunches(input);
  report->lanes = NamedLanes(process, sweep, roles);
  report->iterations = IterationStatistics(sweep.iterations, SpanOf(process), roles);
  report->stacks = StacksOf(sweep.stacks, process, roles);
  report->sync_lines = SyncLinesOf(sweep.stacks, process, roles);
  report->smi_model = sweep.smi_model;
  report->most_smi_model = sweep.most_smi_model;
  report->sm_fill_is_upper_bound = sweep.fill_is_upper_bound;
  AddTotals(report);
  MarkCausedAtLeast(sweep.work_without_launch > 0, report);
  if (!report->cpu) return;
  ReportThreadsCpu& all = report->threads_cpu.emplace();
  all.on_cpu_ns = sweep.total_cpu_time.on_cpu_ns;
  if (sweep.total_cpu_time.knows_ready) all.ready_ns = sweep.total_cpu_time.ready_ns;
}

// Absent where the program told none, or no total above zero.
std::optional<ReportProgress> ToldProgress(const ProcessTrace& process, const ToldValues& told) {
  const auto& [first, done, total, work] = told;
  const bool sound = std::isfinite(done.value) && std::isfinite(total.value) && done.value >= 0 &&
                     total.value > 0 && done.value <= total.value;
  if (!sound) return std::nullopt;
  return ReportProgress{done.value, total.value, done.time_ns - process.span_begin_ns, first.value,
                        first.time_ns - process.span_begin_ns};
}

std::vector<ReportThroughput> ThroughputOf(const ToldValues& told) {
  std::vector<ReportThroughput> rows;
  for (size_t i = 0; i < kWorkCounters.size(); ++i) {
    const WorkCounted& work = told.work[i];
    const int64_t ns = work.count < 2 ? 0 : work.last.time_ns - work.first.time_ns;
    const double done = work.Done();
    if (ns <= 0 || done <= 0) continue;
    constexpr double kNsPerSecond = 1e9;
    rows.push_back({kWorkCounters[i], done, done * kNsPerSecond / static_cast<double>(ns), ns});
  }
  return rows;
}

}  // namespace

Result<ProcessAnalysis> AnalyzeProcess(const ProcessTrace& process, const EventSource& source,
                                       const BreakdownOptions& options,
                                       const ProcessContext& context) {
  const SweepSetup setup(process, source, options, context);
  const LabelRoles& roles = setup.roles();
  Result<SweepResult> swept = SweepOverlap(setup.input());
  if (!swept.ok()) return swept.error();
  const SweepResult& sweep = *swept;

  ProcessAnalysis analysis;
  FillReport(process, sweep, roles, &analysis.report);
  NameLongCalls(process, setup.source(), &analysis.report.gaps);
  analysis.report.corrected_why_not = options.why_not_replayed;
  for (ReportOperation& row : analysis.report.operations) {
    row.inherited = setup.inherits() && row.operation != kNoOperation;
  }
  const size_t reporting = setup.scan().reporting;
  MarkScopesMissing(
      process,
      reporting < process.threads.size() ? process.threads[reporting].ordinal : kNoThreadKnown,
      &analysis.report.operations);
  const ProcessSums none;
  const ProcessSums& before = context.before == nullptr ? none : *context.before;
  const ToldValues told = LastTold(process, setup.source(), before.progress, kOpenEnded);
  analysis.report.progress = ToldProgress(process, told);
  analysis.report.throughput = ThroughputOf(told);
  const TreePeaks tree = PeaksOf(process, before.process_tree);
  if (tree.processes != 0) analysis.report.process_tree = tree;
  analysis.any_operation = setup.scan().any_operation;
  analysis.launches_unanswered = sweep.launches_unanswered;
  analysis.primary_thread = reporting;
  analysis.inherits = !analysis.any_operation && !context.left.empty();
  analysis.report.waits = RowsOf(SumOf(before.waits, sweep.waits, context.peers, roles));
  analysis.waits = WaitsOf(sweep.waits, context.peers, roles);
  analysis.report.counters = NamedCounters(sweep.counters, analysis.report.operations, roles);
  analysis.steady = sweep.iterations.steady;
  analysis.warm_up = WarmUpOf(sweep.iterations);
  analysis.activity = sweep.activity;
  analysis.pauses = sweep.pauses;
  const auto found = [&analysis](LedgerCounter counter) -> uint64_t& {
    return analysis.found[static_cast<size_t>(counter)];
  };
  found(LedgerCounter::kernels_without_launch) = sweep.work_without_launch;
  found(LedgerCounter::work_before_launch) = sweep.early_work.count;
  analysis.work_before_launch_ns = sweep.early_work.most_ns;
  found(LedgerCounter::work_after_wait) = sweep.late_work.count;
  analysis.work_after_wait_ns = sweep.late_work.most_ns;
  found(LedgerCounter::graphs_of_mixed_work) = sweep.mixed_graphs;
  found(LedgerCounter::adopted_scopes) = sweep.doubtful_scopes.adopted;
  found(LedgerCounter::unbalanced_scopes) = sweep.doubtful_scopes.unbalanced;
  // Of a process that closed its trace the recorder has counted them.
  const uint64_t counted = process.Counted(LedgerCounter::scopes_open_at_end);
  found(LedgerCounter::scopes_open_at_end) =
      sweep.doubtful_scopes.open_at_end - std::min(counted, sweep.doubtful_scopes.open_at_end);
  if (setup.contradicts_sums()) found(LedgerCounter::roles_changed_after_sums) = 1;

  const Status partition = CheckPartition(analysis.report);
  if (!partition.ok()) return partition.error();
  return analysis;
}

Result<ProcessAnalysis> AnalyzeProcess(const ProcessTrace& process,
                                       const BreakdownOptions& options) {
  return AnalyzeProcess(process, MemorySource(process), options, {});
}

}  // namespace gpubound
