// SPDX-License-Identifier: Apache-2.0
//
// Decodes the chunks of one process on demand and says to which thread a record belongs. Remembers
// whether any chunk was damaged. Any threads: one of them decodes at a time.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_CHUNK_STORE_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_CHUNK_STORE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "analysis/base/plain_list.h"
#include "analysis/segments/segment.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/record_order.h"
#include "proto/chunk_decoder.h"

namespace gpubound {

struct PlannedChunk {
  size_t segment = 0;
  ChunkHead head;
  bool gap = false;      // events of this writer are missing before it
  bool thinned = false;  // a compaction removed events of this writer before it
};

class ChunkStore {
 public:
  // |process| holds the rows and is used here only. |chunks|: of each writer in the order of its
  // sequence numbers, none twice.
  ChunkStore(const ProcessTrace& process, std::vector<Segment> segments,
             const std::vector<PlannedChunk>& chunks);

  // Chunks of a thread in the order in which it wrote them, by index into ProcessTrace::threads.
  const std::vector<PlannedChunk>& OfThread(uint32_t thread) const { return by_thread_[thread]; }
  // Chunks of a family of records by earliest begin.
  const std::vector<PlannedChunk>& OfFamily(EventFamily family) const {
    return by_family_[static_cast<size_t>(family)];
  }

  // The events of a chunk, sorted; nothing where it is damaged, and failed() from then on.
  void Decode(const PlannedChunk& chunk, ThreadEvents* events);
  void Decode(const PlannedChunk& chunk, PlainList<ThreadCall>* calls);
  void Decode(const PlannedChunk& chunk, PlainList<ThreadOverhead>* overheads);
  void Decode(const PlannedChunk& chunk, PlainList<DeviceWork>* work);
  void Decode(const PlannedChunk& chunk, PlainList<Sync>* syncs);
  void Decode(const PlannedChunk& chunk, PlainList<CpuTime>* times);
  void Decode(const PlannedChunk& chunk, PlainList<StackLooks>* looks);

  // Threads without a row, by tid; the first one's number is that of all rows.
  std::vector<uint32_t> further_threads() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return further_threads_;
  }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  struct OfTid {
    int64_t first_ns;  // when the thread made its first event
    uint32_t thread;
  };
  // A tid that names but one thread; those asked for last.
  struct KnownTid {
    int64_t tid = -1;
    uint32_t thread = 0;
  };
  static constexpr size_t kKnownTids = 64;
  template <typename Events>
  bool DecodeInto(const PlannedChunk& chunk, Events* events);
  // Makes the records of a chunk, in order of begin: |record_of|(place in the chunk).
  template <typename Record, typename RecordOf>
  void Build(const PlannedChunk& chunk, const std::vector<int64_t>& start_ns, RecordOf record_of,
             PlainList<Record>* records);
  uint32_t ThreadOf(uint32_t tid, int64_t time_ns) {
    const KnownTid& known = known_tids_[tid % kKnownTids];
    return known.tid == tid ? known.thread : FindThread(tid, time_ns);
  }
  uint32_t FindThread(uint32_t tid, int64_t time_ns);

  std::vector<Segment> segments_;
  std::vector<std::vector<PlannedChunk>> by_thread_;
  std::vector<std::vector<PlannedChunk>> by_family_;
  std::unordered_map<uint32_t, std::vector<OfTid>> by_tid_;  // oldest first
  std::vector<bool> has_frame_;                              // by id
  const uint32_t first_further_;
  std::vector<uint32_t> further_threads_;
  std::array<KnownTid, kKnownTids> known_tids_{};
  std::atomic<bool> failed_{false};

  mutable std::mutex mutex_;  // of all but the plan, while one decodes
  ChunkDecoder decoder_;
  ApiEvents api_events_;
  DeviceEvents device_events_;
  SyncEvents sync_events_;
  OverheadEvents overhead_events_;
  CpuTimeEvents cpu_time_events_;
  StackEvents stack_events_;
  BeginOrder order_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_CHUNK_STORE_H_
