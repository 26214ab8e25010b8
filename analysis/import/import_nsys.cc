// SPDX-License-Identifier: Apache-2.0
//
// Walks the tables of an export, one after the other. What a column means is in NVIDIA's "SQLite
// Schema Reference"; times are nanoseconds since the session began. One export, one thread.
#include "analysis/import/import_nsys.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/import_launches.h"
#include "analysis/import/import_torch_names.h"
#include "analysis/import/nsys_export.h"
#include "analysis/import/nsys_table.h"
#include "analysis/import/nsys_target.h"
#include "analysis/import/nsys_work.h"
#include "proto/schema.h"
#include "proto/sync_calls.h"

namespace gpubound {
namespace {

// ENUM_NSYS_EVENT_TYPE.
constexpr int64_t kPushPopRange = 59;
constexpr int64_t kStartEndRange = 60;
constexpr int64_t kDomainCreate = 75;

constexpr const char* kTables[] = {
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_DRIVER",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "NVTX_EVENTS",
};

constexpr ForeignLaunches::Words kNsysWords = {
    "the export",
    {"", "table CUPTI_ACTIVITY_KIND_KERNEL", "table CUPTI_ACTIVITY_KIND_MEMCPY",
     "table CUPTI_ACTIVITY_KIND_MEMSET",
     "table CUPTI_ACTIVITY_KIND_GRAPH_TRACE, and no work of nodes in other tables"},
    "Profile with --trace cuda,nvtx, and export the whole report."};

class NsysImport {
 public:
  NsysImport(std::string path, Database database, ForeignTrace* trace)
      : from_(std::move(path), std::move(database), trace), trace_(*trace) {}

  Status Read() {
    const Status known = CheckTables();
    if (!known.ok()) return known;
    const Status strings = from_.ReadStrings();
    if (!strings.ok()) return strings;
    const Status target = ReadNsysTarget(&from_, &gpu_of_);
    if (!target.ok()) return target;
    for (const auto& step : {&NsysImport::ReadCalls, &NsysImport::ReadRanges, &NsysImport::ReadWork,
                             &NsysImport::ReadSyncs, &NsysImport::ReadThreadNames}) {
      const Status done = (this->*step)();
      if (!done.ok()) return done;
    }
    launches_.NoteMissing(&trace_);
    from_.NoteLostNames();
    return CloseOpen();
  }

 private:
  Status CheckTables() {
    Database& database = from_.database();
    if (database.Scalar("PRAGMA application_id", 0) == kTraceApplicationId) {
      return Error{"importing the trace", from_.path(), "a segment of a gpubound run",
                   "a trace of another tool", "It needs no import: gpubound report DIRECTORY."};
    }
    Query tables_there = database.Prepare("SELECT name FROM sqlite_schema");
    while (tables_there.Step()) {
      if (const ToolHint* hint = HintOfTable(tables_there.Text(0))) {
        return Error{"importing the trace", from_.path(), hint->found,
                     "an export of Nsight Systems", hint->remedy};
      }
    }
    const bool any =
        std::any_of(std::begin(kTables), std::end(kTables),
                    [&database](const char* t) { return NsysTable::Exists(&database, t); });
    if (any) return Ok{};
    const int64_t tables = database.Scalar("SELECT count(*) FROM sqlite_schema", -1);
    return Error{"importing the trace", from_.path(),
                 tables < 0 ? "a damaged database (" + database.LastError() + ")"
                            : "an SQLite database without CUDA or NVTX tables",
                 "an export of Nsight Systems",
                 "Export the report with `nsys export --type sqlite`; profile with --trace "
                 "cuda,nvtx."};
  }

  Status ReadCalls() {
    static constexpr std::initializer_list<const char*> kColumns = {
        "start", "end", "globalTid", "correlationId", "nameId", "returnValue"};
    // What calls launched is there to see, if anything is.
    const bool hides_work = !HasNsysWork(&from_.database());
    for (const char* name : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}) {
      const Status read =
          from_.ForEachInterval(name, 3, hides_work, kColumns,
                                [this](const NsysTable& table, int64_t start_ns, int64_t end_ns) {
                                  return AddCall(table, start_ns, end_ns);
                                });
      if (!read.ok()) return read;
    }
    return Ok{};
  }

  Status AddCall(const NsysTable& table, int64_t start_ns, int64_t end_ns) {
    enum : int { kCaller = 2, kCorrelation, kFunction, kResult };
    const std::optional<int64_t> thread = table.Int(kCaller);
    if (!thread) {
      ++trace_.malformed;
      return Ok{};
    }
    std::string_view name = from_.StringOf(table.Int(kFunction));
    if (name.empty()) {
      if (!table.Has(kFunction) || from_.Dangles(table.Int(kFunction))) from_.LoseName(table);
      name = kUnnamed;
    }
    CpuInterval call;
    call.kind = CpuKind::kCall;
    call.start_ns = start_ns;
    call.end_ns = end_ns;
    call.thread = from_.ThreadOf(*thread);
    call.correlation = U32OrZero(table.Int(kCorrelation));
    call.label = trace_.names.Label(LabelKind::kApi, Layer::kUnset, "", StripApiVersion(name));
    call.result = static_cast<int32_t>(table.Int(kResult).value_or(0));
    launches_.AddCall(trace_.names.threads()[call.thread].process, name, call.result);
    return trace_.Add(call);
  }

  enum RangeColumn : int { kStart, kEnd, kThread, kText, kTextId, kType, kDomain };

  // Empty where it has none. A name that cannot be known is counted, and stated in place of it.
  std::string RangeText(const NsysTable& table) {
    std::string text = table.Text(kText);
    if (!text.empty()) return text;
    text = from_.StringOf(table.Int(kTextId));
    if (!text.empty()) return text;
    if (table.Has(kText) && !from_.Dangles(table.Int(kTextId))) return "";
    from_.LoseName(table);
    return kUnnamed;
  }

  Status ReadRanges() {
    static constexpr std::initializer_list<const char*> kColumns = {
        "start", "end", "globalTid", "text", "textId", "eventType", "domainId"};
    NsysTable domains(&from_.database(), "NVTX_EVENTS", kColumns);
    if (!from_.CanRead(domains, 3, /*hides_work=*/false)) return Ok{};
    std::map<std::pair<int64_t, int64_t>, std::string> domain_names;  // (pid, id)
    while (domains.Step()) {
      if (domains.Int(kType) != kDomainCreate) continue;
      domain_names[{NsysPid(domains.Int(kThread).value_or(0)), domains.Int(kDomain).value_or(0)}] =
          RangeText(domains);
    }
    NsysTable table(&from_.database(), "NVTX_EVENTS", kColumns);
    while (table.Step()) {
      const int64_t type = table.Int(kType).value_or(kPushPopRange);
      if (type != kPushPopRange && type != kStartEndRange) continue;
      const std::optional<int64_t> start = table.Int(kStart);
      const std::optional<int64_t> thread = table.Int(kThread);
      if (!start || !thread) {
        ++trace_.malformed;
        continue;
      }
      const std::optional<int64_t> end = table.Int(kEnd);
      if (!trace_.Takes(*start, end.value_or(*start))) continue;
      const auto domain = domain_names.find({NsysPid(*thread), table.Int(kDomain).value_or(0)});
      // Each call of emit_nvtx() has a name of its own.
      const std::string text(WithoutCallIds(RangeText(table)));
      CpuInterval range;
      range.kind = type == kPushPopRange ? CpuKind::kScope : CpuKind::kRange;
      range.start_ns = *start;
      range.thread = from_.ThreadOf(*thread);
      range.label =
          trace_.names.Label(LabelKind::kAnnotation, Layer::kUnset,
                             domain == domain_names.end() ? std::string() : domain->second,
                             text.empty() ? kUnnamed : text);
      if (!end) {
        open_.push_back(range);  // it was still open when the session ended
        continue;
      }
      range.end_ns = *end;
      const Status added = trace_.Add(range);
      if (!added.ok()) return added;
    }
    return from_.Checked(table);
  }

  Status ReadWork() { return ReadNsysWork(&from_, gpu_of_, &launches_); }

  Status ReadSyncs() {
    return from_.ForEachInterval("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 2, /*hides_work=*/false,
                                 {"start", "end", "globalPid", "correlationId", "contextId",
                                  "streamId", "syncType", "eventId"},
                                 [this](const NsysTable& table, int64_t start_ns, int64_t end_ns) {
                                   const std::optional<int64_t> global = table.Int(2);
                                   ForeignSync sync;
                                   sync.start_ns = start_ns;
                                   sync.end_ns = end_ns;
                                   if (global) sync.process = from_.ProcessOf(*global);
                                   sync.correlation = U32OrZero(table.Int(3));
                                   sync.context = U32OrZero(table.Int(4));
                                   sync.stream = U32OrZero(table.Int(5));
                                   sync.type = U32OrZero(table.Int(6));
                                   sync.event = U64Of(table.Int(7));
                                   return trace_.Add(sync);
                                 });
  }

  Status ReadThreadNames() {
    NsysTable table(&from_.database(), "ThreadNames", {"globalTid", "nameId"});
    while (table.HasFirst(2) && table.Step()) {
      const int64_t id = table.Int(0).value_or(0);
      trace_.names.NameThread(std::to_string(NsysPid(id)), std::to_string(NsysTid(id)),
                              from_.StringOf(table.Int(1)));
    }
    return from_.Checked(table);
  }

  // What never ended was open to the last.
  Status CloseOpen() {
    for (const CpuInterval& range : open_) trace_.SeeBegin(range.start_ns);
    trace_.DecideOnTimes();
    const int64_t last_ns = trace_.last_ns;
    for (CpuInterval& range : open_) {
      ++trace_.never_ended;
      range.end_ns = std::max(last_ns, range.start_ns);
      const Status added = trace_.Add(range);
      if (!added.ok()) return added;
    }
    return Ok{};
  }

  NsysExport from_;
  ForeignTrace& trace_;
  ForeignLaunches launches_{kNsysWords};
  GpuOfOrdinal gpu_of_;
  std::vector<CpuInterval> open_;
};

}  // namespace

Status ReadNsysExport(const std::string& path, ForeignTrace* trace) {
  Result<Database> database = Database::OpenReadOnly(path);
  if (!database.ok()) return database.error();
  trace->source = "Nsight Systems";
  trace->python = false;
  trace->begins_at_zero = true;
  trace->busiest_reports = false;
  return NsysImport(path, std::move(*database), trace).Read();
}

}  // namespace gpubound
