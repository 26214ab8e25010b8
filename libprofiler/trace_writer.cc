// SPDX-License-Identifier: Apache-2.0
//
// Writes rows and segments.
#include "libprofiler/trace_writer.h"

#include <unistd.h>

#include <exception>
#include <utility>

#include "libprofiler/env_vars.h"
#include "libprofiler/log.h"
#include "libprofiler/settings.h"
#include "proto/schema.h"

namespace gpubound {
namespace {

// Row of table `unknown` that stands for the time since the last delivery: a later one replaces it,
// a process that closes well removes it. Ids of DeviceTables begin at 1.
constexpr int64_t kUndeliveredRow = 0;

const char* DeviceKindName(DeviceTables::Kind kind) {
  switch (kind) {
    case DeviceTables::Kind::kReal:
      return "real";
    case DeviceTables::Kind::kSimulated:
      return "simulated";
    case DeviceTables::Kind::kNone:
      break;
  }
  return "none";
}

}  // namespace

TraceWriter::TraceWriter(const RunDirectory& directory, const ProcessStart& start,
                         bool ticks_are_tsc, uint64_t segment_bytes, const Tables& tables,
                         const StepWindow* window, EmptySegment empty)
    : directory_(directory),
      start_(start),
      ticks_are_tsc_(ticks_are_tsc),
      segment_bytes_(segment_bytes),
      tables_(tables),
      window_(window),
      holds_back_(window != nullptr && window->pending()),
      empty_segment_(std::move(empty)) {}

bool TraceWriter::Open() { return OpenSegment(); }

bool TraceWriter::OpenSegment() {
  if (!sink_.Open(directory_.DatabasePath(segment_), directory_.is_network(), &empty_segment_)) {
    return Stop();
  }
  labels_position_ = 0;
  threads_position_ = 0;
  device_positions_ = {};
  frame_positions_ = {};
  CollectRows();
  Begin();
  PutHeaderRows();
  PutLedger(/*all=*/true);
  return Commit();
}

bool TraceWriter::Stop() {
  if (failed_) return false;
  failed_ = true;
  tables_.ledger->Add(LedgerCounter::sink_write_errors, 1);
  LogOnce("cannot write %s: %s; recording stops here, the program goes on",
          directory_.DatabasePath(segment_).c_str(), sink_.error().c_str());
  sink_.Abandon();
  return false;
}

// Of the names here none is put together, since memory may be what is missing.
void TraceWriter::GiveUp(const char* reason) noexcept {
  if (failed_ && !sink_.is_open()) return;
  if (!failed_) tables_.ledger->Add(LedgerCounter::sink_write_errors, 1);
  failed_ = true;
  LogOnce("cannot write the trace: %s; recording stops here, the program goes on", reason);
  try {
    sink_.Abandon();
  } catch (const std::exception&) {  // the file stays open until the process ends
  }
}

void TraceWriter::PutHeaderRows() {
  const std::string command = CommandLine();
  sink_.PutMeta("host", HostName());
  if (const std::string boot_id = BootId(); !boot_id.empty()) sink_.PutMeta("boot_id", boot_id);
  if (const int64_t pids = PidNamespace(); pids != 0) sink_.PutMeta("pid_namespace", pids);
  if (const std::optional<RankOfJob> own = OwnRank()) {
    sink_.PutMeta("rank", own->rank);
    sink_.PutMeta("world_size", own->world_size);
    sink_.PutMeta("rank_variable", own->variable);
  }
  if (const std::string role = EnvValue("GPUBOUND_ROLE"); !role.empty())
    sink_.PutMeta("role", role);
  sink_.PutMeta("pid", static_cast<int64_t>(start_.pid));
  sink_.PutMeta("start_realtime_ns", start_.realtime_ns);
  sink_.PutMeta("start_monotonic_ns", start_.monotonic_ns);
  sink_.PutMeta("parent_pid", static_cast<int64_t>(getppid()));
  sink_.PutMeta("name", ProgramName(command));
  sink_.PutMeta("command", command);
  sink_.PutMeta("segment", static_cast<int64_t>(segment_));
  sink_.PutMeta("sealed", int64_t{0});
  sink_.PutMeta("version", GPUBOUND_VERSION);
  sink_.PutMeta("ticks", ticks_are_tsc_ ? "tsc" : "monotonic");
  sink_.PutMeta("device_kind", DeviceKindName(tables_.devices->device_kind()));
  sink_.PutMeta("main_tid", static_cast<int64_t>(start_.pid));  // Linux: the main thread's tid
  sink_.PutMeta("python", int64_t{HasPython() ? 1 : 0});
  sink_.PutMeta("python_version", PythonVersion());
  sink_.PutMeta("cpu_model", CpuModel());
  if (EnvSwitch("GPUBOUND_LAUNCHED")) sink_.PutMeta(kLaunchedFact, int64_t{1});
  for (const EnvVar& var : kEnvVars) sink_.PutConfig(var.name, EnvValue(var.name));
  PutWindow();
}

// That one was asked for, and from when to when it lasted as far as is known.
void TraceWriter::PutWindow() {
  if (window_ == nullptr) return;
  const StepRange& steps = window_->steps();
  const std::string end = steps.end == UINT64_MAX ? "" : std::to_string(steps.end);
  sink_.PutMeta("steps", std::to_string(steps.begin) + ":" + end);
  if (window_->begin_ns() != 0) sink_.PutMeta("steps_begin_ns", window_->BeginOn(*ticks_));
  if (window_->over()) sink_.PutMeta("steps_end_ns", window_->EndOn(*ticks_));
}

bool TraceWriter::CollectRows() {
  tables_.labels->CopyRowsSince(&labels_position_, &labels_);
  tables_.threads->CopyRowsSince(&threads_position_, &threads_);
  tables_.devices->CopyRowsSince(&device_positions_, &device_rows_);
  tables_.frames->CopyRowsSince(&frame_positions_, &frame_rows_);
  return !labels_.empty() || !threads_.empty() || !device_rows_.empty() || !frame_rows_.empty();
}

void TraceWriter::Begin() {
  sink_.Begin();
  for (const LabelRow& row : labels_) sink_.PutLabel(row);
  for (const ThreadRow& row : threads_) sink_.PutThread(row);
  for (const DeviceRow& row : device_rows_.devices) sink_.PutDevice(row);
  for (const ContextInfo& row : device_rows_.contexts) sink_.PutContext(row);
  for (const StreamRow& row : device_rows_.streams) sink_.PutStream(row);
  for (const WorkRow& row : device_rows_.works) sink_.PutWork(row);
  for (const GraphNodeRow& row : device_rows_.graph_nodes) sink_.PutGraphNode(row);
  for (const FunctionRow& row : frame_rows_.functions) sink_.PutFunction(row);
  for (const FrameRow& row : frame_rows_.frames) sink_.PutFrame(row);
  for (const DeviceClientRow& row : device_rows_.clients) sink_.PutDeviceClient(row);
  for (const UnknownRow& row : device_rows_.unknowns) sink_.PutUnknown(row);
  for (const NoteRow& row : device_rows_.notes) sink_.PutNote(row);
  for (const FactRow& row : device_rows_.facts) sink_.PutMeta(row.key, row.value);
  for (const UtilizationRow& row : device_rows_.utilization) sink_.PutUtilization(row);
  for (const ProcessTreeSample& row : device_rows_.process_trees) sink_.PutProcessTree(row);
  for (const CounterSample& row : device_rows_.counters) sink_.PutCounters(row);
  if (!device_rows_.devices.empty()) {
    sink_.PutMeta("device_kind", DeviceKindName(tables_.devices->device_kind()));
  }
  labels_.clear();
  threads_.clear();
  device_rows_.clear();
  frame_rows_.clear();
  if (!window_begins()) return;
  holds_back_ = false;
  PutWindow();
  held_.Release([this](const ChunkRow& row) { sink_.PutChunk(row); });
}

void TraceWriter::PutDeliveredUntil(int64_t until_ns) {
  delivered_until_ns_ = until_ns;
  sink_.PutUnknown({kUndeliveredRow, until_ns, INT64_MAX, kUndeliveredReason});
}

void TraceWriter::PutLedger(bool all) {
  for (int i = 0; i < kRecordedCounters; ++i) {
    const uint64_t value = tables_.ledger->Get(static_cast<LedgerCounter>(i));
    if (value == 0 || (!all && value == ledger_written_[i])) continue;
    sink_.PutLedger(kLedgerCounters[i].name, value);
    ledger_written_[i] = value;
  }
}

bool TraceWriter::Commit() {
  if (failed_) return false;
  PutLedger(/*all=*/false);
  sink_.PutMeta("transactions", static_cast<int64_t>(transactions_ + 1));
  if (!sink_.Commit()) return Stop();
  ++transactions_;
  return true;
}

void TraceWriter::Maintain(bool busy) {
  if (failed_) return;
  if (sink_.bytes() >= segment_bytes_) {
    sink_.Begin();
    PutSealed();
    if (delivered_until_ns_ != INT64_MIN) sink_.DropUnknown(kUndeliveredRow);
    if (!Commit()) return;
    sink_.Seal();
    ++segment_;
    if (!OpenSegment() || delivered_until_ns_ == INT64_MIN) return;
    sink_.Begin();
    PutDeliveredUntil(delivered_until_ns_);
    Commit();
    return;
  }
  if (busy) return;
  sink_.CheckpointIfLarger(kIdleLogBytes, kIdleLogTransactions);
  if (sink_.failed()) Stop();
}

void TraceWriter::PutEnd(const char* how, int64_t end_monotonic_ns) {
  if (delivered_until_ns_ != INT64_MIN) sink_.DropUnknown(kUndeliveredRow);
  sink_.PutMeta("python", int64_t{HasPython() ? 1 : 0});
  sink_.PutMeta("python_version", PythonVersion());
  sink_.PutMeta("end_monotonic_ns", end_monotonic_ns);
  sink_.PutMeta("end_how", how);
  PutWindow();
  PutSealed();
}

// Nothing comes after it.
void TraceWriter::PutSealed() { sink_.PutMeta("sealed", int64_t{1}); }

}  // namespace gpubound
