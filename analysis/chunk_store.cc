// SPDX-License-Identifier: Apache-2.0
//
// Decodes chunks. One object, one thread.
#include "analysis/chunk_store.h"

#include <algorithm>

#include "analysis/record_order.h"

namespace gpubound {
namespace {

constexpr size_t kFamilies = 6;

}  // namespace

ChunkStore::ChunkStore(const ProcessTrace& process, std::vector<Segment> segments,
                       const std::vector<PlannedChunk>& chunks)
    : segments_(std::move(segments)),
      by_thread_(process.threads.size()),
      by_family_(kFamilies),
      next_thread_(static_cast<uint32_t>(process.threads.size())) {
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
    const int64_t first_ns =
        by_thread_[t].empty() ? kOpenEnded : by_thread_[t].front().head.row.min_ns;
    by_tid_[process.threads[t].tid].push_back({first_ns, t});
  }
}

// The system reuses thread ids: the thread is the last one that had begun by then.
uint32_t ChunkStore::ThreadOf(uint32_t tid, int64_t time_ns) {
  if (tid == last_tid_) return last_thread_;
  std::vector<OfTid>& candidates = by_tid_[tid];
  if (candidates.empty()) candidates.push_back({kOpenEnded, next_thread_++});
  uint32_t chosen = candidates.front().thread;
  for (const OfTid& candidate : candidates) {
    if (candidate.first_ns <= time_ns) chosen = candidate.thread;
  }
  if (candidates.size() == 1) {
    last_tid_ = tid;
    last_thread_ = chosen;
  }
  return chosen;
}

template <typename Events>
bool ChunkStore::DecodeInto(const PlannedChunk& chunk, Events* events) {
  Segment::ChunkHead head = chunk.head;
  const bool ok =
      segments_[chunk.segment].ReadChunkBody(&head) && decoder_.Decode(head.row, events).ok();
  failed_ |= !ok;
  return ok;
}

template <typename Record>
void ChunkStore::SortAndCheck(const PlannedChunk& chunk, std::vector<Record>* records) {
  SortRecords(records);
  // The merge relies on what the row says of the earliest begin.
  if (!records->empty() && BeginOf(records->front()) < chunk.head.row.min_ns) failed_ = true;
}

void ChunkStore::Decode(const PlannedChunk& chunk, DecodedThread* thread) {
  thread->events.clear();
  thread->open.clear();
  if (!DecodeInto(chunk, &thread_events_)) return;
  thread->gap = chunk.gap || thread_events_.dropped_before != 0;
  for (const uint32_t label : thread_events_.open_labels) {
    thread->open.push_back(static_cast<LabelId>(label));
  }
  const size_t size = thread_events_.size();
  thread->events.resize(size);
  for (size_t i = 0; i < size; ++i) {
    thread->events[i] = {thread_events_.time_ns[i], thread_events_.payload[i],
                         thread_events_.label[i], thread_events_.kind[i]};
  }
}

void ChunkStore::Decode(const PlannedChunk& chunk, std::vector<ThreadCall>* calls) {
  calls->clear();
  if (!DecodeInto(chunk, &api_events_)) return;
  calls->resize(api_events_.size());
  for (size_t i = 0; i < calls->size(); ++i) {
    (*calls)[i] = {{api_events_.start_ns[i], api_events_.end_ns[i], api_events_.correlation[i],
                    api_events_.label[i], api_events_.result[i]},
                   ThreadOf(api_events_.tid[i], api_events_.start_ns[i])};
  }
  SortAndCheck(chunk, calls);
}

void ChunkStore::Decode(const PlannedChunk& chunk, std::vector<ThreadOverhead>* overheads) {
  overheads->clear();
  if (!DecodeInto(chunk, &overhead_events_)) return;
  for (size_t i = 0; i < overhead_events_.size(); ++i) {
    overheads->push_back({{overhead_events_.start_ns[i], overhead_events_.end_ns[i],
                           overhead_events_.correlation[i], overhead_events_.label[i]},
                          ThreadOf(overhead_events_.tid[i], overhead_events_.start_ns[i])});
  }
  SortAndCheck(chunk, overheads);
}

void ChunkStore::Decode(const PlannedChunk& chunk, std::vector<DeviceWork>* work) {
  work->clear();
  if (!DecodeInto(chunk, &device_events_)) return;
  if (device_events_.dropped_before != 0) failed_ = true;  // some time is unknown
  work->resize(device_events_.size());
  for (size_t i = 0; i < work->size(); ++i) {
    (*work)[i] = {device_events_.start_ns[i],    device_events_.end_ns[i],
                  device_events_.bytes[i],       device_events_.graph_node[i],
                  device_events_.correlation[i], device_events_.graph[i],
                  device_events_.stream[i],      device_events_.work[i]};
  }
  SortAndCheck(chunk, work);
}

}  // namespace gpubound
