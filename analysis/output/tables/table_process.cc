// SPDX-License-Identifier: Apache-2.0
//
// Tables of plain rows: processes, threads, devices and what was sampled or noted beside the
// events. No state.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/output/tables/table_rows.h"
#include "analysis/trace/known_graphs.h"
#include "analysis/trace/span_end.h"

namespace gpubound {
namespace {

// A row of something that a process has, or of the process itself.
template <typename Thing>
struct RowOf {
  size_t process = 0;
  size_t index = 0;  // of the thing, from 0
  const ProcessTrace* trace = nullptr;
  const Thing* thing = nullptr;
};

template <typename Thing>
using Columns = std::vector<Column<RowOf<Thing>>>;

template <typename Thing>
Columns<Thing> WithProcess(const Columns<Thing>& more) {
  Columns<Thing> columns = {{{"process", kInteger, ColumnRole::kProcess},
                             [](const RowOf<Thing>& row) { return ToCell(row.process + 1); }}};
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

template <typename Thing, auto kMember>
std::vector<RowOf<Thing>> Collect(TraceRun* run) {
  std::vector<RowOf<Thing>> rows;
  for (size_t p = 0; p < run->processes(); ++p) {
    const ProcessTrace& trace = run->process(p);
    const std::vector<Thing>& things = trace.*kMember;
    for (size_t i = 0; i < things.size(); ++i) rows.push_back({p, i, &trace, &things[i]});
  }
  return rows;
}

struct ProcessRow {
  size_t process = 0;
  const ProcessTrace* trace = nullptr;
  std::string command;
};

std::vector<ProcessRow> CollectProcesses(TraceRun* run) {
  std::vector<ProcessRow> rows;
  for (size_t p = 0; p < run->processes(); ++p) {
    ProcessRow& row = rows.emplace_back();
    row.process = p;
    row.trace = &run->process(p);
    for (const std::string& word : row.trace->command) {
      row.command += (row.command.empty() ? "" : " ") + word;
    }
  }
  return rows;
}

TraceTable ProcessTable() {
  using Row = ProcessRow;
  return MakeShortTable<Row, CollectProcesses>(
      "process", "a process of the run",
      {
          {{"process", kInteger, ColumnRole::kProcess},
           [](const Row& row) { return ToCell(row.process + 1); }},
          {{"host", kText}, [](const Row& row) { return ToCell(row.trace->identity.host); }},
          {{"pid"}, [](const Row& row) { return ToCell(row.trace->identity.pid); }},
          {{"parent_pid"}, [](const Row& row) { return ToCell(row.trace->parent_pid); }},
          {{"name", kText}, [](const Row& row) { return ToCell(row.trace->name); }},
          {{"command", kText}, [](const Row& row) { return ToCell(row.command); }},
          {{"start_realtime_ns"},
           [](const Row& row) { return ToCell(row.trace->identity.start_realtime_ns); }},
          {{"started_ns"}, [](const Row& row) { return ToCell(row.trace->BegunNs()); }},
          {{"begin_ns"}, [](const Row& row) { return ToCell(row.trace->span_begin_ns); }},
          {{"end_ns"}, [](const Row& row) { return ToCell(row.trace->span_end_ns); }},
          {{"span_end", kText},
           [](const Row& row) { return ToCell(SpanEndName(row.trace->span_end)); }},
          {{"end_how", kText}, [](const Row& row) { return TextOrNull(row.trace->end_how); }},
          {{"device_kind", kText}, [](const Row& row) { return ToCell(row.trace->device_kind); }},
          {{"python"}, [](const Row& row) { return ToCell(row.trace->python); }},
          {{"version", kText}, [](const Row& row) { return TextOrNull(row.trace->version); }},
      });
}

struct MachineRow {
  std::string host;
  std::string boot_id;
  std::string cpu_model;
  int64_t processes = 0;
  int64_t ranks = 0;
  std::set<std::string> devices;  // by uuid
  int64_t started_realtime_ns = std::numeric_limits<int64_t>::max();
};

std::vector<MachineRow> CollectMachines(TraceRun* run) {
  std::map<std::string, MachineRow> by_host;
  for (size_t p = 0; p < run->processes(); ++p) {
    const ProcessTrace& trace = run->process(p);
    MachineRow& row = by_host[trace.identity.host];
    row.host = trace.identity.host;
    if (row.boot_id.empty()) row.boot_id = trace.boot_id;
    if (row.cpu_model.empty()) row.cpu_model = trace.cpu_model;
    ++row.processes;
    if (trace.job) ++row.ranks;
    for (const Device& device : trace.devices) {
      if (!device.uuid.empty()) row.devices.insert(device.uuid);
    }
    row.started_realtime_ns = std::min(row.started_realtime_ns, trace.identity.start_realtime_ns);
  }
  std::vector<MachineRow> rows;
  for (auto& [host, row] : by_host) rows.push_back(std::move(row));
  return rows;
}

TraceTable MachineTable() {
  using Row = MachineRow;
  return MakeShortTable<Row, CollectMachines>(
      "machine", "a machine of the run",
      {
          {{"host", kText}, [](const Row& row) { return ToCell(row.host); }},
          {{"boot_id", kText}, [](const Row& row) { return TextOrNull(row.boot_id); }},
          {{"cpu_model", kText}, [](const Row& row) { return TextOrNull(row.cpu_model); }},
          {{"processes"}, [](const Row& row) { return ToCell(row.processes); }},
          {{"ranks"}, [](const Row& row) { return ToCell(row.ranks); }},
          {{"devices"},
           [](const Row& row) { return ToCell(static_cast<int64_t>(row.devices.size())); }},
          {{"started_realtime_ns"}, [](const Row& row) { return ToCell(row.started_realtime_ns); }},
      });
}

TraceTable ThreadTable() {
  using Row = RowOf<ThreadTrace>;
  return MakeShortTable<Row, Collect<ThreadTrace, &ProcessTrace::threads>>(
      "thread", "a thread of a process",
      WithProcess<ThreadTrace>({
          {{"thread", kInteger, ColumnRole::kThread},
           [](const Row& row) { return ToCell(row.index + 1); }},
          {{"tid"}, [](const Row& row) { return ToCell(row.thing->tid); }},
          {{"name", kText}, [](const Row& row) { return TextOrNull(row.thing->name); }},
          {{"is_main"},
           [](const Row& row) { return ToCell(row.thing->tid == row.trace->main_tid); }},
      }));
}

std::vector<RowOf<Device>> CollectDevices(TraceRun* run) {
  std::vector<RowOf<Device>> rows = Collect<Device, &ProcessTrace::devices>(run);
  std::erase_if(rows, [](const RowOf<Device>& row) { return row.index == 0; });  // "none"
  return rows;
}

TraceTable DeviceTable() {
  using Row = RowOf<Device>;
  return MakeShortTable<Row, CollectDevices>(
      "device", "a device as a process sees it",
      WithProcess<Device>({
          {{"device"}, [](const Row& row) { return ToCell(row.thing->info.index); }},
          {{"uuid", kText}, [](const Row& row) { return TextOrNull(row.thing->uuid); }},
          {{"name", kText}, [](const Row& row) { return ToCell(row.thing->name); }},
          {{"multiprocessors"},
           [](const Row& row) { return ToCell(row.thing->info.multiprocessors); }},
          {{"memory_bytes"}, [](const Row& row) { return ToCell(row.thing->info.memory_bytes); }},
          {{"simulated"}, [](const Row& row) { return ToCell(row.thing->info.simulated); }},
      }));
}

TraceTable ContextTable() {
  using Row = RowOf<ContextInfo>;
  return MakeShortTable<Row, Collect<ContextInfo, &ProcessTrace::contexts>>(
      "context", "a context of a device; a green one has a part of its multiprocessors",
      WithProcess<ContextInfo>({
          {{"device"}, [](const Row& row) { return ToCell(row.thing->device); }},
          {{"context"}, [](const Row& row) { return ToCell(row.thing->context); }},
          {{"parent"},
           [](const Row& row) {
             return row.thing->parent == 0 ? Cell() : ToCell(row.thing->parent);
           }},
          {{"multiprocessors"}, [](const Row& row) { return ToCell(row.thing->multiprocessors); }},
          {{"is_green"}, [](const Row& row) { return ToCell(row.thing->is_green); }},
      }));
}

Cell CaptureCell(const RowOf<GraphNode>& row) {
  const LabelId operation = row.thing->info.operation;
  return operation == LabelId{} ? Cell() : ToCell(row.trace->LabelOf(operation).text);
}

Cell ClassCell(const RowOf<GraphNode>& row) {
  const std::optional<WorkClass> work_class = ClassOf(*row.thing);
  return work_class ? ToCell(WorkClassName(*work_class)) : Cell();
}

TraceTable GraphNodeTable() {
  using Row = RowOf<GraphNode>;
  return MakeShortTable<Row, Collect<GraphNode, &ProcessTrace::graph_nodes>>(
      "graph_node", "a node of an executable CUDA graph",
      WithProcess<GraphNode>({
          {{"graph"}, [](const Row& row) { return ToCell(row.thing->info.graph); }},
          {{"graph_node"}, [](const Row& row) { return ToCell(row.thing->info.node); }},
          {{"type"}, [](const Row& row) { return ToCell(row.thing->info.type); }},
          {{"class", kText}, ClassCell},
          {{"name", kText}, [](const Row& row) { return ToCell(row.thing->name); }},
          {{"captured_in", kText}, CaptureCell},
      }));
}

// What NVML did not say.
Cell Known(int64_t value) { return value == kNotKnown ? Cell() : Cell(value); }

TraceTable UtilizationTable() {
  using Row = RowOf<DeviceSample>;
  return MakeShortTable<Row, Collect<DeviceSample, &ProcessTrace::utilization>>(
      "utilization", "what NVML said of a device at an instant",
      WithProcess<DeviceSample>({
          {{"time_ns"}, [](const Row& row) { return ToCell(row.thing->sample.time_ns); }},
          {{"uuid", kText}, [](const Row& row) { return ToCell(row.thing->uuid); }},
          {{"gpu_percent"}, [](const Row& row) { return Known(row.thing->sample.gpu_percent); }},
          {{"memory_percent"},
           [](const Row& row) { return Known(row.thing->sample.memory_percent); }},
          {{"memory_used_bytes"},
           [](const Row& row) { return Known(row.thing->sample.memory_used_bytes); }},
          {{"power_mw"}, [](const Row& row) { return Known(row.thing->sample.power_mw); }},
          {{"sm_mhz"}, [](const Row& row) { return Known(row.thing->sample.sm_mhz); }},
          {{"memory_mhz"}, [](const Row& row) { return Known(row.thing->sample.memory_mhz); }},
      }));
}

TraceTable DeviceClientTable() {
  using Row = RowOf<DeviceClientSeen>;
  return MakeShortTable<Row, Collect<DeviceClientSeen, &ProcessTrace::device_clients>>(
      "device_client", "processes that NVML listed on a device, each as each process saw it",
      WithProcess<DeviceClientSeen>({
          {{"uuid", kText}, [](const Row& row) { return ToCell(row.thing->uuid); }},
          {{"client_pid"},
           [](const Row& row) { return ToCell(static_cast<int64_t>(row.thing->client.pid)); }},
          {{"client_name", kText}, [](const Row& row) { return ToCell(row.thing->name); }},
          {{"through_mps"}, [](const Row& row) { return ToCell(row.thing->client.through_mps); }},
          {{"first_ns"}, [](const Row& row) { return ToCell(row.thing->client.first_ns); }},
          {{"last_ns"},
           [](const Row& row) {
             const int64_t last_ns = row.thing->client.last_ns;
             return last_ns == INT64_MAX ? Cell() : Cell(last_ns);
           }},
      }));
}

TraceTable ProcessTreeTable() {
  using Row = RowOf<ProcessTreeSample>;
  return MakeShortTable<Row, Collect<ProcessTreeSample, &ProcessTrace::process_tree>>(
      "process_tree", "what a process and all that it started had used at an instant",
      WithProcess<ProcessTreeSample>({
          {{"time_ns"}, [](const Row& row) { return ToCell(row.thing->time_ns); }},
          {{"processes"}, [](const Row& row) { return ToCell(row.thing->processes); }},
          {{"cpu_ns"}, [](const Row& row) { return ToCell(row.thing->cpu_ns); }},
          {{"resident_bytes"}, [](const Row& row) { return ToCell(row.thing->resident_bytes); }},
          {{"run_delay_ns"}, [](const Row& row) { return ToCell(row.thing->run_delay_ns); }},
      }));
}

Cell KnownPercent(double percent) { return percent < 0 ? Cell() : Cell(percent); }

template <CounterQuantity kQuantity>
Cell PercentOf(const RowOf<CounterSample>& row) {
  return KnownPercent(row.thing->percent[static_cast<size_t>(kQuantity)]);
}

TraceTable CounterSampleTable() {
  using Row = RowOf<CounterSample>;
  return MakeShortTable<Row, Collect<CounterSample, &ProcessTrace::counters>>(
      "counter_sample", "hardware counters of a device over a short interval, percent of the peak",
      WithProcess<CounterSample>({
          {{"device"}, [](const Row& row) { return ToCell(row.thing->device); }},
          {{"begin_ns"}, [](const Row& row) { return ToCell(row.thing->begin_ns); }},
          {{"end_ns"}, [](const Row& row) { return ToCell(row.thing->end_ns); }},
          {{"sm_active", kReal}, PercentOf<CounterQuantity::kSmActive>},
          {{"warps_active", kReal}, PercentOf<CounterQuantity::kWarpsActive>},
          {{"dram_throughput", kReal}, PercentOf<CounterQuantity::kDramThroughput>},
      }));
}

struct FrameRow {
  size_t process = 0;
  const ProcessTrace* trace = nullptr;
  FrameId id{};
  uint32_t depth = 0;  // how many callers it has
  const Frame& frame() const { return trace->FrameOf(id); }
};

// One after the other: a long run has many.
class FrameRows {
 public:
  FrameRows(TraceRun* run, const RowFilter& filter) : run_(*run), filter_(filter) {}

  const FrameRow* Next() {
    for (; row_.process < run_.processes(); ++row_.process, next_ = 0, depths_.clear()) {
      if (!filter_.TakesProcess(row_.process)) continue;
      row_.trace = &run_.process(row_.process);
      depths_.resize(row_.trace->frames.size());
      while (next_ < depths_.size()) {
        row_.id = static_cast<FrameId>(next_);
        uint32_t& depth = depths_[next_++];
        if (!row_.trace->HasFrame(row_.id)) continue;
        const FrameId caller = row_.frame().caller;  // comes before it
        row_.depth = depth = caller == FrameId{} ? 0 : depths_[Raw(caller)] + 1;
        return &row_;
      }
    }
    return nullptr;
  }

 private:
  TraceRun& run_;
  const RowFilter filter_;
  size_t next_ = 0;
  std::vector<uint32_t> depths_;  // of this process, by id
  FrameRow row_;
};

const Function& FunctionOf(const FrameRow& row) {
  return row.trace->FunctionOf(row.frame().function);
}

TraceTable FramesTable() {
  using Row = FrameRow;
  return MakeTable<Row, FrameRows>(
      "frames", "a function in a stack that was looked at, under its callers", true,
      {
          {{"process", kInteger, ColumnRole::kProcess},
           [](const Row& row) { return ToCell(row.process + 1); }},
          {{"id", kInteger, ColumnRole::kNone, true},
           [](const Row& row) { return ToCell(row.id); }},
          {{"caller"},
           [](const Row& row) {
             const FrameId caller = row.frame().caller;
             return caller == FrameId{} ? Cell() : ToCell(caller);
           }},
          {{"function", kText}, [](const Row& row) { return ToCell(FunctionOf(row).name); }},
          {{"file", kText}, [](const Row& row) { return TextOrNull(FunctionOf(row).file); }},
          {{"line"},
           [](const Row& row) {
             return row.frame().line == 0 ? Cell() : ToCell(row.frame().line);
           }},
          {{"depth"}, [](const Row& row) { return ToCell(row.depth); }},
      });
}

TraceTable UnknownTable() {
  using Row = RowOf<UnknownInterval>;
  return MakeShortTable<Row, Collect<UnknownInterval, &ProcessTrace::unknown>>(
      "unknown", "an interval in which device work could have run unrecorded",
      WithProcess<UnknownInterval>({
          {{"begin_ns"}, [](const Row& row) { return ToCell(row.thing->start_ns); }},
          {{"end_ns"},
           [](const Row& row) {
             return row.thing->end_ns == kOpenEnded ? Cell() : ToCell(row.thing->end_ns);
           }},
          {{"reason", kText}, [](const Row& row) { return ToCell(row.thing->reason); }},
      }));
}

TraceTable NoteTable() {
  using Row = RowOf<Note>;
  return MakeShortTable<Row, Collect<Note, &ProcessTrace::notes>>(
      "note", "a message of the recorder",
      WithProcess<Note>({
          {{"time_ns"}, [](const Row& row) { return ToCell(row.thing->time_ns); }},
          {{"text", kText}, [](const Row& row) { return ToCell(row.thing->text); }},
      }));
}

}  // namespace

std::vector<TraceTable> ProcessTables() {
  return {ProcessTable(),     MachineTable(),       ThreadTable(),       DeviceTable(),
          ContextTable(),     GraphNodeTable(),     DeviceClientTable(), UtilizationTable(),
          ProcessTreeTable(), CounterSampleTable(), FramesTable(),       UnknownTable(),
          NoteTable()};
}

}  // namespace gpubound
