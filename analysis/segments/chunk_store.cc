// SPDX-License-Identifier: Apache-2.0
//
// Decodes chunks. One thread at a time.
#include "analysis/segments/chunk_store.h"

#include <algorithm>
#include <new>
#include <span>

#include "analysis/segments/cpu_time.h"

namespace gpubound {
namespace {

constexpr size_t kFamilies = static_cast<size_t>(kLastEventFamily) + 1;

}  // namespace

ChunkStore::ChunkStore(const ProcessTrace& process, std::vector<Segment> segments,
                       const std::vector<PlannedChunk>& chunks)
    : segments_(std::move(segments)),
      by_thread_(process.threads.size()),
      by_family_(kFamilies),
      has_frame_(process.frames.size()),
      first_further_(static_cast<uint32_t>(process.threads.size())) {
  for (size_t id = 0; id < has_frame_.size(); ++id) {
    has_frame_[id] = process.HasFrame(static_cast<FrameId>(id));
  }
  std::unordered_map<uint32_t, uint32_t> by_ordinal;
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    by_ordinal[Raw(process.threads[t].ordinal)] = t;
  }
  for (const PlannedChunk& chunk : chunks) {
    if (chunk.head.row.family != EventFamily::kThread) {
      by_family_[static_cast<size_t>(chunk.head.row.family)].push_back(chunk);
      continue;
    }
    const auto thread = by_ordinal.find(chunk.head.row.thread);
    if (thread == by_ordinal.end()) {
      failed_ = true;  // a thread without a row
    } else {
      by_thread_[thread->second].push_back(chunk);
    }
  }
  for (std::vector<PlannedChunk>& family : by_family_) {
    std::stable_sort(family.begin(), family.end(),
                     [](const PlannedChunk& a, const PlannedChunk& b) {
                       return a.head.row.min_ns < b.head.row.min_ns;
                     });
  }
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    int64_t first_ns = process.threads[t].began_ns;
    if (!by_thread_[t].empty()) {
      first_ns = std::min(first_ns, by_thread_[t].front().head.row.min_ns);
    }
    by_tid_[process.threads[t].tid].push_back({first_ns, t});
  }
}

// The system reuses thread ids: the thread is the last one that had begun by then.
uint32_t ChunkStore::FindThread(uint32_t tid, int64_t time_ns) {
  std::vector<OfTid>& candidates = by_tid_[tid];
  if (candidates.empty()) {
    const size_t number = first_further_ + further_threads_.size();
    candidates.push_back({kOpenEnded, static_cast<uint32_t>(number)});
    further_threads_.push_back(tid);
  }
  uint32_t chosen = candidates.front().thread;
  for (const OfTid& candidate : candidates) {
    if (candidate.first_ns <= time_ns) chosen = candidate.thread;
  }
  if (candidates.size() == 1) known_tids_[tid % kKnownTids] = {tid, chosen};
  return chosen;
}

template <typename Events>
bool ChunkStore::DecodeInto(const PlannedChunk& chunk, Events* events) {
  ChunkHead head = chunk.head;
  const bool ok =
      segments_[chunk.segment].ReadChunkBody(&head) && decoder_.Decode(head.row, events).ok();
  segments_[chunk.segment].RestIfManyAreOpen();
  if (!ok) failed_ = true;
  return ok;
}

template <typename Record, typename RecordOf>
void ChunkStore::Build(const PlannedChunk& chunk, const std::vector<int64_t>& start_ns,
                       RecordOf record_of, PlainList<Record>* records) {
  Record* next = records->Room(start_ns.size());
  for (const uint32_t i : order_.Of(start_ns)) new (next++) Record(record_of(i));
  records->AddUntil(next);
  if (order_.has_ties()) SortTies(std::span(*records));
  // The merge relies on what the row says of the earliest begin.
  if (!records->empty() && BeginOf(records->front()) < chunk.head.row.min_ns) failed_ = true;
}

void ChunkStore::Decode(const PlannedChunk& chunk, ThreadEvents* events) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!DecodeInto(chunk, events)) *events = {};
}

void ChunkStore::Decode(const PlannedChunk& chunk, PlainList<ThreadCall>* calls) {
  const std::lock_guard<std::mutex> lock(mutex_);
  calls->clear();
  if (!DecodeInto(chunk, &api_events_)) return;
  const ApiEvents& from = api_events_;
  const auto call_at = [&](uint32_t i) {
    return ThreadCall{
        {from.start_ns[i], from.end_ns[i], from.correlation[i], from.label[i], from.result[i]},
        ThreadOf(from.tid[i], from.start_ns[i])};
  };
  Build(chunk, from.start_ns, call_at, calls);
}

void ChunkStore::Decode(const PlannedChunk& chunk, PlainList<ThreadOverhead>* overheads) {
  const std::lock_guard<std::mutex> lock(mutex_);
  overheads->clear();
  if (!DecodeInto(chunk, &overhead_events_)) return;
  const OverheadEvents& from = overhead_events_;
  const auto overhead_at = [&](uint32_t i) {
    return ThreadOverhead{{from.start_ns[i], from.end_ns[i], from.correlation[i], from.label[i]},
                          ThreadOf(from.tid[i], from.start_ns[i])};
  };
  Build(chunk, from.start_ns, overhead_at, overheads);
}

void ChunkStore::Decode(const PlannedChunk& chunk, PlainList<DeviceWork>* work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  work->clear();
  if (!DecodeInto(chunk, &device_events_)) return;
  const DeviceEvents& from = device_events_;
  if (from.dropped_before != 0) failed_ = true;  // some time is unknown
  const auto work_at = [&](uint32_t i) {
    const WorkDetail detail = from.DetailOf(i);
    return DeviceWork{from.start_ns[i],    from.end_ns[i], detail.bytes,   detail.graph_node,
                      from.correlation[i], detail.graph,   from.stream[i], from.work[i]};
  };
  Build(chunk, from.start_ns, work_at, work);
}

void ChunkStore::Decode(const PlannedChunk& chunk, PlainList<Sync>* syncs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  syncs->clear();
  if (!DecodeInto(chunk, &sync_events_)) return;
  const SyncEvents& from = sync_events_;
  const auto sync_at = [&](uint32_t i) {
    return Sync{from.start_ns[i], from.end_ns[i],  from.event[i], from.correlation[i],
                from.type[i],     from.context[i], from.stream[i]};
  };
  Build(chunk, from.start_ns, sync_at, syncs);
}

void ChunkStore::Decode(const PlannedChunk& chunk, PlainList<CpuTime>* times) {
  const std::lock_guard<std::mutex> lock(mutex_);
  times->clear();
  if (!DecodeInto(chunk, &cpu_time_events_)) return;
  const CpuTimeEvents& from = cpu_time_events_;
  Build(
      chunk, from.start_ns, [&from](uint32_t i) { return CpuTimeAt(from, i); }, times);
}

void ChunkStore::Decode(const PlannedChunk& chunk, PlainList<StackLooks>* looks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  looks->clear();
  if (!DecodeInto(chunk, &stack_events_)) return;
  const StackEvents& from = stack_events_;
  const auto looks_at = [&](uint32_t i) {
    const uint32_t frame = Raw(from.frame[i]);
    const bool known = frame < has_frame_.size() && has_frame_[frame];
    return StackLooks{from.start_ns[i], from.end_ns[i],
                      from.tid[i],      known ? from.frame[i] : FrameId{},
                      from.looks[i],    from.runnable[i]};
  };
  Build(chunk, from.start_ns, looks_at, looks);
}

}  // namespace gpubound
