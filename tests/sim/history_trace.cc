// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/history_trace.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "proto/sync_types.h"
#include "proto/wake_tokens.h"

namespace gpubound::sim {
namespace {

// CUpti_ActivitySynchronizationType
constexpr uint32_t kEventSynchronize = 1;
constexpr uint32_t kStreamWaitEvent = 2;
constexpr uint32_t kStreamSynchronize = 3;
constexpr uint32_t kContextSynchronize = 4;

constexpr uint32_t kContext = 1;

WorkKind WorkKindOf(OpKind kind) {
  return kind == OpKind::kKernel   ? WorkKind::kKernel
         : kind == OpKind::kMemcpy ? WorkKind::kMemcpy
                                   : WorkKind::kMemset;
}

uint32_t SyncTypeOf(const std::string& call) {
  if (call == "cudaEventSynchronize") return kEventSynchronize;
  if (call == "cudaStreamWaitEvent") return kStreamWaitEvent;
  if (call == "cudaStreamSynchronize") return kStreamSynchronize;
  if (call == "cudaEventRecord") return kSyncEventRecorded;
  return call == "cudaDeviceSynchronize" ? kContextSynchronize : 0;
}

// What a work row is made of: kind, name, geometry.
using WorkKey = std::tuple<OpKind, std::string, std::array<uint32_t, 9>>;

class TraceBuilder {
 public:
  // Of the threads whose element of |threads| is set.
  TraceBuilder(const History& history, const std::vector<bool>& threads, int64_t pid,
               TimeNs span_ns)
      : history_(history) {
    trace_.identity = {"host", pid, pid};
    trace_.name = "process " + std::to_string(pid);
    trace_.device_kind = "simulated";
    trace_.python = history.python;
    trace_.span_begin_ns = kSpanBeginNs;
    trace_.span_end_ns = kSpanBeginNs + span_ns;
    trace_.labels.emplace_back();
    trace_.works.emplace_back();
    trace_.streams.emplace_back();
    trace_.devices.resize(2);
    trace_.devices[1].info = history.limits;
    for (const UnknownFact& unknown : history.unknown) {
      trace_.unknown.push_back(
          {kSpanBeginNs + unknown.from_ns, kSpanBeginNs + unknown.to_ns, "outage"});
    }
    for (size_t i = 0; i < history.tids.size(); ++i) {
      index_.push_back(trace_.threads.size());
      if (!threads[i]) continue;
      ThreadTrace& thread = trace_.threads.emplace_back();
      thread.ordinal = static_cast<ThreadId>(trace_.threads.size());
      thread.tid = history.tids[i];
    }
    is_mine_ = threads;
    trace_.main_tid = trace_.threads.front().tid;
  }

  ProcessTrace Build() {
    AddEvents();
    AddCalls();
    AddWork();
    return std::move(trace_);
  }

 private:
  LabelId Intern(const ScopeName& name) {
    const auto [entry, added] =
        labels_.try_emplace({name.kind, name.domain, name.text}, trace_.labels.size());
    if (added) trace_.labels.push_back({name.kind, name.layer, name.domain, name.text});
    return static_cast<LabelId>(entry->second);
  }
  LabelId Intern(LabelKind kind, const std::string& text) {
    return Intern({kind, Layer::kUnset, text, ""});
  }
  WorkId InternWork(const WorkFact& work) {
    const WorkInfo& info = work.geometry;
    const WorkKey key{
        work.kind,
        work.name,
        {info.grid[0], info.grid[1], info.grid[2], info.block[0], info.block[1], info.block[2],
         info.registers_per_thread, info.static_shared_bytes, info.dynamic_shared_bytes}};
    const auto [entry, added] = works_.try_emplace(key, trace_.works.size());
    if (added) {
      Work row;
      row.info = info;
      row.info.kind = WorkKindOf(work.kind);
      row.name = work.name;
      trace_.works.push_back(row);
    }
    return static_cast<WorkId>(entry->second);
  }
  StreamId InternStream(uint32_t stream) {
    const auto [entry, added] = streams_.try_emplace(stream, trace_.streams.size());
    if (added) trace_.streams.push_back({static_cast<DeviceId>(1), kContext, stream});
    return static_cast<StreamId>(entry->second);
  }

  void AddEvents() {
    for (const ScopeFact& scope : history_.scopes) {
      if (!is_mine_[scope.thread]) continue;
      if (scope.range != 0) {
        AddRange(scope);
        continue;
      }
      const LabelId label = Intern(scope.name);
      auto& events = trace_.threads[index_[scope.thread]].events;
      events.push_back({kSpanBeginNs + scope.begin_ns, 0, label, SlotKind::kBegin});
      if (scope.end_ns == history_.span_ns) continue;  // open at the end
      events.push_back({kSpanBeginNs + scope.end_ns, 0, label, SlotKind::kEnd});
    }
    for (const PauseFact& pause : history_.pauses) {
      if (!is_mine_[pause.thread]) continue;
      trace_.threads[index_[pause.thread]].events.push_back(
          {kSpanBeginNs + pause.time_ns, 0, LabelId{},
           pause.pauses ? SlotKind::kPause : SlotKind::kResume});
    }
    // Whichever thread changed it, a phase is the process's; that thread has begun by then.
    for (const PhaseFact& phase : history_.phases) {
      const LabelId label = Intern(LabelKind::kPhase, phase.name);
      const size_t thread = is_mine_[phase.thread] ? index_[phase.thread] : 0;
      trace_.threads[thread].events.push_back(
          {kSpanBeginNs + phase.time_ns, 0, label, SlotKind::kPhase});
    }
    for (const StepFact& step : history_.steps) {
      if (!is_mine_[step.thread]) continue;
      trace_.threads[index_[step.thread]].events.push_back(
          {kSpanBeginNs + step.time_ns, step.number, LabelId{}, SlotKind::kStep});
    }
    for (const WakeFact& wake : history_.wakes) {
      if (!is_mine_[wake.thread]) continue;
      const uint64_t what =
          IsTime(wake.what) ? TokenOfTime(kSpanBeginNs + TimeOf(wake.what)) : wake.what;
      trace_.threads[index_[wake.thread]].events.push_back(
          {kSpanBeginNs + wake.time_ns, what, LabelId{}, wake.kind});
    }
    for (ThreadTrace& thread : trace_.threads) {
      std::stable_sort(thread.events.begin(), thread.events.end(),
                       [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    }
  }
  void AddRange(const ScopeFact& scope) {
    const LabelId label = Intern(scope.name);
    trace_.threads[index_[scope.thread]].events.push_back(
        {kSpanBeginNs + scope.begin_ns, scope.range, label, SlotKind::kRangeStart});
    if (scope.end_ns == history_.span_ns || !is_mine_[scope.end_thread]) return;
    trace_.threads[index_[scope.end_thread]].events.push_back(
        {kSpanBeginNs + scope.end_ns, scope.range, LabelId{}, SlotKind::kRangeEnd});
  }
  void AddCalls() {
    for (const ApiFact& call : history_.calls) {
      if (!is_mine_[call.thread]) {
        theirs_.insert(call.correlation);
        continue;
      }
      ThreadTrace& thread = trace_.threads[index_[call.thread]];
      const int64_t start_ns = kSpanBeginNs + call.begin_ns;
      const int64_t end_ns = kSpanBeginNs + call.end_ns;
      thread.calls.push_back(
          {start_ns, end_ns, call.correlation, Intern(LabelKind::kApi, call.name), 0});
      if (const uint32_t type = SyncTypeOf(call.name); type != 0) {
        Sync sync;
        sync.start_ns = start_ns;
        sync.end_ns = end_ns;
        sync.correlation = call.correlation;
        sync.type = type;
        sync.context = kContext;
        sync.stream = call.stream;
        sync.event = 1 + call.event;
        trace_.syncs.push_back(sync);
      }
      if (call.queue_full_from_ns == call.queue_full_to_ns) continue;
      thread.overheads.push_back({kSpanBeginNs + call.queue_full_from_ns,
                                  kSpanBeginNs + call.queue_full_to_ns, call.correlation,
                                  Intern(LabelKind::kOverhead, "COMMAND_BUFFER_FULL")});
    }
    std::stable_sort(trace_.syncs.begin(), trace_.syncs.end(),
                     [](const Sync& a, const Sync& b) { return a.start_ns < b.start_ns; });
  }
  void AddWork() {
    for (const WorkFact& work : history_.work) {
      if (theirs_.count(work.correlation) != 0) continue;
      DeviceWork row;
      row.start_ns = kSpanBeginNs + work.begin_ns;
      row.end_ns = kSpanBeginNs + work.end_ns;
      row.correlation = work.correlation;
      row.stream = InternStream(work.stream);
      row.work = InternWork(work);
      trace_.device_work.push_back(row);
    }
    std::stable_sort(trace_.device_work.begin(), trace_.device_work.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  }

  const History& history_;
  std::vector<bool> is_mine_;  // by thread
  std::vector<size_t> index_;  // in the trace, of the threads that are
  std::set<uint32_t> theirs_;  // calls of other processes, by correlation
  ProcessTrace trace_;
  std::map<std::tuple<LabelKind, std::string, std::string>, size_t> labels_;
  std::map<WorkKey, size_t> works_;
  std::map<uint32_t, size_t> streams_;
};

}  // namespace

ProcessTrace TraceOf(const History& history) {
  const std::vector<bool> all(history.tids.size(), true);
  return TraceBuilder(history, all, PidOf(0), history.span_ns).Build();
}

Run RunOf(const History& history) {
  Run run;
  const uint32_t processes =
      1 + *std::max_element(history.processes.begin(), history.processes.end());
  for (uint32_t p = 0; p < processes; ++p) {
    std::vector<bool> threads;
    TimeNs span_ns = 0;
    for (size_t t = 0; t < history.tids.size(); ++t) {
      threads.push_back(history.processes[t] == p);
      if (threads.back()) span_ns = std::max(span_ns, history.ends[t]);
    }
    run.processes.push_back(TraceBuilder(history, threads, PidOf(p), span_ns).Build());
    if (p > 0) run.processes.back().parent_pid = PidOf(0);
  }
  return run;
}

}  // namespace gpubound::sim
