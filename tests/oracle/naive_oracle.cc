// SPDX-License-Identifier: Apache-2.0
//
// Nothing here is clever on purpose. No state beyond one call.
#include "tests/oracle/naive_oracle.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/trace/row_names.h"
#include "proto/sync_types.h"
#include "tests/oracle/naive_threads.h"

namespace gpubound::oracle {
namespace {

const std::string kNone = "(no operation)";

// Layers in the order of refinement, shallow to deep.
const std::vector<std::string> kDepth = {"wait",    "native",    "simulator",
                                         "backend", "cuda_sync", "cuda_api"};

int DepthOf(const std::string& layer) {
  const auto found = std::find(kDepth.begin(), kDepth.end(), layer);
  return found == kDepth.end() ? -1 : static_cast<int>(found - kDepth.begin());
}

// Causes in the order of the last resort: of several threads the last one counts.
const std::vector<std::string> kCauses = {"unknown",  "launch",  "copy",
                                          "sync",     "waiting", "simulation",
                                          "start-up", "compile", "checkpoint"};

size_t RankOf(const std::string& cause) {
  return static_cast<size_t>(std::find(kCauses.begin(), kCauses.end(), cause) - kCauses.begin());
}

class Oracle {
 public:
  Oracle(const ProcessTrace& process, const Surroundings& others)
      : p_(process), others_(others), threads_(process, others.awaited) {}

  NaiveBreakdown Run() {
    NaiveBreakdown result;
    for (int64_t t = p_.span_begin_ns; t < p_.span_end_ns; ++t) Instant(t, &result);
    AddCpu(&result);
    AddStacks(&result);
    for (const DeviceWork& work : p_.device_work) AddKernel(work, &result);
    for (const DeviceWork& work : p_.device_work) AddLaunch(work, &result);
    for (size_t i = 0; i < p_.threads.size(); ++i) {
      const bool reports = i == threads_.reporting();
      for (const ThreadEvent& event : p_.threads[i].events) {
        if (!threads_.OpensOperation(event)) continue;
        const std::string& name = p_.labels[Raw(event.label)].text;
        ++(reports ? result.count[name] : result.lane_count[Tid(i) + "|" + name]);
      }
    }
    for (size_t i = 0; i < p_.threads.size(); ++i) AddTransitions(i, &result);
    return result;
  }

 private:
  // Before the first operation; without one, before the first step.
  bool InStartUp(int64_t t) const {
    int64_t first_operation = kOpenEnded;
    int64_t first_step = kOpenEnded;
    for (const ThreadTrace& thread : p_.threads) {
      for (const ThreadEvent& event : thread.events) {
        if (threads_.OpensOperation(event)) {
          first_operation = std::min(first_operation, event.time_ns);
        }
        if (event.kind == SlotKind::kStep) first_step = std::min(first_step, event.time_ns);
      }
    }
    if (first_operation != kOpenEnded) return t < first_operation;
    return first_step != kOpenEnded && t < first_step;
  }

  bool IsUnknown(int64_t t) const {
    return std::any_of(p_.unknown.begin(), p_.unknown.end(), [t](const UnknownInterval& unknown) {
      return unknown.start_ns <= t && t < unknown.end_ns;
    });
  }
  uint32_t DeviceOf(const DeviceWork& work) const {
    return Raw(p_.streams[Raw(work.stream)].device);
  }
  // Of |device|; of all of them for 0.
  bool IsBusy(uint32_t device, int64_t t) const {
    return std::any_of(p_.device_work.begin(), p_.device_work.end(), [&](const DeviceWork& work) {
      return (device == 0 || DeviceOf(work) == device) && work.start_ns <= t && t < work.end_ns;
    });
  }

  // When the call began and ended that launched |work|; nothing where none is recorded.
  std::optional<Interval> LaunchOf(const DeviceWork& work) const {
    for (const ThreadTrace& thread : p_.threads) {
      for (const ApiCall& call : thread.calls) {
        if (call.correlation == work.correlation) return Interval{call.start_ns, call.end_ns};
      }
    }
    return std::nullopt;
  }

  // Its id is lower than those of all calls that began before it did, of which there are some.
  bool WasLaunchedBeforeTheTrace(const DeviceWork& work) const {
    bool any = false;
    for (const ThreadTrace& thread : p_.threads) {
      for (const ApiCall& call : thread.calls) {
        if (call.start_ns > work.start_ns) continue;
        any = true;
        if (call.correlation <= work.correlation) return false;
      }
    }
    return any && work.correlation != 0;
  }

  // Whether its stream was told to wait for an event of another stream between the launches of the
  // work before it and of |work|.
  bool WaitsForAnotherStream(const DeviceWork& work, const Interval& launch) const {
    const Stream& own = p_.streams[Raw(work.stream)];
    int64_t before_ns = INT64_MIN;  // the latest launch of work of the stream that began before
    for (const DeviceWork& other : p_.device_work) {
      if (&other == &work) break;  // they lie in the order in which they begin
      const Stream& stream = p_.streams[Raw(other.stream)];
      if (stream.context != own.context || stream.stream != own.stream) continue;
      const std::optional<Interval> its = LaunchOf(other);
      if (its) before_ns = std::max(before_ns, std::min(its->begin_ns, other.start_ns));
    }
    bool waits = false;
    for (const Sync& sync : p_.syncs) {
      if (sync.type != kSyncEventByStream || sync.context != own.context) continue;
      if (sync.stream != own.stream || sync.start_ns < before_ns) continue;
      if (sync.start_ns >= std::min(launch.begin_ns, work.start_ns)) continue;
      const Sync* recorded = nullptr;
      for (const Sync& record : p_.syncs) {
        if (&record == &sync) break;
        if (record.type != kSyncEventRecorded || record.context != sync.context) continue;
        if (record.event == sync.event) recorded = &record;
      }
      const bool is_own = recorded != nullptr && recorded->stream == own.stream;
      waits = waits || !is_own;
    }
    return waits;
  }

  // The cause of the gap of |device| (0: of all) in which |t| lies, where its next work had been
  // launched when the gap began; empty elsewhere.
  std::string Queued(uint32_t device, int64_t t) const {
    int64_t end_ns = t;
    const int64_t last_ns = LastInstant();
    while (end_ns <= last_ns && !IsBusy(device, end_ns)) {
      if (IsUnknown(end_ns)) return "";
      ++end_ns;
    }
    if (end_ns > last_ns) return "";
    int64_t begin_ns = t;
    const int64_t first_ns = FirstInstant();
    while (begin_ns > first_ns && !IsBusy(device, begin_ns - 1) && !IsUnknown(begin_ns - 1)) {
      --begin_ns;
    }
    // Of several that begin at once the one that was launched first tells.
    int64_t earliest_ns = INT64_MAX;
    std::vector<std::string> causes;  // of those that were launched then
    for (const DeviceWork& work : p_.device_work) {
      if (device != 0 && DeviceOf(work) != device) continue;
      if (work.start_ns != end_ns || work.end_ns <= work.start_ns) continue;
      const std::optional<Interval> launch = LaunchOf(work);
      if (!launch && !WasLaunchedBeforeTheTrace(work)) continue;
      const int64_t launched_ns = launch ? launch->end_ns : INT64_MIN;
      if (launched_ns > earliest_ns) continue;
      if (launched_ns < earliest_ns) causes.clear();
      earliest_ns = launched_ns;
      const bool waits = launch && WaitsForAnotherStream(work, *launch);
      causes.emplace_back(waits ? "event-wait" : "queued");
    }
    // A gap before everything has no begin.
    const bool launched =
        earliest_ns == INT64_MIN || (earliest_ns <= begin_ns && begin_ns != first_ns);
    if (causes.empty() || !launched) return "";
    const bool all_wait = std::find(causes.begin(), causes.end(), "queued") == causes.end();
    return all_wait ? "event-wait" : "queued";
  }
  // Before and after all that the devices and what is unknown of them did.
  int64_t FirstInstant() const {
    int64_t first_ns = p_.span_begin_ns;
    for (const DeviceWork& work : p_.device_work) first_ns = std::min(first_ns, work.start_ns);
    for (const UnknownInterval& time : p_.unknown) first_ns = std::min(first_ns, time.start_ns);
    return first_ns - 1;
  }
  int64_t LastInstant() const {
    int64_t last_ns = p_.span_end_ns;
    for (const DeviceWork& work : p_.device_work) last_ns = std::max(last_ns, work.end_ns);
    return last_ns;
  }

  // Adds what every device that did anything was idle for at |t|.
  void AddIdle(int64_t t, const std::string& operation, const std::string& cause,
               NaiveBreakdown* result) const {
    for (const UnknownInterval& unknown : p_.unknown) {
      if (unknown.start_ns <= t && t < unknown.end_ns) {
        // Whatever does not run then is unknown, not idle.
        return;
      }
    }
    std::map<uint32_t, bool> busy;  // by device
    for (const DeviceWork& work : p_.device_work) {
      busy[Raw(p_.streams[Raw(work.stream)].device)] |= work.start_ns <= t && t < work.end_ns;
    }
    for (const auto& [device, is_busy] : busy) {
      if (is_busy) continue;
      const std::string queued = Queued(device, t);
      if (!queued.empty()) result->queued[{device, t}] = queued;
      ++result->idle[operation + "|" + (queued.empty() ? cause : queued)];
    }
  }

  // Empty where it has none of its own: only scopes of a jitted function are.
  std::string OperationOfNode(uint64_t id) const {
    for (const GraphNode& node : p_.graph_nodes) {
      const Label& label = p_.labels[Raw(node.info.operation)];
      if (node.info.node == id && label.kind == LabelKind::kOperation && label.domain == "jax") {
        return label.text;
      }
    }
    return "";
  }

  // What the reporting thread works for: its own operation, else the one that is inherited.
  std::string WorksFor(const NaiveThread& reporting, int64_t t) const {
    if (!reporting.operation.empty()) return reporting.operation;
    const auto under = others_.awaited_under.find(t);
    return under == others_.awaited_under.end() ? kNone : under->second;
  }

  std::string OperationOfCall(uint32_t correlation) const {
    for (size_t i = 0; i < p_.threads.size(); ++i) {
      for (const ApiCall& call : p_.threads[i].calls) {
        if (call.correlation != correlation) continue;
        const NaiveThread state = threads_.StateOf(i, call.start_ns);
        if (!state.operation.empty()) return state.operation;
        const NaiveThread reporting = threads_.StateOf(threads_.reporting(), call.start_ns);
        if (i == threads_.reporting()) return WorksFor(reporting, call.start_ns);
        if (threads_.Annotates(i) || reporting.layer == "python") return kNone;
        return WorksFor(reporting, call.start_ns);
      }
    }
    return kNone;
  }

  std::string Phase(int64_t t) const {
    std::string phase = "(no phase)";
    int64_t latest = INT64_MIN;
    for (const ThreadTrace& thread : p_.threads) {
      for (const ThreadEvent& event : thread.events) {
        if (event.kind != SlotKind::kPhase || event.time_ns > t || event.time_ns < latest) continue;
        latest = event.time_ns;
        phase = p_.labels[Raw(event.label)].text;
      }
    }
    return phase;
  }

  static std::string OfOne(bool copies, const std::string& name) {
    return copies ? "copy" : name.starts_with("nccl") ? "comm" : "compute";
  }

  // What all of its nodes are.
  std::string OfGraph(uint32_t graph) const {
    std::set<std::string> classes;
    for (const GraphNode& node : p_.graph_nodes) {
      if (node.info.graph == graph) classes.insert(OfOne(node.info.type == 1, node.name));
    }
    return classes.size() == 1 ? *classes.begin() : "compute";
  }

  std::string ClassOf(const DeviceWork& work) const {
    const Work& row = p_.works[Raw(work.work)];
    return row.info.kind == WorkKind::kGraph ? OfGraph(work.graph)
                                             : OfOne(row.info.kind == WorkKind::kMemcpy, row.name);
  }

  // Graphs of which the nodes are known have a name each.
  std::string NameOf(const DeviceWork& work) const {
    const Work& row = p_.works[Raw(work.work)];
    const bool known =
        std::any_of(p_.graph_nodes.begin(), p_.graph_nodes.end(),
                    [&work](const GraphNode& node) { return node.info.graph == work.graph; });
    const bool numbered = row.info.kind == WorkKind::kGraph && known;
    return numbered ? row.name + " " + std::to_string(work.graph) : row.name;
  }

  std::string Gpu(int64_t t) const {
    std::set<std::string> classes;
    for (const DeviceWork& work : p_.device_work) {
      if (t < work.start_ns || t >= work.end_ns) continue;
      classes.insert(ClassOf(work));
    }
    std::string state;
    for (const char* name : {"comm", "compute", "copy"}) {
      if (classes.count(name) == 0) continue;
      state += (state.empty() ? "" : "+") + std::string(name);
    }
    if (!state.empty()) return state;
    for (const UnknownInterval& unknown : p_.unknown) {
      if (unknown.start_ns <= t && t < unknown.end_ns) return "unknown";
    }
    return "idle";
  }

  // SPEC section 2's columns.
  static std::string ColumnOf(const std::string& layer, const std::string& gpu, bool for_known) {
    const bool waits = layer == "wait" || layer == "cuda_sync";
    if (gpu == "unknown") return "unknown";
    if (gpu != "idle") return waits ? "gpu only" : "cpu+gpu";
    if (!waits) return "cpu only";
    return layer == "wait" && for_known ? "waiting" : "idle";
  }

  bool AnotherThreadSimulates(int64_t t) const {
    for (size_t i = 0; i < p_.threads.size(); ++i) {
      if (i != threads_.reporting() && threads_.StateOf(i, t).cause == "simulation") return true;
    }
    return false;
  }

  bool ForSimulation(const std::set<int64_t>& awaited) const {
    return std::any_of(awaited.begin(), awaited.end(),
                       [this](int64_t pid) { return others_.simulating.count(pid) != 0; });
  }

  std::string Tid(size_t thread) const { return std::to_string(p_.threads[thread].tid); }

  // The reporting thread is blocked in native code, and none that adopts is busy.
  bool Waits(const std::string& layer, int64_t t) const {
    if (layer != "native" && layer != "backend") return false;
    if (!threads_.IsBlocked(threads_.reporting(), t)) return false;
    for (size_t i = 0; i < p_.threads.size(); ++i) {
      if (i == threads_.reporting() || threads_.Annotates(i)) continue;
      if (threads_.IsBusy(i, t)) return false;
    }
    return true;
  }

  // Each look's times are shared out over the operations, which take their parts in the order in
  // which they were first seen. Of an instant about which two speak the one holds that says more
  // than that the thread was blocked.
  void AddCpu(NaiveBreakdown* result) const {
    for (const CpuTime& time : p_.cpu_times) {
      for (size_t i = 0; i < p_.threads.size(); ++i) {
        if (p_.threads[i].tid != time.tid) continue;
        if (i == threads_.reporting()) {
          AddLook(time, i, &result->cpu);
        } else if (threads_.Annotates(i)) {
          AddLook(time, i, &result->lane_cpu[Tid(i)]);
        }
      }
    }
  }

  // Each look of the reporting thread counts where it is at that instant.
  void AddStacks(NaiveBreakdown* result) const {
    for (const StackLooks& seen : p_.stack_looks) {
      if (p_.threads[threads_.reporting()].tid != seen.tid) continue;
      std::string path;
      for (FrameId at = seen.frame; at != FrameId{}; at = p_.frames[Raw(at)].caller) {
        path = ">" + p_.functions[Raw(p_.frames[Raw(at)].function)].name + path;
      }
      for (uint32_t i = 0; i < seen.looks; ++i) {
        const int64_t steps = std::max<int64_t>(1, int64_t{seen.looks} - 1);
        const int64_t t = seen.start_ns + (seen.end_ns - seen.start_ns) * i / steps;
        if (t < p_.span_begin_ns || t >= p_.span_end_ns) continue;
        const std::string operation = WorksFor(threads_.StateOf(threads_.reporting(), t), t);
        ++result->stacks[operation + "|" + path];
        result->runnable[operation] +=
            int64_t{seen.runnable} * (i + 1) / seen.looks - int64_t{seen.runnable} * i / seen.looks;
      }
    }
  }

  void AddLook(const CpuTime& time, size_t thread, std::map<std::string, NaiveCpu>* cpu) const {
    std::vector<std::pair<std::string, int64_t>> parts;
    for (int64_t t = std::max(time.start_ns, p_.span_begin_ns);
         t < std::min(time.end_ns, p_.span_end_ns); ++t) {
      if (time.IsBlocked() && threads_.SumsAt(thread, t)) continue;
      const NaiveThread state = threads_.StateOf(thread, t);
      const std::string own = state.operation.empty() ? kNone : state.operation;
      const std::string operation = thread == threads_.reporting() ? WorksFor(state, t) : own;
      auto part = parts.begin();
      while (part != parts.end() && part->first != operation) ++part;
      if (part == parts.end()) part = parts.insert(part, {operation, 0});
      ++part->second;
    }
    const int64_t whole = time.end_ns - time.start_ns;
    int64_t from = 0;
    for (const auto& [operation, ns] : parts) {
      const int64_t until = from + ns;
      NaiveCpu& of = (*cpu)[operation];
      const int64_t on_cpu = time.on_cpu_ns * until / whole - time.on_cpu_ns * from / whole;
      of.on_cpu += on_cpu;
      if (time.ready_ns) of.ready += *time.ready_ns * until / whole - *time.ready_ns * from / whole;
      of.told += time.ready_ns ? ns : on_cpu;
      from = until;
    }
  }

  void AddLanes(int64_t t, NaiveBreakdown* result) const {
    for (size_t i = 0; i < p_.threads.size(); ++i) {
      if (i == threads_.reporting() || !threads_.Annotates(i)) continue;
      const NaiveThread lane = threads_.StateOf(i, t);
      const std::string operation = lane.operation.empty() ? kNone : lane.operation;
      const bool is_main = p_.threads[i].tid == (p_.main_tid != 0 ? p_.main_tid : p_.identity.pid);
      const bool is_there = is_main || threads_.HasBegun(i, t);
      const std::string layer = is_there ? lane.layer : "wait";
      ++result->lanes[Tid(i)][Phase(t) + "|" + operation + "|" + layer + "|" + Gpu(t)];
      std::set<std::string> open(lane.open_operations.begin(), lane.open_operations.end());
      if (operation != kNone) open.insert(operation);
      for (const std::string& name : open) ++result->lane_inclusive[Tid(i) + "|" + name];
    }
  }

  std::string OperationOfWork(const DeviceWork& work) const {
    const std::string own = OperationOfNode(work.graph_node);
    return own.empty() ? OperationOfCall(work.correlation) : own;
  }

  void AddKernel(const DeviceWork& work, NaiveBreakdown* result) const {
    auto& [count, sum_ns] =
        result->kernels[OperationOfWork(work) + "|" + NameOf(work) + "|" + ClassOf(work)];
    ++count;
    for (int64_t t = p_.span_begin_ns; t < p_.span_end_ns; ++t) {
      sum_ns += work.start_ns <= t && t < work.end_ns;
    }
  }

  bool IsOfOneStream(const DeviceWork& a, const DeviceWork& b) const {
    return a.stream == b.stream;
  }

  // Whether the launched work before it in its stream is not of its call: what one call launches
  // into a stream runs one behind the other.
  bool IsFirstOfItsCall(const DeviceWork& work) const {
    const DeviceWork* before = nullptr;
    for (const DeviceWork& other : p_.device_work) {
      if (&other == &work) break;
      if (IsOfOneStream(other, work) && LaunchOf(other)) before = &other;
    }
    return before == nullptr || before->correlation != work.correlation;
  }

  void AddLaunch(const DeviceWork& work, NaiveBreakdown* result) const {
    const std::optional<Interval> call = LaunchOf(work);
    if (!call || !IsFirstOfItsCall(work)) return;
    int64_t depth = 0;  // launches before it whose work had not begun when its call ended
    for (const DeviceWork& other : p_.device_work) {
      if (&other == &work) break;
      const bool counts = IsOfOneStream(other, work) && LaunchOf(other) && IsFirstOfItsCall(other);
      depth += counts && other.start_ns > call->end_ns;
    }
    NaiveLaunches& launches = result->launches[OperationOfCall(work.correlation)];
    launches.leads.insert(std::max<int64_t>(0, work.start_ns - call->end_ns));
    launches.depths.insert(depth);
    if (p_.works[Raw(work.work)].info.kind != WorkKind::kKernel) return;
    ++launches.kernels;
    launches.shorter_kernels += work.end_ns - work.start_ns < call->end_ns - call->begin_ns;
  }

  void AddTransitions(size_t thread, NaiveBreakdown* result) const {
    const bool reports = thread == threads_.reporting();
    for (NaiveEntry entry : threads_.EntriesOf(thread)) {
      const NaiveThread reporting = threads_.StateOf(threads_.reporting(), entry.time_ns);
      const bool adopts = !reports && !threads_.Annotates(thread) && reporting.layer != "python";
      if (entry.operation.empty()) {
        entry.operation = reports  ? WorksFor({}, entry.time_ns)
                          : adopts ? WorksFor(reporting, entry.time_ns)
                                   : kNone;
      }
      if (entry.from.empty()) {
        entry.from = adopts ? reporting.layer : p_.python ? "python" : "native";
      }
      if (DepthOf(entry.to) <= DepthOf(entry.from)) continue;
      ++result->transitions[entry.operation + "|" + entry.from + "->" + entry.to];
      result->adopted += adopts && entry.operation != kNone;
    }
  }

  void AddWork(int64_t t, const std::string& operation, NaiveBreakdown* result) const {
    std::set<std::string> causes;
    for (const DeviceWork& work : p_.device_work) {
      if (t < work.start_ns || t >= work.end_ns) continue;
      ++result->sum[operation];
      causes.insert(OperationOfWork(work));
    }
    for (const std::string& causing : causes) ++result->caused[causing];
  }

  void Instant(int64_t t, NaiveBreakdown* result) const {
    const NaiveThread reporting = threads_.StateOf(threads_.reporting(), t);
    const std::string operation = WorksFor(reporting, t);
    std::string layer = reporting.layer;
    std::string cause = reporting.cause;
    if (Waits(layer, t)) {
      layer = "wait";
      const bool says_more = cause == "checkpoint" || cause == "compile" || cause == "simulation";
      if (!says_more) cause = "waiting";
    }
    if (cause == "waiting" && ForSimulation(reporting.awaited)) cause = "simulation";
    if (cause == "waiting" && reporting.awaited.empty() && AnotherThreadSimulates(t)) {
      cause = "simulation";
    }
    if (layer != "python") {
      // First the threads that adopt, then those that speak for themselves.
      for (const bool adopting : {true, false}) {
        const std::string before = layer;
        for (size_t i = 0; i < p_.threads.size(); ++i) {
          if (i == threads_.reporting() || threads_.Annotates(i) == adopting) continue;
          if (!threads_.HasBegun(i, t)) continue;
          const NaiveThread other = threads_.StateOf(i, t);
          const std::string its_operation = other.operation.empty() ? kNone : other.operation;
          if (!adopting && its_operation != operation) continue;
          const bool deeper = DepthOf(other.layer) > DepthOf(layer);
          const bool as_deep = layer != before && other.layer == layer;
          if (!deeper && !as_deep) continue;
          if (deeper || RankOf(other.cause) > RankOf(cause)) cause = other.cause;
          layer = other.layer;
        }
      }
    }
    const bool stays = reporting.cause == "checkpoint" || reporting.cause == "compile";
    if (stays) cause = reporting.cause;
    if (InStartUp(t) && cause != "checkpoint" && cause != "compile") cause = "start-up";
    AddIdle(t, operation, cause, result);
    AddLanes(t, result);
    AddWork(t, operation, result);
    const std::string gpu = Gpu(t);
    const std::string column = ColumnOf(layer, gpu, !reporting.awaited.empty());
    ++result->cells[Phase(t) + "|" + operation + "|" + layer + "|" + gpu];
    ++result->columns[operation + "|" + column];
    result->waiting[Phase(t) + "|" + operation] += column == "waiting";
    result->did[t] = {operation, layer};
    result->cause[t] = cause;
    result->phase[t] = Phase(t);
    if (gpu == "idle") {
      const std::string queued = Queued(0, t);
      result->all_idle[t] = queued.empty() ? cause : queued;
    }
    const bool busy = gpu != "idle" && gpu != "unknown";
    result->busy += busy;
    result->wait += busy && layer == "cuda_sync";
    std::set<std::string> open(reporting.open_operations.begin(), reporting.open_operations.end());
    if (operation != kNone) open.insert(operation);
    for (const std::string& name : open) ++result->inclusive[name];
  }

  const ProcessTrace& p_;
  const Surroundings& others_;
  const NaiveThreads threads_;
};

}  // namespace

NaiveBreakdown BreakDownNaively(const ProcessTrace& process, const Surroundings& others) {
  return Oracle(process, others).Run();
}

}  // namespace gpubound::oracle
