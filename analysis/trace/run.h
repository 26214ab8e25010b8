// SPDX-License-Identifier: Apache-2.0
//
// A run as the reader hands it to the pipeline: everything of a run directory, decoded, in memory.
// Plain values without a thread rule. All times are ns of the trace timeline (CLOCK_MONOTONIC of
// the process's host), signed; all intervals are half-open.
//
// Order is part of the contract, so that every later stage is a merge of sorted streams and none
// has to sort: a thread's events are in the order in which it made them, with times that never
// decrease; API calls, syncs and overheads are sorted by start; device work is sorted by start.
// Ties are broken by the remaining fields, so the order of arrival changes nothing.
#ifndef GPUBOUND_ANALYSIS_TRACE_RUN_H_
#define GPUBOUND_ANALYSIS_TRACE_RUN_H_

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/event_model.h"
#include "proto/later_format.h"
#include "proto/ledger_counters.h"
#include "proto/live_format.h"

namespace gpubound {

inline constexpr int64_t kOpenEnded = std::numeric_limits<int64_t>::max();

// How long CUPTI took to enter calls of a function of the CUDA runtime, of those that were timed.
struct CallEntries {
  struct Timed {
    uint64_t calls = 0;
    double mean_ns = 0;
  };
  std::string function;  // without its version
  Timed behind_call;     // right behind the thread's call before
  Timed behind_work;     // behind other work
};

// What the launcher wrote into run.json.
struct RunInfo {
  std::vector<std::string> command;
  std::string cwd;
  std::string host;
  std::string boot_id;  // of its machine; empty where it is not told
  std::string version;
  int64_t root_pid = 0;
  int64_t start_monotonic_ns = 0;
  int64_t start_realtime_ns = 0;
  std::optional<int64_t> end_monotonic_ns;  // absent when the launcher itself was killed
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::vector<std::string> recorded;  // HOST.PID.START of whoever had files when the launcher ended
  uint64_t times_impossible = 0;      // taken as absent
};

// Which rank of how many a launcher called a process, and by which variable.
struct JobRank {
  std::string variable;
  int64_t rank = 0;
  int64_t world_size = 0;
};

// A process is (host, pid, start): exec in place makes a second one with the same pid. Of machines
// that share a host name all but one are given another (reader/machines.h).
struct ProcessIdentity {
  std::string host;
  int64_t pid = 0;
  int64_t start_realtime_ns = 0;
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
  friend auto operator<=>(const ProcessIdentity&, const ProcessIdentity&) = default;
};

// A name. `labels` of a process is indexed by label id; entry 0 and holes have kind kNone.
struct Label {
  LabelKind kind = LabelKind::kNone;
  Layer layer = Layer::kUnset;
  std::string domain;
  std::string text;
};

// A place in a thread's events where some are missing, with the scopes that were open after it.
// The pipeline replaces its stack there. Applies before events[event_index].
struct StackReset {
  size_t event_index = 0;
  std::vector<LabelId> open;  // outermost first
  bool lost = true;           // events before it are missing of which no sums tell
  bool thinned = false;       // a compaction removed events before it
};

struct ApiCall {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t correlation = 0;
  LabelId label{};
  int32_t result = 0;
};

struct Overhead {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t correlation = 0;
  LabelId label{};
};

struct Sync {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t event = 0;
  uint32_t correlation = 0;
  uint32_t type = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
};

struct DeviceWork {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t bytes = 0;
  uint64_t graph_node = 0;
  uint32_t correlation = 0;
  uint32_t graph = 0;
  StreamId stream{};
  WorkId work{};
};

// Where the thread |tid| was from start to end, as far as is known: in the rest of it it was
// blocked, or ready and not on a CPU where that is not told apart.
struct CpuTime {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t on_cpu_ns = 0;
  std::optional<int64_t> ready_ns;
  uint32_t tid = 0;
  // Between all looks at it.
  bool IsBlocked() const { return on_cpu_ns == 0 && ready_ns == 0; }
};

// Looks at the stack of the thread |tid|, which did not run between them and was in |frame|: |looks|
// of them, the first at start, the last at end, the others about evenly in between.
struct StackLooks {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t tid = 0;
  FrameId frame{};  // 0: not known
  uint32_t looks = 0;
  uint32_t runnable = 0;  // of them: the thread was on a CPU, or ready to run
};

// A function of the program's language, as its code object names it.
struct Function {
  std::string file;
  std::string name;
};

// A call of a function under its callers.
struct Frame {
  FrameId caller{};  // has a smaller id; 0: it is the outermost
  FunctionId function{};
  uint32_t line = 0;  // of the file, where it was at a look; 0: not known
};

struct ThreadFacts {
  ThreadId ordinal{};
  uint32_t tid = 0;
  std::string name;
};

// Everything that one thread did. Threads that no row of table `thread` describes but that made
// API calls are here too, with ordinal 0.
struct ThreadTrace : ThreadFacts {
  std::vector<ThreadEvent> events;
  std::vector<StackReset> resets;  // ascending event_index
  std::vector<ApiCall> calls;
  std::vector<Overhead> overheads;
  int64_t began_ns = kOpenEnded;  // its first event, where sums say so
  bool tail_thinned = false;      // a compaction removed its last events
};

struct Device {
  DeviceInfo info;
  std::string name;
  std::string uuid;  // "GPU-xxxxxxxx-xxxx-..." as nvidia-smi prints it; empty where unknown
};

struct Stream {
  DeviceId device{};
  uint32_t context = 0;
  uint32_t stream = 0;
};

// An operator of a framework that launched work, with the inputs that it was called on: lists with
// ", " between their elements, "-" where there is nothing to say; empty where the trace does not.
struct Op {
  std::string name;
  std::string dims;    // "8944x1024, 1024x2816"; of a list of tensors "(2x3;4)"
  std::string types;   // "BFloat16, BFloat16", of the same inputs
  std::string values;  // of convolutions and attention, the numbers among them: "-; [2, 2]; True"
  friend auto operator<=>(const Op&, const Op&) = default;
};

struct Work {
  WorkInfo info;
  std::string name;
  uint32_t op = 0;         // of ProcessTrace::ops, which launched it; 0: not known
  bool begins_op = false;  // the first work of a call of it
};

// A node of an executable CUDA graph, as it was told while the graph was made.
struct GraphNode {
  GraphNodeInfo info;
  std::string name;
};

// Device work could have run unrecorded from start to end.
struct UnknownInterval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string reason;
};

// What NVML said of the device |uuid|.
struct DeviceSample {
  std::string uuid;
  UtilizationSample sample;
};

// A process that NVML listed on the device |uuid|.
struct DeviceClientSeen {
  std::string uuid;
  std::string name;  // empty where it hides it
  DeviceClient client;
};

// Stands for the threads of a process of which nothing was written.
inline constexpr ThreadId kNoThreadKnown{0};

// Begins and ends of scopes of a thread from start to end are missing.
struct LostScopes {
  ThreadId thread{};
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool certain = true;  // else they may be
};

struct Note {
  int64_t time_ns = 0;
  std::string text;
};

// How the end of a process's span is known.
enum class SpanEnd : uint8_t {
  kClosed,        // the process said so
  kAsked,         // likewise, because recording was to end then, while the process went on
  kReplaced,      // another program took its place by exec
  kLauncherWait,  // the launcher saw it end
  kLastEvent,     // nobody did: its last event
  kGoesOn,        // likewise, because it has not ended yet
};

inline bool IsClosed(SpanEnd end) { return end == SpanEnd::kClosed || end == SpanEnd::kAsked; }

// Counters of one process, indexed by LedgerCounter.
using Ledger = std::array<uint64_t, kLedgerCounterCount>;

class EventSource;

// What a trace says of a process beside its events. `devices`, `streams`, `works`, `ops`, `functions`
// and `frames` are indexed by their id; entry 0 is empty and means none.
struct ProcessFacts {
  ProcessIdentity identity;
  std::string boot_id;         // of the machine's kernel; empty where the trace does not say
  int64_t pid_namespace = 0;   // inode; 0 likewise
  std::optional<JobRank> job;  // absent where no launcher told
  std::string role;  // as GPUBOUND_ROLE says (process_role.h), which may be no role; or empty
  int64_t parent_pid = 0;
  std::string name;
  std::vector<std::string> command;
  std::string version;      // of the gpubound that recorded it
  std::string device_kind;  // real | simulated | imported | none
  // What the cost of recording depends on; empty: not known, or there was none.
  std::string cpu_model;
  std::string driver_version;
  std::string cupti_version;
  std::string python_version;
  std::string cuda_runtime;      // path of its libcudart
  std::string nvml_unavailable;  // why; empty: it was used, or the trace does not say
  // Why calls that are not recorded were not counted either; empty: they were, or likewise.
  std::string queries_not_counted;
  std::vector<CallEntries> call_entries;  // empty: the trace does not say
  // Of the processes that were imported together with it, and its own, with a blank between each
  // two. Empty: it was recorded, or the trace does not say.
  std::string imported_pids;
  uint32_t main_tid = 0;
  uint32_t reporting_tid = 0;  // of the thread that an importer chose to report; 0: none was
  // An imported profile of one iteration, which its tool recorded after others: no warm-up.
  bool first_iteration_counts = false;
  bool python = false;  // an interpreter runs here: base layer python

  int64_t span_begin_ns = 0;
  int64_t span_end_ns = 0;
  SpanEnd span_end = SpanEnd::kClosed;
  int64_t before_span_ns = 0;  // so long it had run when its span begins
  std::string steps;           // the iterations that were to be recorded, A:B; empty: all
  bool outside_steps = false;  // and the process was there at none of them
  bool begin_is_known = true;  // else the span begins with what could be read, if anything could
  // What tells of its device work, or how long it lived, could be read in part only.
  bool device_work_lost = false;
  std::string end_how;

  std::vector<Label> labels;
  std::vector<Device> devices;
  std::vector<ContextInfo> contexts;  // as CUPTI tells of them, from 12.4 on
  std::vector<Stream> streams;
  std::vector<Work> works;
  std::vector<Op> ops;
  std::vector<GraphNode> graph_nodes;  // by node
  std::vector<Function> functions;
  std::vector<Frame> frames;  // one without a function is not there
  std::vector<ClockSample> clock_samples;
  std::vector<UnknownInterval> unknown;
  std::vector<LostScopes> lost_scopes;
  std::vector<DeviceClientSeen> device_clients;
  std::vector<DeviceSample> utilization;        // by time
  std::vector<ProcessTreeSample> process_tree;  // likewise
  std::vector<CounterSample> counters;          // by begin
  std::vector<Note> notes;
  std::vector<LaterIteration> later_iterations;  // behind the end of its recording, by time
  Ledger ledger{};

  int64_t BegunNs() const { return span_begin_ns - before_span_ns; }
  // Whether what happens then counts: of a part of its life that was to be recorded the trace has
  // events before and behind it too.
  bool Counts(int64_t begin_ns, int64_t end_ns) const {
    return steps.empty() || (begin_ns <= span_end_ns && end_ns >= span_begin_ns);
  }
  // Whether any CUDA call was recorded.
  bool MakesCalls() const;
  uint64_t& Count(LedgerCounter counter) { return ledger[static_cast<size_t>(counter)]; }
  uint64_t Counted(LedgerCounter counter) const { return ledger[static_cast<size_t>(counter)]; }

  // The row behind an id; a default one where the trace holds none.
  const Label& LabelOf(LabelId id) const;
  const Device& DeviceOf(DeviceId id) const;
  const Stream& StreamOf(StreamId id) const;
  const Work& WorkOf(WorkId id) const;
  const Function& FunctionOf(FunctionId id) const;
  const Frame& FrameOf(FrameId id) const;
  bool HasFrame(FrameId id) const { return FrameOf(id).function != FunctionId{}; }
  // |id|, or 0 where that is not there.
  FrameId KnownFrame(FrameId id) const { return HasFrame(id) ? id : FrameId{}; }
};

// One process of the run.
struct ProcessTrace : ProcessFacts {
  std::vector<ThreadTrace> threads;
  // Where the events are; null: in the vectors here and in |threads|. A process with a source has no
  // events in them.
  std::shared_ptr<const EventSource> source;
  std::vector<DeviceWork> device_work;
  std::vector<Sync> syncs;
  std::vector<CpuTime> cpu_times;       // of all threads, by start
  std::vector<StackLooks> stack_looks;  // likewise; their frames are there or 0
};

struct RunSums;

struct Run {
  std::string path;
  std::optional<RunInfo> info;
  std::vector<ProcessTrace> processes;  // by identity
  std::string steps;                    // as of its processes
  std::vector<std::string> problems;    // files that could be read in part only, and why
  // Processes of the run of which nothing is there or can be read, or not all that they did on
  // devices: by identity, and not known on which.
  std::vector<ProcessIdentity> lost;
  Ledger ledger{};  // of what belongs to no process
  // Of the time whose events may be gone; null: none are.
  std::shared_ptr<const RunSums> sums;
  // Of a run whose times a replay moved: what clock_align.h found in the recording, by host. Moved
  // times prove nothing of clocks, nor of what NVML saw.
  std::optional<std::map<std::string, int64_t>> recorded_offsets_ns;

  uint64_t& Count(LedgerCounter counter) { return ledger[static_cast<size_t>(counter)]; }
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_RUN_H_
