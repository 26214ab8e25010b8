// SPDX-License-Identifier: Apache-2.0
//
// Walks the tables of GPU work, one after the other. One call, one thread.
#include "analysis/import/nsys_work.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "proto/given_names.h"

namespace gpubound {
namespace {

constexpr char kKernels[] = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr char kCopies[] = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr char kSets[] = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr char kGraphs[] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";

class WorkTables {
 public:
  WorkTables(NsysExport* from, const GpuOfOrdinal& gpus, ForeignLaunches* launches)
      : from_(*from), trace_(from->trace()), gpus_(gpus), launches_(*launches) {}

  Status Read() {
    for (const auto& step : {&WorkTables::ReadKernels, &WorkTables::ReadCopies,
                             &WorkTables::ReadSets, &WorkTables::ReadGraphs}) {
      const Status done = (this->*step)();
      if (!done.ok()) return done;
    }
    return Ok{};
  }

 private:
  using MaybeNs = std::optional<int64_t>;

  // Of a table that cannot be read nothing more is missing than its rows.
  template <typename Each>
  Status ForEachPiece(const char* name, WorkKind kind, std::initializer_list<const char*> columns,
                      const Each& each) {
    const size_t gaps = trace_.gaps.size();
    const Status done = from_.ForEachStart(name, 2, /*hides_work=*/true, columns, each);
    if (trace_.gaps.size() > gaps) launches_.AddWork(kNoIndex, kind, /*in_graph=*/true);
    return done;
  }

  static constexpr int kFirstName = 7;  // of a kernel: columns, the best name first
  static constexpr int kLastName = 9;

  // What all tables of device work have in common; columns 0 to 6.
  ForeignWork WorkOf(const NsysTable& table, int64_t start_ns, MaybeNs end_ns) {
    ForeignWork work;
    work.start_ns = start_ns;
    work.end_ns = end_ns.value_or(start_ns);
    work.ended = end_ns.has_value();
    const std::optional<int64_t> global = table.Int(2);
    if (global) work.process = from_.ProcessOf(*global);
    work.correlation = U32OrZero(table.Int(3));
    const uint32_t device = DeviceOf(global, table.Int(4).value_or(0));
    work.stream =
        Raw(trace_.names.Stream(device, U32OrZero(table.Int(5)), U32OrZero(table.Int(6))));
    return work;
  }

  uint32_t DeviceOf(std::optional<int64_t> global, int64_t ordinal) const {
    const auto gpu = gpus_.find({global ? NsysPid(*global) : 0, ordinal});
    return gpu == gpus_.end() ? U32OrZero(ordinal) : gpu->second;
  }

  static bool MayBeNode(const NsysTable& table, int column) {
    return !table.Has(column) || table.Int(column).value_or(0) != 0;
  }

  std::string KernelName(const NsysTable& table) {
    bool says_it = false;  // some column
    bool dangles = false;
    for (int column = kFirstName; column <= kLastName; ++column) {
      const std::string& name = from_.StringOf(table.Int(column));
      if (!name.empty()) return name;
      says_it |= table.Has(column);
      dangles |= from_.Dangles(table.Int(column));
    }
    if (!says_it || dangles) from_.LoseName(table);
    return kUnnamedKernel;
  }

  Status ReadKernels() {
    return ForEachPiece(kKernels, WorkKind::kKernel,
                        {"start",
                         "end",
                         "globalPid",
                         "correlationId",
                         "deviceId",
                         "contextId",
                         "streamId",
                         "demangledName",
                         "shortName",
                         "mangledName",
                         "gridX",
                         "gridY",
                         "gridZ",
                         "blockX",
                         "blockY",
                         "blockZ",
                         "registersPerThread",
                         "staticSharedMemory",
                         "dynamicSharedMemory",
                         "graphId",
                         "graphNodeId"},
                        [this](const NsysTable& table, int64_t start_ns, MaybeNs end_ns) {
                          ForeignWork work = WorkOf(table, start_ns, end_ns);
                          WorkInfo info;
                          info.kind = WorkKind::kKernel;
                          for (int axis = 0; axis < 3; ++axis) {
                            info.grid[axis] = U32OrZero(table.Int(10 + axis));
                            info.block[axis] = U32OrZero(table.Int(13 + axis));
                          }
                          info.registers_per_thread = U32OrZero(table.Int(16));
                          info.static_shared_bytes = U32OrZero(table.Int(17));
                          info.dynamic_shared_bytes = U32OrZero(table.Int(18));
                          work.graph = U32OrZero(table.Int(19));
                          work.graph_node = U64Of(table.Int(20));
                          work.work = Raw(trace_.names.Work(info, KernelName(table)));
                          launches_.AddWork(work.process, info.kind, MayBeNode(table, 20));
                          return trace_.Add(work);
                        });
  }

  Status ReadCopies() {
    return ForEachPiece(kCopies, WorkKind::kMemcpy,
                        {"start", "end", "globalPid", "correlationId", "deviceId", "contextId",
                         "streamId", "copyKind", "bytes", "srcDeviceId", "srcContextId",
                         "dstDeviceId", "dstContextId", "graphNodeId"},
                        [this](const NsysTable& table, int64_t start_ns, MaybeNs end_ns) {
                          return AddCopy(table, WorkOf(table, start_ns, end_ns));
                        });
  }

  Status AddCopy(const NsysTable& table, ForeignWork work) {
    enum : int { kDevice = 4, kKind = 7, kBytes, kFrom, kFromContext, kTo, kToContext, kNode };
    WorkInfo info;
    info.kind = WorkKind::kMemcpy;
    const uint32_t kind = U32OrZero(table.Int(kKind));
    if (kind < std::size(kCopyNames)) info.copy_kind = static_cast<uint8_t>(kind);
    const std::string name(kCopyNames[info.copy_kind]);
    work.bytes = U64Of(table.Int(kBytes));
    launches_.AddWork(work.process, info.kind, MayBeNode(table, kNode));
    work.work = Raw(trace_.names.Work(info, name));
    const Status added = trace_.Add(work);
    const std::optional<int64_t> from = table.Int(kFrom);
    const std::optional<int64_t> to = table.Int(kTo);
    // Of a copy from or to the host one of the two devices is none.
    if (!added.ok() || !from || !to || *from == *to || name.find('H') != name.npos) return added;
    const bool source_runs_it = table.Int(kDevice) == from;
    return trace_.AddOtherEnd(work, info, name,
                              DeviceOf(table.Int(2), source_runs_it ? *to : *from),
                              U32OrZero(table.Int(source_runs_it ? kToContext : kFromContext)));
  }

  Status ReadSets() {
    return ForEachPiece(kSets, WorkKind::kMemset,
                        {"start", "end", "globalPid", "correlationId", "deviceId", "contextId",
                         "streamId", "bytes", "graphNodeId"},
                        [this](const NsysTable& table, int64_t start_ns, MaybeNs end_ns) {
                          ForeignWork work = WorkOf(table, start_ns, end_ns);
                          WorkInfo info;
                          info.kind = WorkKind::kMemset;
                          work.bytes = U64Of(table.Int(7));
                          launches_.AddWork(work.process, info.kind, MayBeNode(table, 8));
                          work.work = Raw(trace_.names.Work(info, "Memset"));
                          return trace_.Add(work);
                        });
  }

  Status ReadGraphs() {
    return ForEachPiece(kGraphs, WorkKind::kGraph,
                        {"start", "end", "globalPid", "correlationId", "deviceId", "contextId",
                         "streamId", "graphId"},
                        [this](const NsysTable& table, int64_t start_ns, MaybeNs end_ns) {
                          ForeignWork work = WorkOf(table, start_ns, end_ns);
                          WorkInfo info;
                          info.kind = WorkKind::kGraph;
                          work.graph = U32OrZero(table.Int(7));
                          launches_.AddWork(work.process, info.kind, /*in_graph=*/true);
                          work.work =
                              Raw(trace_.names.Work(info, "graph " + std::to_string(work.graph)));
                          return trace_.Add(work);
                        });
  }

  NsysExport& from_;
  ForeignTrace& trace_;
  const GpuOfOrdinal& gpus_;
  ForeignLaunches& launches_;
};

}  // namespace

Status ReadNsysWork(NsysExport* from, const GpuOfOrdinal& gpus, ForeignLaunches* launches) {
  return WorkTables(from, gpus, launches).Read();
}

bool HasNsysWork(Database* database) {
  const auto tables = {kKernels, kCopies, kSets, kGraphs};
  return std::any_of(tables.begin(), tables.end(), [database](const char* name) {
    return NsysTable(database, name, {}).HasRows(database);
  });
}

}  // namespace gpubound
