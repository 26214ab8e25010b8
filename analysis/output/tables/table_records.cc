// SPDX-License-Identifier: Apache-2.0
//
// Tables of what the device source recorded: calls, device work, synchronisations, overheads; and
// of looks at stacks. No state.
#include <optional>
#include <type_traits>

#include "analysis/output/tables/event_scan.h"
#include "analysis/output/tables/table_rows.h"
#include "analysis/trace/known_graphs.h"
#include "analysis/trace/work_classes.h"
#include "proto/sync_calls.h"

namespace gpubound {
namespace {

template <typename Record>
struct RecordRow {
  size_t process = 0;
  const ProcessTrace* trace = nullptr;
  const Record* record = nullptr;
  Cell thread = {};                 // of records that name a thread
  WorkClass work_class = kCompute;  // of device work
};

int64_t BeginOf(const CallOfTid& record) { return record.call.start_ns; }
int64_t BeginOf(const OverheadOfTid& record) { return record.overhead.start_ns; }
int64_t BeginOf(const Sync& record) { return record.start_ns; }
int64_t BeginOf(const DeviceWork& record) { return record.start_ns; }
int64_t BeginOf(const StackLooks& record) { return record.start_ns; }
int64_t EndOf(const CallOfTid& record) { return record.call.end_ns; }
int64_t EndOf(const OverheadOfTid& record) { return record.overhead.end_ns; }
int64_t EndOf(const Sync& record) { return record.end_ns; }
int64_t EndOf(const DeviceWork& record) { return record.end_ns; }

template <typename Record, EventFamily kFamily>
class RecordRows {
 public:
  RecordRows(TraceRun* run, const RowFilter& filter)
      : run_(*run), scan_(run, filter, kFamily), threads_(run) {}

  const RecordRow<Record>* Next() {
    row_.record = scan_.Next();
    if (row_.record == nullptr) return nullptr;
    row_.process = scan_.process();
    row_.trace = &run_.process(row_.process);
    if constexpr (requires { row_.record->tid; }) {
      const size_t thread = threads_.Find(row_.process, row_.record->tid, BeginOf(*row_.record));
      row_.thread = thread == ThreadFinder::kNone ? Cell() : ToCell(thread + 1);
    }
    if constexpr (std::is_same_v<Record, DeviceWork>) {
      if (classes_of_ != row_.process) classes_.emplace(*row_.trace);
      classes_of_ = row_.process;
      row_.work_class = classes_->Of(*row_.record);
    }
    return &row_;
  }

 private:
  TraceRun& run_;
  RecordScan<Record> scan_;
  ThreadFinder threads_;
  std::optional<WorkClasses> classes_;  // of one process
  std::optional<size_t> classes_of_;
  RecordRow<Record> row_;
};

template <typename Record>
using RecordColumns = std::vector<Column<RecordRow<Record>>>;

// RecordColumns that every kind of record has, and |more|.
template <typename Record>
RecordColumns<Record> ColumnsOf(const RecordColumns<Record>& more) {
  using Row = RecordRow<Record>;
  RecordColumns<Record> columns;
  columns.push_back({{"process", kInteger, ColumnRole::kProcess},
                     [](const Row& row) { return ToCell(row.process + 1); }});
  if constexpr (requires(const Record& record) { record.tid; }) {
    columns.push_back({{"thread"}, [](const Row& row) { return row.thread; }});
    columns.push_back({{"tid"}, [](const Row& row) { return ToCell(row.record->tid); }});
  }
  columns.push_back({{"begin_ns", kInteger, ColumnRole::kBegin, true},
                     [](const Row& row) { return ToCell(BeginOf(*row.record)); }});
  columns.push_back({{"end_ns", kInteger, ColumnRole::kEnd},
                     [](const Row& row) { return ToCell(EndOf(*row.record)); }});
  columns.push_back({{"duration_ns"}, [](const Row& row) {
                       return ToCell(EndOf(*row.record) - BeginOf(*row.record));
                     }});
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

constexpr ColumnInfo kCorrelation{"correlation", kInteger, ColumnRole::kCorrelation, true};

const char* ApiClassName(ApiClass api_class) {
  switch (api_class) {
    case ApiClass::kCall:
      return "call";
    case ApiClass::kSync:
      return "sync";
    case ApiClass::kAsyncCopy:
      return "async_copy";
  }
  return "call";
}

TraceTable ApiTable() {
  using Row = RecordRow<CallOfTid>;
  return MakeTable<Row, RecordRows<CallOfTid, EventFamily::kApi>>(
      "api", "a call of the CUDA runtime or driver", true,
      ColumnsOf<CallOfTid>({
          {{"name", kText},
           [](const Row& row) { return ToCell(row.trace->LabelOf(row.record->call.label).text); }},
          {{"class", kText},
           [](const Row& row) {
             const std::string& name = row.trace->LabelOf(row.record->call.label).text;
             return ToCell(ApiClassName(ClassifyApi(name)));
           }},
          {kCorrelation, [](const Row& row) { return ToCell(row.record->call.correlation); }},
          {{"result"}, [](const Row& row) { return ToCell(row.record->call.result); }},
      }));
}

using GpuRow = RecordRow<DeviceWork>;

const Work& WorkOf(const GpuRow& row) { return row.trace->WorkOf(row.record->work); }
const Stream& StreamOf(const GpuRow& row) { return row.trace->StreamOf(row.record->stream); }

const char* WorkKindName(WorkKind kind) {
  switch (kind) {
    case WorkKind::kKernel:
      return "kernel";
    case WorkKind::kMemcpy:
      return "memcpy";
    case WorkKind::kMemset:
      return "memset";
    case WorkKind::kGraph:
      return "graph";
    case WorkKind::kNone:
      break;
  }
  return "unknown";
}

TraceTable GpuTable() {
  return MakeTable<GpuRow, RecordRows<DeviceWork, EventFamily::kDevice>>(
      "gpu", "a kernel, copy, set or whole graph on a device", true,
      ColumnsOf<DeviceWork>({
          {{"device"},
           [](const GpuRow& row) {
             return ToCell(row.trace->DeviceOf(StreamOf(row).device).info.index);
           }},
          {{"context"}, [](const GpuRow& row) { return ToCell(StreamOf(row).context); }},
          {{"stream"}, [](const GpuRow& row) { return ToCell(StreamOf(row).stream); }},
          {{"kind", kText},
           [](const GpuRow& row) { return ToCell(WorkKindName(WorkOf(row).info.kind)); }},
          {{"class", kText},
           [](const GpuRow& row) { return ToCell(WorkClassName(row.work_class)); }},
          {{"name", kText}, [](const GpuRow& row) { return ToCell(WorkOf(row).name); }},
          {kCorrelation, [](const GpuRow& row) { return ToCell(row.record->correlation); }},
          {{"bytes"}, [](const GpuRow& row) { return ToCell(row.record->bytes); }},
          {{"graph"}, [](const GpuRow& row) { return ToCell(row.record->graph); }},
          {{"graph_node"}, [](const GpuRow& row) { return ToCell(row.record->graph_node); }},
          {{"grid_x"}, [](const GpuRow& row) { return ToCell(WorkOf(row).info.grid[0]); }},
          {{"grid_y"}, [](const GpuRow& row) { return ToCell(WorkOf(row).info.grid[1]); }},
          {{"grid_z"}, [](const GpuRow& row) { return ToCell(WorkOf(row).info.grid[2]); }},
          {{"block_x"}, [](const GpuRow& row) { return ToCell(WorkOf(row).info.block[0]); }},
          {{"block_y"}, [](const GpuRow& row) { return ToCell(WorkOf(row).info.block[1]); }},
          {{"block_z"}, [](const GpuRow& row) { return ToCell(WorkOf(row).info.block[2]); }},
          {{"registers_per_thread"},
           [](const GpuRow& row) { return ToCell(WorkOf(row).info.registers_per_thread); }},
          {{"static_shared_bytes"},
           [](const GpuRow& row) { return ToCell(WorkOf(row).info.static_shared_bytes); }},
          {{"dynamic_shared_bytes"},
           [](const GpuRow& row) { return ToCell(WorkOf(row).info.dynamic_shared_bytes); }},
      }));
}

TraceTable SyncTable() {
  using Row = RecordRow<Sync>;
  return MakeTable<Row, RecordRows<Sync, EventFamily::kSync>>(
      "sync", "a synchronisation as CUPTI reports it", true,
      ColumnsOf<Sync>({
          {{"type"}, [](const Row& row) { return ToCell(row.record->type); }},
          {{"context"}, [](const Row& row) { return ToCell(row.record->context); }},
          {{"stream"}, [](const Row& row) { return ToCell(row.record->stream); }},
          {{"event"}, [](const Row& row) { return ToCell(row.record->event); }},
          {kCorrelation, [](const Row& row) { return ToCell(row.record->correlation); }},
      }));
}

TraceTable OverheadTable() {
  using Row = RecordRow<OverheadOfTid>;
  return MakeTable<Row, RecordRows<OverheadOfTid, EventFamily::kOverhead>>(
      "overhead", "time that CUPTI says it cost", true,
      ColumnsOf<OverheadOfTid>({
          {{"kind", kText},
           [](const Row& row) {
             return ToCell(row.trace->LabelOf(row.record->overhead.label).text);
           }},
          {kCorrelation, [](const Row& row) { return ToCell(row.record->overhead.correlation); }},
      }));
}

TraceTable StackLooksTable() {
  using Row = RecordRow<StackLooks>;
  return MakeTable<Row, RecordRows<StackLooks, EventFamily::kStack>>(
      "stack_looks", "looks at the stack of a thread, between which it did not run", true,
      {
          {{"process", kInteger, ColumnRole::kProcess},
           [](const Row& row) { return ToCell(row.process + 1); }},
          {{"thread"}, [](const Row& row) { return row.thread; }},
          {{"tid"}, [](const Row& row) { return ToCell(row.record->tid); }},
          {{"begin_ns", kInteger, ColumnRole::kBegin, true},
           [](const Row& row) { return ToCell(row.record->start_ns); }},
          {{"end_ns", kInteger, ColumnRole::kEnd},
           [](const Row& row) { return ToCell(row.record->end_ns); }},
          {{"looks"}, [](const Row& row) { return ToCell(row.record->looks); }},
          {{"runnable"}, [](const Row& row) { return ToCell(row.record->runnable); }},
          {{"frame"},
           [](const Row& row) {
             const FrameId frame = row.record->frame;
             return frame == FrameId{} ? Cell() : ToCell(frame);
           }},
      });
}

}  // namespace

std::vector<TraceTable> RecordTables() {
  return {ApiTable(), GpuTable(), SyncTable(), OverheadTable(), StackLooksTable()};
}

}  // namespace gpubound
