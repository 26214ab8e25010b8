// SPDX-License-Identifier: Apache-2.0
//
// Walks the tables of an export, one after the other. What a column means is in NVIDIA's "SQLite
// Schema Reference"; times are nanoseconds since the session began. One export, one thread.
#include "analysis/import_nsys.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/nsys_table.h"
#include "analysis/nsys_target.h"
#include "proto/schema.h"
#include "proto/sync_calls.h"

namespace gpubound {
namespace {

// ENUM_NSYS_EVENT_TYPE.
constexpr int64_t kPushPopRange = 59;
constexpr int64_t kStartEndRange = 60;
constexpr int64_t kDomainCreate = 75;

// CUpti_ActivityMemcpyKind, from 1.
constexpr const char* kCopyNames[] = {"HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                      "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};

constexpr const char* kTables[] = {
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_DRIVER",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "NVTX_EVENTS",
};

uint32_t U32Of(std::optional<int64_t> value) {
  return value && *value > 0 && *value <= UINT32_MAX ? static_cast<uint32_t>(*value) : 0;
}

uint64_t U64Of(std::optional<int64_t> value) { return static_cast<uint64_t>(value.value_or(0)); }

class NsysImport {
 public:
  NsysImport(std::string path, Database database, ForeignTrace* trace)
      : path_(std::move(path)), database_(std::move(database)), trace_(*trace) {}

  Status Read() {
    const Status known = CheckTables();
    if (!known.ok()) return known;
    for (const auto& step :
         {&NsysImport::ReadStrings, &NsysImport::ReadTarget, &NsysImport::ReadCalls,
          &NsysImport::ReadRanges, &NsysImport::ReadKernels, &NsysImport::ReadCopies,
          &NsysImport::ReadSets, &NsysImport::ReadGraphs, &NsysImport::ReadSyncs,
          &NsysImport::ReadThreadNames}) {
      const Status done = (this->*step)();
      if (!done.ok()) return done;
    }
    return CloseOpen();
  }

 private:
  Status CheckTables() {
    if (database_.Scalar("PRAGMA application_id", 0) == kTraceApplicationId) {
      return Error{"importing the trace", path_, "a segment of a gpubound run",
                   "a trace of another tool", "It needs no import: gpubound report DIRECTORY."};
    }
    const bool any = std::any_of(std::begin(kTables), std::end(kTables), [this](const char* t) {
      return NsysTable::Exists(&database_, t);
    });
    if (any) return Ok{};
    const int64_t tables = database_.Scalar("SELECT count(*) FROM sqlite_schema", -1);
    return Error{"importing the trace", path_,
                 tables < 0 ? "a damaged database (" + database_.LastError() + ")"
                            : "an SQLite database without CUDA or NVTX tables",
                 "an export of Nsight Systems",
                 "Export the report with `nsys export --type sqlite`; profile with --trace "
                 "cuda,nvtx."};
  }

  Status Checked(const NsysTable& table, const std::string& name) const {
    if (!table.failed()) return Ok{};
    return Error{"importing the trace", path_,
                 "table " + name + " that cannot be read (" + database_.LastError() + ")",
                 "a complete export of Nsight Systems", "Export the report again."};
  }

  // Calls |each|(table) for each row of |name| that has a start and an end.
  template <typename Each>
  Status ForEachInterval(const std::string& name, std::initializer_list<const char*> columns,
                         const Each& each) {
    NsysTable table(&database_, name, columns);
    if (!table.HasFirst(2)) return Ok{};
    while (table.Step()) {
      const std::optional<int64_t> start = table.Int(0);
      const std::optional<int64_t> end = table.Int(1);
      if (!start || !end) {
        ++trace_.malformed;
        continue;
      }
      if (!trace_.Takes(*start, *end)) continue;
      const Status added = each(table, *start, *end);
      if (!added.ok()) return added;
    }
    return Checked(table, name);
  }

  Status ReadStrings() {
    NsysTable table(&database_, "StringIds", {"id", "value"});
    if (!table.HasFirst(2)) return Ok{};
    while (table.Step()) strings_[table.Int(0).value_or(0)] = table.Text(1);
    return Checked(table, "StringIds");
  }

  const std::string& StringOf(std::optional<int64_t> id) const {
    static const std::string none;
    const auto found = strings_.find(id.value_or(-1));
    return found == strings_.end() ? none : found->second;
  }

  Status ReadTarget() {
    ReadNsysTarget(&database_, &trace_, &gpu_of_);
    return Ok{};
  }

  uint32_t ProcessOf(int64_t global) {
    const uint32_t process = trace_.names.Process(std::to_string(NsysPid(global)));
    trace_.names.processes()[process].only_python = false;
    return process;
  }

  uint32_t ThreadOf(std::optional<int64_t> global) {
    const int64_t id = global.value_or(0);
    const auto [entry, added] = thread_of_.try_emplace(id, kNoIndex);
    if (added) entry->second = trace_.names.Thread(ProcessOf(id), std::to_string(NsysTid(id)));
    return entry->second;
  }

  Status ReadCalls() {
    for (const char* name : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}) {
      const Status read = ForEachInterval(
          name, {"start", "end", "globalTid", "correlationId", "nameId", "returnValue"},
          [this](const NsysTable& table, int64_t start_ns, int64_t end_ns) {
            CpuInterval call;
            call.kind = CpuKind::kCall;
            call.start_ns = start_ns;
            call.end_ns = end_ns;
            call.thread = ThreadOf(table.Int(2));
            call.correlation = U32Of(table.Int(3));
            call.label = trace_.names.Label(LabelKind::kApi, Layer::kUnset, "",
                                            StripApiVersion(StringOf(table.Int(4))));
            call.result = static_cast<int32_t>(table.Int(5).value_or(0));
            return trace_.Add(call);
          });
      if (!read.ok()) return read;
    }
    return Ok{};
  }

  std::string RangeText(const NsysTable& table, int text, int text_id) const {
    const std::string own = table.Text(text);
    return own.empty() ? StringOf(table.Int(text_id)) : own;
  }

  Status ReadRanges() {
    static constexpr std::initializer_list<const char*> kColumns = {
        "start", "end", "text", "textId", "globalTid", "eventType", "domainId"};
    enum : int { kStart, kEnd, kText, kTextId, kThread, kType, kDomain };
    NsysTable domains(&database_, "NVTX_EVENTS", kColumns);
    std::map<std::pair<int64_t, int64_t>, std::string> domain_names;  // (pid, id)
    while (domains.HasFirst(2) && domains.Step()) {
      if (domains.Int(kType) != kDomainCreate) continue;
      domain_names[{NsysPid(domains.Int(kThread).value_or(0)), domains.Int(kDomain).value_or(0)}] =
          RangeText(domains, kText, kTextId);
    }
    NsysTable table(&database_, "NVTX_EVENTS", kColumns);
    while (table.HasFirst(2) && table.Step()) {
      const int64_t type = table.Int(kType).value_or(kPushPopRange);
      if (type != kPushPopRange && type != kStartEndRange) continue;
      const std::optional<int64_t> start = table.Int(kStart);
      if (!start) {
        ++trace_.malformed;
        continue;
      }
      const std::optional<int64_t> end = table.Int(kEnd);
      const bool ends = end && *end >= *start;
      if (!trace_.Takes(*start, ends ? *end : *start)) continue;
      const auto domain = domain_names.find(
          {NsysPid(table.Int(kThread).value_or(0)), table.Int(kDomain).value_or(0)});
      CpuInterval range;
      range.kind = type == kPushPopRange ? CpuKind::kScope : CpuKind::kRange;
      range.start_ns = *start;
      range.thread = ThreadOf(table.Int(kThread));
      range.label =
          trace_.names.Label(LabelKind::kAnnotation, Layer::kUnset,
                             domain == domain_names.end() ? std::string() : domain->second,
                             RangeText(table, kText, kTextId));
      if (!ends) {
        open_.push_back(range);  // it was still open when the session ended
        continue;
      }
      range.end_ns = *end;
      const Status added = trace_.Add(range);
      if (!added.ok()) return added;
    }
    return Checked(table, "NVTX_EVENTS");
  }

  // What all tables of device work have in common; columns 0 to 6.
  ForeignWork WorkOf(const NsysTable& table, int64_t start_ns, int64_t end_ns) {
    ForeignWork work;
    work.start_ns = start_ns;
    work.end_ns = end_ns;
    const std::optional<int64_t> global = table.Int(2);
    if (global) work.process = ProcessOf(*global);
    work.correlation = U32Of(table.Int(3));
    const uint32_t device = DeviceOf(global, table.Int(4).value_or(0));
    work.stream = Raw(trace_.names.Stream(device, U32Of(table.Int(5)), U32Of(table.Int(6))));
    return work;
  }

  uint32_t DeviceOf(std::optional<int64_t> global, int64_t ordinal) const {
    const auto gpu = gpu_of_.find({global ? NsysPid(*global) : 0, ordinal});
    return gpu == gpu_of_.end() ? U32Of(ordinal) : gpu->second;
  }

  Status ReadKernels() {
    return ForEachInterval("CUPTI_ACTIVITY_KIND_KERNEL",
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
                           [this](const NsysTable& table, int64_t start_ns, int64_t end_ns) {
                             ForeignWork work = WorkOf(table, start_ns, end_ns);
                             WorkInfo info;
                             info.kind = WorkKind::kKernel;
                             for (int axis = 0; axis < 3; ++axis) {
                               info.grid[axis] = U32Of(table.Int(10 + axis));
                               info.block[axis] = U32Of(table.Int(13 + axis));
                             }
                             info.registers_per_thread = U32Of(table.Int(16));
                             info.static_shared_bytes = U32Of(table.Int(17));
                             info.dynamic_shared_bytes = U32Of(table.Int(18));
                             work.graph = U32Of(table.Int(19));
                             work.graph_node = U64Of(table.Int(20));
                             const std::string* name = &StringOf(table.Int(7));
                             if (name->empty()) name = &StringOf(table.Int(8));
                             if (name->empty()) name = &StringOf(table.Int(9));
                             work.work = Raw(trace_.names.Work(info, *name));
                             return trace_.Add(work);
                           });
  }

  Status ReadCopies() {
    return ForEachInterval(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        {"start", "end", "globalPid", "correlationId", "deviceId", "contextId", "streamId",
         "copyKind", "bytes", "srcDeviceId", "srcContextId", "dstDeviceId", "dstContextId"},
        [this](const NsysTable& table, int64_t start_ns, int64_t end_ns) {
          return AddCopy(table, WorkOf(table, start_ns, end_ns));
        });
  }

  Status AddCopy(const NsysTable& table, ForeignWork work) {
    enum : int { kDevice = 4, kKind = 7, kBytes, kFrom, kFromContext, kTo, kToContext };
    WorkInfo info;
    info.kind = WorkKind::kMemcpy;
    std::string name = "Memcpy";
    const uint32_t kind = U32Of(table.Int(kKind));
    if (kind >= 1 && kind <= std::size(kCopyNames)) {
      info.copy_kind = static_cast<uint8_t>(kind);
      name += std::string(" ") + kCopyNames[kind - 1];
    }
    work.bytes = U64Of(table.Int(kBytes));
    work.work = Raw(trace_.names.Work(info, name));
    const Status added = trace_.Add(work);
    const std::optional<int64_t> from = table.Int(kFrom);
    const std::optional<int64_t> to = table.Int(kTo);
    // Of a copy from or to the host one of the two devices is none.
    if (!added.ok() || !from || !to || *from == *to || name.find('H') != name.npos) return added;
    const bool source_runs_it = table.Int(kDevice) == from;
    return trace_.AddOtherEnd(work, info, name,
                              DeviceOf(table.Int(2), source_runs_it ? *to : *from),
                              U32Of(table.Int(source_runs_it ? kToContext : kFromContext)));
  }

  Status ReadSets() {
    return ForEachInterval("CUPTI_ACTIVITY_KIND_MEMSET",
                           {"start", "end", "globalPid", "correlationId", "deviceId", "contextId",
                            "streamId", "bytes"},
                           [this](const NsysTable& table, int64_t start_ns, int64_t end_ns) {
                             ForeignWork work = WorkOf(table, start_ns, end_ns);
                             WorkInfo info;
                             info.kind = WorkKind::kMemset;
                             work.bytes = U64Of(table.Int(7));
                             work.work = Raw(trace_.names.Work(info, "Memset"));
                             return trace_.Add(work);
                           });
  }

  Status ReadGraphs() {
    return ForEachInterval(
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        {"start", "end", "globalPid", "correlationId", "deviceId", "contextId", "streamId",
         "graphId"},
        [this](const NsysTable& table, int64_t start_ns, int64_t end_ns) {
          ForeignWork work = WorkOf(table, start_ns, end_ns);
          WorkInfo info;
          info.kind = WorkKind::kGraph;
          work.graph = U32Of(table.Int(7));
          work.work = Raw(trace_.names.Work(info, "graph " + std::to_string(work.graph)));
          return trace_.Add(work);
        });
  }

  Status ReadSyncs() {
    return ForEachInterval("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                           {"start", "end", "globalPid", "correlationId", "contextId", "streamId",
                            "syncType", "eventId"},
                           [this](const NsysTable& table, int64_t start_ns, int64_t end_ns) {
                             const std::optional<int64_t> global = table.Int(2);
                             ForeignSync sync;
                             sync.start_ns = start_ns;
                             sync.end_ns = end_ns;
                             if (global) sync.process = ProcessOf(*global);
                             sync.correlation = U32Of(table.Int(3));
                             sync.context = U32Of(table.Int(4));
                             sync.stream = U32Of(table.Int(5));
                             sync.type = U32Of(table.Int(6));
                             sync.event = U64Of(table.Int(7));
                             return trace_.Add(sync);
                           });
  }

  Status ReadThreadNames() {
    NsysTable table(&database_, "ThreadNames", {"globalTid", "nameId"});
    while (table.HasFirst(2) && table.Step()) {
      const int64_t id = table.Int(0).value_or(0);
      trace_.names.NameThread(std::to_string(NsysPid(id)), std::to_string(NsysTid(id)),
                              StringOf(table.Int(1)));
    }
    return Ok{};
  }

  // What never ended was open to the last.
  Status CloseOpen() {
    const int64_t last_ns = trace_.last_ns;
    for (CpuInterval& range : open_) {
      ++trace_.never_ended;
      range.end_ns = std::max(last_ns, range.start_ns);
      const Status added = trace_.Add(range);
      if (!added.ok()) return added;
    }
    return Ok{};
  }

  const std::string path_;
  Database database_;
  ForeignTrace& trace_;
  std::unordered_map<int64_t, std::string> strings_;
  std::unordered_map<int64_t, uint32_t> thread_of_;  // by global id
  GpuOfOrdinal gpu_of_;
  std::vector<CpuInterval> open_;
};

}  // namespace

Status ReadNsysExport(const std::string& path, ForeignTrace* trace) {
  Result<Database> database = Database::OpenReadOnly(path);
  if (!database.ok()) return database.error();
  trace->source = "Nsight Systems";
  trace->python = false;
  trace->busiest_reports = false;
  return NsysImport(path, std::move(*database), trace).Read();
}

}  // namespace gpubound
