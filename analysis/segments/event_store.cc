// SPDX-License-Identifier: Apache-2.0
//
// Collects and orders events. One object, one thread.
#include "analysis/segments/event_store.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/segments/cpu_time.h"
#include "analysis/trace/record_order.h"

namespace gpubound {
namespace {

int64_t Signed(uint64_t ns) { return static_cast<int64_t>(ns); }

}  // namespace

EventStore::EventStore(ProcessTrace* process) : process_(process) {
  for (size_t i = 0; i < process->threads.size(); ++i) {
    by_ordinal_[Raw(process->threads[i].ordinal)] = i;
    by_tid_[process->threads[i].tid].push_back(i);
  }
}

ThreadTrace& EventStore::ThreadByOrdinal(uint32_t ordinal) {
  const auto [entry, added] = by_ordinal_.try_emplace(ordinal, process_->threads.size());
  if (added) {
    process_->threads.emplace_back();
    process_->threads.back().ordinal = static_cast<ThreadId>(ordinal);
  }
  return process_->threads[entry->second];
}

ThreadTrace& EventStore::ThreadByTid(uint32_t tid, int64_t time_ns) {
  std::vector<size_t>& candidates = by_tid_[tid];
  if (candidates.empty()) {
    candidates.push_back(process_->threads.size());
    process_->threads.emplace_back();
    process_->threads.back().tid = tid;
  }
  // The system reuses thread ids: the thread is the last one that had begun by then.
  size_t chosen = candidates.front();
  for (const size_t candidate : candidates) {
    const std::vector<ThreadEvent>& events = process_->threads[candidate].events;
    if (!events.empty() && events.front().time_ns <= time_ns) chosen = candidate;
  }
  return process_->threads[chosen];
}

void EventStore::AddThreadEvents(uint32_t ordinal, std::vector<ThreadEvent> events,
                                 std::span<const LabelId> open_labels, bool gap) {
  ThreadTrace& thread = ThreadByOrdinal(ordinal);
  const bool thinned = !events.empty() && std::exchange(thread.tail_thinned, false);
  if (gap || thinned) {
    StackReset reset;
    reset.event_index = thread.events.size();
    reset.lost = gap;
    reset.thinned = thinned;
    reset.open.assign(open_labels.begin(), open_labels.end());
    thread.resets.push_back(std::move(reset));
  }
  int64_t latest_ns = thread.events.empty() ? INT64_MIN : thread.events.back().time_ns;
  for (ThreadEvent& event : events) {
    latest_ns = std::max(latest_ns, event.time_ns);
    event.time_ns = latest_ns;
  }
  if (thread.events.empty()) {
    thread.events = std::move(events);
  } else {
    thread.events.insert(thread.events.end(), events.begin(), events.end());
  }
}

void EventStore::AddThreadEvents(const ThreadEvents& events, bool gap) {
  AddThreadEvents(events.thread, events.events, events.open_labels, gap);
}

void EventStore::SkipThinned(const std::vector<uint32_t>& ordinals) {
  for (const uint32_t ordinal : ordinals) {
    const auto known = by_ordinal_.find(ordinal);
    if (known != by_ordinal_.end()) process_->threads[known->second].tail_thinned = true;
  }
}

void EventStore::Add(const ApiRecord& record) {
  calls_.push_back({record.tid,
                    {Signed(record.start_ns), Signed(record.end_ns), record.correlation,
                     record.label, record.result}});
}

void EventStore::Add(const DeviceRecord& record) {
  process_->device_work.push_back({Signed(record.start_ns), Signed(record.end_ns), record.bytes,
                                   record.graph_node, record.correlation, record.graph,
                                   record.stream, record.work});
}

void EventStore::Add(const SyncRecord& record) {
  process_->syncs.push_back({Signed(record.start_ns), Signed(record.end_ns), record.event,
                             record.correlation, record.type, record.context, record.stream});
}

void EventStore::Add(const OverheadRecord& record) {
  overheads_.push_back(
      {record.tid,
       {Signed(record.start_ns), Signed(record.end_ns), record.correlation, record.label}});
}

void EventStore::Add(const CpuTimeRecord& record) {
  process_->cpu_times.push_back(CpuTimeOf(record));
}

void EventStore::Add(const StackRecord& record) {
  process_->stack_looks.push_back({Signed(record.start_ns), Signed(record.end_ns), record.tid,
                                   process_->KnownFrame(record.frame), record.looks,
                                   record.runnable});
}

void EventStore::Add(const ApiEvents& events) {
  for (size_t i = 0; i < events.size(); ++i) {
    calls_.push_back({events.tid[i],
                      {events.start_ns[i], events.end_ns[i], events.correlation[i], events.label[i],
                       events.result[i]}});
  }
}

void EventStore::Add(const DeviceEvents& events) {
  for (size_t i = 0; i < events.size(); ++i) {
    const WorkDetail detail = events.DetailOf(i);
    process_->device_work.push_back({events.start_ns[i], events.end_ns[i], detail.bytes,
                                     detail.graph_node, events.correlation[i], detail.graph,
                                     events.stream[i], events.work[i]});
  }
}

void EventStore::Add(const SyncEvents& events) {
  for (size_t i = 0; i < events.size(); ++i) {
    process_->syncs.push_back({events.start_ns[i], events.end_ns[i], events.event[i],
                               events.correlation[i], events.type[i], events.context[i],
                               events.stream[i]});
  }
}

void EventStore::Add(const OverheadEvents& events) {
  for (size_t i = 0; i < events.size(); ++i) {
    overheads_.push_back(
        {events.tid[i],
         {events.start_ns[i], events.end_ns[i], events.correlation[i], events.label[i]}});
  }
}

void EventStore::Add(const CpuTimeEvents& events) {
  for (size_t i = 0; i < events.size(); ++i) process_->cpu_times.push_back(CpuTimeAt(events, i));
}

void EventStore::Add(const StackEvents& events) {
  for (size_t i = 0; i < events.size(); ++i) {
    process_->stack_looks.push_back({events.start_ns[i], events.end_ns[i], events.tid[i],
                                     process_->KnownFrame(events.frame[i]), events.looks[i],
                                     events.runnable[i]});
  }
}

void EventStore::Finish() {
  Distribute();
  for (ThreadTrace& thread : process_->threads) {
    SortRecords(&thread.calls);
    SortRecords(&thread.overheads);
  }
  SortRecords(&process_->device_work);
  SortRecords(&process_->syncs);
  SortRecords(&process_->cpu_times);
  SortRecords(&process_->stack_looks);
  // Threads without a row come last, by system id: their order of first call is no property of the
  // trace.
  std::sort(process_->threads.begin(), process_->threads.end(),
            [](const ThreadTrace& a, const ThreadTrace& b) {
              const uint32_t none_last_a = Raw(a.ordinal) - 1;
              const uint32_t none_last_b = Raw(b.ordinal) - 1;
              return std::tie(none_last_a, a.tid) < std::tie(none_last_b, b.tid);
            });
}

void EventStore::Distribute() {
  for (const OfThread& entry : calls_) {
    ThreadByTid(entry.tid, entry.call.start_ns).calls.push_back(entry.call);
  }
  for (const OverheadOfThread& entry : overheads_) {
    ThreadByTid(entry.tid, entry.overhead.start_ns).overheads.push_back(entry.overhead);
  }
  calls_.clear();
  overheads_.clear();
}

}  // namespace gpubound
