// SPDX-License-Identifier: Apache-2.0
//
// Collects the decoded events of one process, from chunks and from a salvaged live mapping alike,
// and brings them into the order that ProcessTrace promises. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_EVENT_STORE_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_EVENT_STORE_H_

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/trace/run.h"
#include "proto/chunk_decoder.h"

namespace gpubound {

class EventStore {
 public:
  // |process| already holds the rows of its threads and frames; it receives the events and outlives the object.
  explicit EventStore(ProcessTrace* process);

  // Events of one writer come in the order of their sequence numbers. |gap|: some are missing
  // before these, so what is open now is |open_labels|, outermost first, whatever came before.
  void AddThreadEvents(uint32_t ordinal, std::vector<ThreadEvent> events,
                       std::span<const LabelId> open_labels, bool gap);
  void AddThreadEvents(const ThreadEvents& events, bool gap);
  // A compaction removed what comes next of these threads; others are left alone.
  void SkipThinned(const std::vector<uint32_t>& ordinals);

  void Add(const ApiRecord& record);  // times are trace time
  void Add(const DeviceRecord& record);
  void Add(const SyncRecord& record);
  void Add(const OverheadRecord& record);
  void Add(const CpuTimeRecord& record);
  void Add(const StackRecord& record);
  void Add(const ApiEvents& events);
  void Add(const DeviceEvents& events);
  void Add(const SyncEvents& events);
  void Add(const OverheadEvents& events);
  void Add(const CpuTimeEvents& events);
  void Add(const StackEvents& events);

  // Sorts everything into |process|. Call once, last.
  void Finish();

 private:
  struct OfThread {
    uint32_t tid;
    ApiCall call;
  };
  struct OverheadOfThread {
    uint32_t tid;
    Overhead overhead;
  };
  ThreadTrace& ThreadByOrdinal(uint32_t ordinal);
  ThreadTrace& ThreadByTid(uint32_t tid, int64_t time_ns);
  void Distribute();

  ProcessTrace* process_;
  std::unordered_map<uint32_t, size_t> by_ordinal_;           // index into process_->threads
  std::unordered_map<uint32_t, std::vector<size_t>> by_tid_;  // oldest first
  std::vector<OfThread> calls_;
  std::vector<OverheadOfThread> overheads_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_EVENT_STORE_H_
