// SPDX-License-Identifier: Apache-2.0
//
// Tables of figures: what the report says, as rows. The first one that is asked for builds the
// report. No state.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/output/tables/table_rows.h"

namespace gpubound {
namespace {

// A row of a list that each process of the report has.
template <typename Figure>
struct ProcessFigure {
  size_t process = 0;
  const Figure* figure = nullptr;
  int64_t span_begin_ns = 0;  // the report counts from there
};

template <typename Figure>
using FigureColumns = std::vector<Column<ProcessFigure<Figure>>>;

template <typename Figure>
FigureColumns<Figure> OfProcess(const FigureColumns<Figure>& more) {
  FigureColumns<Figure> columns = {
      {{"process", kInteger, ColumnRole::kProcess},
       [](const ProcessFigure<Figure>& row) { return ToCell(row.process + 1); }}};
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

template <typename Figure, auto kMember>
std::vector<ProcessFigure<Figure>> FiguresOf(TraceRun* run) {
  std::vector<ProcessFigure<Figure>> rows;
  const Report* report = run->report();
  if (report == nullptr) return rows;
  for (size_t p = 0; p < report->processes.size(); ++p) {
    const std::optional<size_t> process = run->ProcessOf(p);
    if (!process) continue;
    const int64_t begin_ns = run->process(*process).span_begin_ns;
    for (const Figure& figure : report->processes[p].*kMember) {
      rows.push_back({*process, &figure, begin_ns});
    }
  }
  return rows;
}

// A column that is a member of the figure.
template <typename Figure, auto kMember>
Cell MemberOf(const ProcessFigure<Figure>& row) {
  return ToCell(row.figure->*kMember);
}

// Trace time of a stretch within the span.
template <typename Figure>
Cell BeginOf(const ProcessFigure<Figure>& row) {
  return ToCell(row.span_begin_ns + row.figure->begin_ns);
}
template <typename Figure>
Cell EndOf(const ProcessFigure<Figure>& row) {
  return ToCell(row.span_begin_ns + row.figure->begin_ns + row.figure->ns);
}

TraceTable OperationTable() {
  using Figure = ReportOperation;
  return MakeShortTable<ProcessFigure<Figure>, FiguresOf<Figure, &ReportProcess::operations>>(
      "operation", "a row of the report: an operation of a process",
      OfProcess<Figure>({
          {{"operation", kText}, MemberOf<Figure, &Figure::operation>},
          {{"wall_ns"}, MemberOf<Figure, &Figure::wall_ns>},
          {{"cpu_only_ns"}, MemberOf<Figure, &Figure::cpu_only_ns>},
          {{"cpu_gpu_ns"}, MemberOf<Figure, &Figure::cpu_gpu_ns>},
          {{"gpu_only_ns"}, MemberOf<Figure, &Figure::gpu_only_ns>},
          {{"waiting_ns"}, MemberOf<Figure, &Figure::waiting_ns>},
          {{"idle_ns"}, MemberOf<Figure, &Figure::idle_ns>},
          {{"unknown_ns"}, MemberOf<Figure, &Figure::unknown_ns>},
          {{"gpu_busy_ns"}, MemberOf<Figure, &Figure::gpu_busy_ns>},
          {{"gpu_compute_ns"}, MemberOf<Figure, &Figure::gpu_compute_ns>},
          {{"gpu_comm_ns"}, MemberOf<Figure, &Figure::gpu_comm_ns>},
          {{"gpu_copy_ns"}, MemberOf<Figure, &Figure::gpu_copy_ns>},
          {{"gpu_wait_ns"}, MemberOf<Figure, &Figure::gpu_wait_ns>},
          {{"gpu_caused_ns"}, MemberOf<Figure, &Figure::gpu_caused_ns>},
          {{"gpu_sum_ns"}, MemberOf<Figure, &Figure::gpu_sum_ns>},
          {{"sm_filled_ns"}, MemberOf<Figure, &Figure::sm_filled_ns>},
          {{"count"}, MemberOf<Figure, &Figure::count>},
          {{"inclusive_wall_ns"}, MemberOf<Figure, &Figure::inclusive_wall_ns>},
          {{"inherited"}, MemberOf<Figure, &Figure::inherited>},
          {{"gpu_busy_is_upper_bound"}, MemberOf<Figure, &Figure::gpu_busy_is_upper_bound>},
          {{"gpu_caused_is_upper_bound"}, MemberOf<Figure, &Figure::gpu_caused_is_upper_bound>},
          {{"scopes_missing"}, MemberOf<Figure, &Figure::scopes_missing>},
          {{"gpu_caused_is_lower_bound"}, MemberOf<Figure, &Figure::gpu_caused_is_lower_bound>},
          {{"other_threads_only"}, MemberOf<Figure, &Figure::other_threads_only>},
      }));
}

TraceTable BreakdownTable() {
  using Figure = ReportCell;
  return MakeShortTable<ProcessFigure<Figure>, FiguresOf<Figure, &ReportProcess::cells>>(
      "breakdown", "a cell of the partition of a process's span",
      OfProcess<Figure>({
          {{"phase", kText}, MemberOf<Figure, &Figure::phase>},
          {{"operation", kText}, MemberOf<Figure, &Figure::operation>},
          {{"layer", kText}, MemberOf<Figure, &Figure::layer>},
          {{"gpu", kText}, MemberOf<Figure, &Figure::gpu>},
          {{"ns"}, MemberOf<Figure, &Figure::ns>},
          {{"waiting_ns"}, MemberOf<Figure, &Figure::waiting_ns>},
          {{"gpu_busy_is_upper_bound"}, MemberOf<Figure, &Figure::gpu_busy_is_upper_bound>},
      }));
}

// A figure of an operation that has a name of its own: a transition, a cause of idleness.
struct NamedFigure {
  size_t process = 0;
  std::string_view operation;
  std::string_view name;
  int64_t value = 0;
};

std::vector<NamedFigure> CollectTransitions(TraceRun* run) {
  std::vector<NamedFigure> rows;
  for (const auto& [p, row, begin_ns] :
       FiguresOf<ReportOperation, &ReportProcess::operations>(run)) {
    for (const auto& [name, count] : row->transitions) {
      rows.push_back({p, row->operation, name, static_cast<int64_t>(count)});
    }
  }
  return rows;
}

std::vector<NamedFigure> CollectIdleCauses(TraceRun* run) {
  std::vector<NamedFigure> rows;
  for (const auto& [p, row, begin_ns] :
       FiguresOf<ReportOperation, &ReportProcess::operations>(run)) {
    for (const CauseTime& cause : row->device_idle) {
      rows.push_back({p, row->operation, cause.cause, cause.ns});
    }
  }
  return rows;
}

template <auto kCollect>
TraceTable NamedFigureTable(const char* table, const char* summary, const char* name,
                            const char* value) {
  using Row = NamedFigure;
  return MakeShortTable<Row, kCollect>(
      table, summary,
      {{{"process", kInteger, ColumnRole::kProcess},
        [](const Row& row) { return ToCell(row.process + 1); }},
       {{"operation", kText}, [](const Row& row) { return ToCell(row.operation); }},
       {{name, kText}, [](const Row& row) { return ToCell(row.name); }},
       {{value}, [](const Row& row) { return ToCell(row.value); }}});
}

std::vector<ProcessFigure<ReportIteration>> CollectIterations(TraceRun* run) {
  std::vector<ProcessFigure<ReportIteration>> rows;
  const Report* report = run->report();
  if (report == nullptr) return rows;
  for (size_t p = 0; p < report->processes.size(); ++p) {
    const std::optional<size_t> process = run->ProcessOf(p);
    const auto& iterations = report->processes[p].iterations;
    if (!process || !iterations) continue;
    for (const ReportIteration& iteration : iterations->every) {
      rows.push_back({*process, &iteration, run->process(*process).span_begin_ns});
    }
  }
  return rows;
}

TraceTable IterationTable() {
  using Figure = ReportIteration;
  return MakeShortTable<ProcessFigure<Figure>, CollectIterations>(
      "iteration", "an iteration of a process's training loop",
      OfProcess<Figure>({
          {{"number"}, MemberOf<Figure, &Figure::number>},
          {{"begin_ns"}, BeginOf<Figure>},
          {{"end_ns"}, EndOf<Figure>},
          {{"duration_ns"}, MemberOf<Figure, &Figure::ns>},
          {{"gpu_busy_ns"}, MemberOf<Figure, &Figure::gpu_busy_ns>},
          {{"warm_up"}, MemberOf<Figure, &Figure::warm_up>},
      }));
}

TraceTable KernelTable() {
  using Figure = ReportKernel;
  return MakeShortTable<ProcessFigure<Figure>, FiguresOf<Figure, &ReportProcess::kernels>>(
      "kernel", "device work of a process by name",
      OfProcess<Figure>({
          {{"name", kText}, MemberOf<Figure, &Figure::name>},
          {{"class", kText}, MemberOf<Figure, &Figure::work_class>},
          {{"count"}, MemberOf<Figure, &Figure::count>},
          {{"sum_ns"}, MemberOf<Figure, &Figure::sum_ns>},
          {{"mean_ns"}, MemberOf<Figure, &Figure::mean_ns>},
          {{"median_ns"}, MemberOf<Figure, &Figure::median_ns>},
          {{"p95_ns"}, MemberOf<Figure, &Figure::p95_ns>},
          {{"lengths_rounded"}, MemberOf<Figure, &Figure::lengths_rounded>},
          {{"sm_filled_ns"}, MemberOf<Figure, &Figure::sm_filled_ns>},
          {{"sm_fill_is_upper_bound"}, MemberOf<Figure, &Figure::sm_fill_is_upper_bound>},
          {{"category", kText}, MemberOf<Figure, &Figure::category>},
      }));
}

TraceTable OpTable() {
  using Figure = ReportOp;
  return MakeShortTable<ProcessFigure<Figure>, FiguresOf<Figure, &ReportProcess::ops>>(
      "op", "device work by the operator of a framework that launched it, and its inputs",
      OfProcess<Figure>({
          {{"op", kText}, MemberOf<Figure, &Figure::op>},
          {{"shape", kText}, MemberOf<Figure, &Figure::shape>},
          {{"types", kText}, MemberOf<Figure, &Figure::types>},
          {{"category", kText}, MemberOf<Figure, &Figure::category>},
          {{"calls"}, MemberOf<Figure, &Figure::calls>},
          {{"count"}, MemberOf<Figure, &Figure::count>},
          {{"sum_ns"}, MemberOf<Figure, &Figure::sum_ns>},
          {{"flops", kReal}, MemberOf<Figure, &Figure::flops>},
          {{"bytes", kReal}, MemberOf<Figure, &Figure::bytes>},
          {{"peak_flops_share", kReal}, MemberOf<Figure, &Figure::peak_flops_share>},
          {{"peak_bytes_share", kReal}, MemberOf<Figure, &Figure::peak_bytes_share>},
      }));
}

std::string PidsOf(const ReportWait& wait) {
  std::string pids;
  for (const int64_t pid : wait.pids) pids += (pids.empty() ? "" : ",") + std::to_string(pid);
  return pids;
}

struct WaitRow {
  size_t process = 0;
  std::string pids;
  const ReportWait* wait = nullptr;
};

std::vector<WaitRow> CollectWaits(TraceRun* run) {
  std::vector<WaitRow> rows;
  for (const auto& [process, wait, begin_ns] : FiguresOf<ReportWait, &ReportProcess::waits>(run)) {
    rows.push_back({process, PidsOf(*wait), wait});
  }
  return rows;
}

TraceTable WaitTable() {
  return MakeShortTable<WaitRow, CollectWaits>(
      "wait", "how long a process waited for another one, or for any of several",
      {{{"process", kInteger, ColumnRole::kProcess},
        [](const WaitRow& row) { return ToCell(row.process + 1); }},
       {{"operation", kText}, [](const WaitRow& row) { return ToCell(row.wait->operation); }},
       {{"for_pids", kText}, [](const WaitRow& row) { return ToCell(row.pids); }},
       {{"ns"}, [](const WaitRow& row) { return ToCell(row.wait->ns); }}});
}

std::vector<ProcessFigure<ReportRank>> CollectRanks(TraceRun* run) {
  std::vector<ProcessFigure<ReportRank>> rows;
  const Report* report = run->report();
  if (report == nullptr) return rows;
  for (const ReportRank& rank : report->ranks) {
    for (size_t p = 0; p < report->processes.size(); ++p) {
      const ReportProcess& process = report->processes[p];
      if (process.host != rank.host || process.pid != rank.pid) continue;
      if (const auto here = run->ProcessOf(p)) rows.push_back({*here, &rank});
      break;
    }
  }
  return rows;
}

TraceTable RankTable() {
  using Figure = ReportRank;
  return MakeShortTable<ProcessFigure<Figure>, CollectRanks>(
      "rank", "a process on a device, as a member of collectives",
      OfProcess<Figure>({
          {{"rank"}, MemberOf<Figure, &Figure::rank>},
          {{"uuid", kText}, MemberOf<Figure, &Figure::uuid>},
          {{"device"}, MemberOf<Figure, &Figure::ordinal>},
          {{"collectives"}, MemberOf<Figure, &Figure::collectives>},
          {{"comm_sum_ns"}, MemberOf<Figure, &Figure::comm_sum_ns>},
          {{"peer_wait_ns"}, MemberOf<Figure, &Figure::peer_wait_ns>},
          {{"moving_ns"}, MemberOf<Figure, &Figure::moving_ns>},
          {{"unmatched_ns"}, MemberOf<Figure, &Figure::unmatched_ns>},
          {{"late"}, MemberOf<Figure, &Figure::late>},
          {{"waited_for_ns"}, MemberOf<Figure, &Figure::waited_for_ns>},
          {{"peer_wait_is_upper_bound"}, MemberOf<Figure, &Figure::peer_wait_is_upper_bound>},
          {{"peer_wait_is_lower_bound"}, MemberOf<Figure, &Figure::peer_wait_is_lower_bound>},
          {{"late_is_doubtful"}, MemberOf<Figure, &Figure::late_is_doubtful>},
      }));
}

// A function of the tree of an operation's stacks.
struct StackRow {
  size_t process = 0;
  const ReportStacks* stacks = nullptr;
  size_t position = 0;  // of the function there
  const ReportFrame& frame() const { return stacks->frames[position]; }
};

std::vector<StackRow> CollectStacks(TraceRun* run) {
  std::vector<StackRow> rows;
  for (const auto& [p, stacks, begin_ns] : FiguresOf<ReportStacks, &ReportProcess::stacks>(run)) {
    for (size_t i = 0; i < stacks->frames.size(); ++i) rows.push_back({p, stacks, i});
  }
  return rows;
}

Cell LineOrNull(uint32_t line) { return line == 0 ? Cell() : ToCell(line); }

TraceTable StackTable() {
  using Row = StackRow;
  return MakeShortTable<Row, CollectStacks>(
      "stack", "a Python function under its callers, in what was seen of an operation",
      {{{"process", kInteger, ColumnRole::kProcess},
        [](const Row& row) { return ToCell(row.process + 1); }},
       {{"operation", kText}, [](const Row& row) { return ToCell(row.stacks->operation); }},
       {{"start_up"}, [](const Row& row) { return ToCell(row.stacks->start_up); }},
       {{"id"}, [](const Row& row) { return ToCell(row.position + 1); }},
       {{"caller"}, [](const Row& row) { return LineOrNull(row.frame().caller); }},
       {{"function", kText}, [](const Row& row) { return ToCell(row.frame().function); }},
       {{"package", kText}, [](const Row& row) { return TextOrNull(row.frame().package); }},
       {{"file", kText}, [](const Row& row) { return TextOrNull(row.frame().file); }},
       {{"line"}, [](const Row& row) { return LineOrNull(row.frame().line); }},
       {{"looks"}, [](const Row& row) { return ToCell(row.frame().looks); }},
       {{"own_looks"}, [](const Row& row) { return ToCell(row.frame().own_looks); }},
       {{"operation_looks"}, [](const Row& row) { return ToCell(row.stacks->looks); }}});
}

TraceTable SyncLineTable() {
  using Row = ProcessFigure<ReportSyncLine>;
  return MakeShortTable<Row, FiguresOf<ReportSyncLine, &ReportProcess::sync_lines>>(
      "sync_line", "a line of Python at which the program waited for the GPU",
      OfProcess<ReportSyncLine>({
          {{"operation", kText}, [](const Row& row) { return ToCell(row.figure->operation); }},
          {{"function", kText}, [](const Row& row) { return ToCell(row.figure->at.function); }},
          {{"package", kText}, [](const Row& row) { return TextOrNull(row.figure->at.package); }},
          {{"file", kText}, [](const Row& row) { return TextOrNull(row.figure->at.file); }},
          {{"line"}, [](const Row& row) { return LineOrNull(row.figure->at.line); }},
          {{"looks"}, [](const Row& row) { return ToCell(row.figure->at.looks); }},
          {{"share", kReal}, [](const Row& row) { return ToCell(row.figure->at.share); }},
          {{"share_error", kReal}, [](const Row& row) { return ToCell(row.figure->at.error); }},
      }));
}

// A column that is a member of the kernel.
template <auto kMember>
Cell OfKernel(const ProcessFigure<ReportOperationKernel>& row) {
  return ToCell(row.figure->kernel.*kMember);
}

TraceTable OperationKernelTable() {
  using Figure = ReportOperationKernel;
  return MakeShortTable<ProcessFigure<Figure>,
                        FiguresOf<Figure, &ReportProcess::operation_kernels>>(
      "operation_kernel", "device work by name that API calls of an operation launched",
      OfProcess<Figure>({
          {{"operation", kText}, MemberOf<Figure, &Figure::operation>},
          {{"name", kText}, OfKernel<&ReportKernel::name>},
          {{"class", kText}, OfKernel<&ReportKernel::work_class>},
          {{"count"}, OfKernel<&ReportKernel::count>},
          {{"sum_ns"}, OfKernel<&ReportKernel::sum_ns>},
          {{"mean_ns"}, OfKernel<&ReportKernel::mean_ns>},
          {{"median_ns"}, OfKernel<&ReportKernel::median_ns>},
          {{"p95_ns"}, OfKernel<&ReportKernel::p95_ns>},
          {{"lengths_rounded"}, OfKernel<&ReportKernel::lengths_rounded>},
          {{"sm_filled_ns"}, OfKernel<&ReportKernel::sm_filled_ns>},
          {{"sm_fill_is_upper_bound"}, OfKernel<&ReportKernel::sm_fill_is_upper_bound>},
          {{"category", kText}, OfKernel<&ReportKernel::category>},
      }));
}

TraceTable GapTable() {
  using Figure = ReportGap;
  return MakeShortTable<ProcessFigure<Figure>, FiguresOf<Figure, &ReportProcess::gaps>>(
      "gap", "one of the ten longest stretches in which a process's devices were idle",
      OfProcess<Figure>({
          {{"uuid", kText}, MemberOf<Figure, &Figure::uuid>},
          {{"device"}, MemberOf<Figure, &Figure::ordinal>},
          {{"begin_ns"}, BeginOf<Figure>},
          {{"end_ns"}, EndOf<Figure>},
          {{"duration_ns"}, MemberOf<Figure, &Figure::ns>},
          {{"cause", kText}, MemberOf<Figure, &Figure::cause>},
          {{"operation_at_begin", kText}, MemberOf<Figure, &Figure::operation_at_begin>},
          {{"operation_at_end", kText}, MemberOf<Figure, &Figure::operation_at_end>},
          {{"work_before", kText}, MemberOf<Figure, &Figure::work_before>},
          {{"work_after", kText}, MemberOf<Figure, &Figure::work_after>},
      }));
}

// Rows of the report itself.
template <typename Figure, auto kMember>
std::vector<ProcessFigure<Figure>> CollectOfRun(TraceRun* run) {
  std::vector<ProcessFigure<Figure>> rows;
  const Report* report = run->report();
  if (report == nullptr) return rows;
  for (const Figure& figure : report->*kMember) rows.push_back({0, &figure});
  return rows;
}

TraceTable DeviceUsageTable() {
  using Figure = ReportDevice;
  return MakeShortTable<ProcessFigure<Figure>, CollectOfRun<Figure, &Report::devices>>(
      "device_usage", "a physical device over all processes of the run",
      FigureColumns<Figure>{
          {{"uuid", kText}, MemberOf<Figure, &Figure::uuid>},
          {{"name", kText}, MemberOf<Figure, &Figure::name>},
          {{"busy_ns"}, MemberOf<Figure, &Figure::busy_ns>},
          {{"span_ns"}, MemberOf<Figure, &Figure::span_ns>},
          {{"used"}, MemberOf<Figure, &Figure::used>},
          {{"nvml_utilization", kReal}, MemberOf<Figure, &Figure::nvml_utilization>},
          {{"smi_model", kReal}, MemberOf<Figure, &Figure::smi_model>},
          {{"inflation", kReal}, MemberOf<Figure, &Figure::inflation>},
          {{"busy_is_upper_bound"}, MemberOf<Figure, &Figure::busy_is_upper_bound>},
          {{"not_profiled"},
           [](const ProcessFigure<Figure>& row) {
             return ToCell(row.figure->not_profiled.size());
           }},
      });
}

TraceTable LedgerTable() {
  using Figure = ReportLedgerEntry;
  using Row = ProcessFigure<Figure>;
  return MakeShortTable<Row, CollectOfRun<Figure, &Report::ledger>>(
      "ledger", "something that could make a number wrong, counted over the run",
      FigureColumns<Figure>{
          {{"counter", kText}, MemberOf<Figure, &Figure::counter>},
          {{"value"}, MemberOf<Figure, &Figure::value>},
          {{"severity", kText},
           [](const Row& row) { return ToCell(SeverityName(row.figure->severity)); }},
          {{"help", kText}, MemberOf<Figure, &Figure::help>},
      });
}

}  // namespace

std::vector<TraceTable> ReportTables() {
  std::vector<TraceTable> tables = {
      OperationTable(),
      BreakdownTable(),
      NamedFigureTable<CollectTransitions>(
          "transition", "entries into a deeper layer under an operation", "transition", "count"),
      NamedFigureTable<CollectIdleCauses>("idle_cause", "why devices were idle under an operation",
                                          "cause", "ns"),
      WaitTable(),
      RankTable(),
      IterationTable(),
      KernelTable(),
      OpTable(),
      OperationKernelTable(),
      StackTable(),
      SyncLineTable(),
      GapTable(),
      DeviceUsageTable(),
      LedgerTable()};
  for (TraceTable& table : TrainingTables()) tables.push_back(std::move(table));
  for (TraceTable& table : tables) table.of_report = true;
  return tables;
}

}  // namespace gpubound
