// SPDX-License-Identifier: Apache-2.0
//
// Runs the stages for one process and checks their sum. No state.
#include "analysis/process_report.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/attribution.h"
#include "analysis/correlator.h"
#include "analysis/gpu_work.h"
#include "analysis/label_roles.h"
#include "analysis/overlap_sweep.h"
#include "analysis/process_timeline.h"
#include "analysis/smi_model.h"
#include "analysis/thread_scan.h"

namespace gpubound {
namespace {

Interval SpanOf(const ProcessTrace& process) {
  return {process.span_begin_ns, std::max(process.span_begin_ns, process.span_end_ns)};
}

std::vector<Interval> UnknownOf(const ProcessTrace& process, const ThreadScan& scan) {
  std::vector<Interval> unknown = scan.pauses;
  for (const UnknownInterval& interval : process.unknown) {
    unknown.push_back({interval.start_ns, interval.end_ns});
  }
  return Union(std::move(unknown));
}

std::vector<OperationIndex> CausingOperations(const Correlation& correlation,
                                              const ProcessTimeline& timeline) {
  std::vector<OperationIndex> operations;
  operations.reserve(correlation.cause.size());
  for (const CallRef& cause : correlation.cause) {
    operations.push_back(cause.valid() ? timeline.OperationOfCall(cause) : kNoOperationIndex);
  }
  return operations;
}

std::vector<ReportCell> NamedCells(const SweepResult& sweep, const LabelRoles& roles) {
  std::vector<ReportCell> cells;
  cells.reserve(sweep.cells.size());
  for (const Cell& cell : sweep.cells) {
    cells.push_back({roles.phases()[cell.phase], roles.operations()[cell.operation],
                     LayerName(cell.layer), GpuStateName(cell.gpu), cell.ns});
  }
  std::sort(cells.begin(), cells.end(), [](const ReportCell& a, const ReportCell& b) {
    return std::tie(a.phase, a.operation, a.layer, a.gpu) <
           std::tie(b.phase, b.operation, b.layer, b.gpu);
  });
  return cells;
}

std::vector<ReportKernel> KernelTable(const ProcessTrace& process, const GpuItems& gpu,
                                      const Interval& span) {
  std::map<std::pair<std::string, WorkClass>, ReportKernel> table;
  std::vector<ReportKernel*> by_work(process.works.size());
  ReportKernel unnamed{"(unnamed)", WorkClassName(kCompute), 0, 0};
  for (size_t i = 0; i < gpu.items.size(); ++i) {
    const size_t id = Raw(process.device_work[i].work);
    ReportKernel* row = &unnamed;
    if (id < by_work.size()) {
      if (by_work[id] == nullptr) {
        by_work[id] = &table[{process.works[id].name, gpu.items[i].work_class}];
        by_work[id]->name = process.works[id].name;
        by_work[id]->work_class = WorkClassName(gpu.items[i].work_class);
      }
      row = by_work[id];
    }
    ++row->count;
    row->sum_ns += Interval{gpu.items[i].begin_ns, gpu.items[i].end_ns}.ClippedTo(span).length();
  }
  std::vector<ReportKernel> kernels;
  for (auto& [name, row] : table) kernels.push_back(std::move(row));
  if (unnamed.count != 0) kernels.push_back(std::move(unnamed));
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.sum_ns > b.sum_ns; });
  return kernels;
}

double SmiModelOf(const GpuItems& gpu, const Interval& span) {
  std::vector<Interval> kernels;
  for (const GpuItem& item : gpu.items) {
    if (item.work_class != kCopy) kernels.push_back({item.begin_ns, item.end_ns});
  }
  return SmiModel(kernels, span);
}

void AddTotals(ReportProcess* report) {
  for (const ReportOperation& row : report->operations) {
    report->gpu_busy_ns += row.gpu_busy_ns;
    report->gpu_wait_ns += row.gpu_wait_ns;
    report->gpu_sum_ns += row.gpu_sum_ns;
    report->unknown_ns += row.unknown_ns;
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

}  // namespace

Result<ProcessAnalysis> AnalyzeProcess(const ProcessTrace& process, const ReportOptions& options) {
  const Interval span = SpanOf(process);
  const LabelRoles roles(process, options.operations);
  const Correlation correlation = Correlate(process, roles);
  const ThreadScan scan = ScanThreads(process, roles);
  const std::vector<Interval> unknown = UnknownOf(process, scan);
  const GpuItems gpu = ClassifyWork(process);
  ProcessTimeline timeline(process, roles, correlation, scan);

  SweepInput sweep_input;
  sweep_input.span = span;
  sweep_input.next_segment = [&timeline](CpuSegment* next) { return timeline.Next(next); };
  sweep_input.work = &gpu.items;
  sweep_input.devices = gpu.devices;
  sweep_input.unknown = &unknown;
  sweep_input.operations = roles.operations().size();
  const SweepResult sweep = SweepOverlap(sweep_input);
  CpuSegment rest;
  while (timeline.Next(&rest)) {
    // An empty span was not swept; its counts are wanted all the same.
  }

  const std::vector<int64_t> caused_ns = CausedTime(
      gpu.items, CausingOperations(correlation, timeline), span, roles.operations().size());

  ProcessAnalysis analysis;
  ReportProcess& report = analysis.report;
  report.host = process.identity.host;
  report.pid = process.identity.pid;
  report.name = process.name;
  report.start_ns = process.identity.start_realtime_ns;
  report.span_ns = span.length();
  report.span_end = process.span_end;
  report.cells = NamedCells(sweep, roles);
  report.operations = OperationRows({&roles.operations(), &sweep, &timeline.counts(), &caused_ns});
  report.kernels = KernelTable(process, gpu, span);
  report.smi_model = SmiModelOf(gpu, span);
  report.sm_fill_is_upper_bound = gpu.fill_is_upper_bound;
  report.corrected_why_not = "not calibrated";
  AddTotals(&report);

  const auto found = [&analysis](LedgerCounter counter) -> uint64_t& {
    return analysis.found[static_cast<size_t>(counter)];
  };
  found(LedgerCounter::kernels_without_launch) = correlation.work_without_launch;
  found(LedgerCounter::unbalanced_scopes) = timeline.unbalanced_scopes();
  found(LedgerCounter::scopes_open_at_end) = timeline.scopes_open_at_end();

  const Status partition = CheckPartition(report);
  if (!partition.ok()) return partition.error();
  return analysis;
}

}  // namespace gpubound
