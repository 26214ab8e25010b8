// SPDX-License-Identifier: Apache-2.0
//
// The events of all threads of a process in one order of time. Memory is a batch for each thread.
// One object, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_THREAD_MERGE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_THREAD_MERGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "analysis/trace/event_source.h"

namespace gpubound {

class ThreadMerge {
 public:
  ThreadMerge(const EventSource& source, uint32_t threads);

  struct Event {
    uint32_t thread = 0;  // an index into ProcessTrace::threads
    ThreadEvent event;
    // Events of the thread are missing before it: the last one that is there was at
    // |known_until_ns| (INT64_MIN: there is none), and |open| is what is open now.
    bool missing = false;
    bool thinned = false;  // of these, a compaction removed some
    int64_t known_until_ns = INT64_MIN;
    std::span<const LabelId> open;
  };
  // False at the end. |event| is valid until the next call.
  bool Next(Event* event);

 private:
  struct Thread {
    std::unique_ptr<ThreadCursor> cursor;
    ThreadBatch batch;
    size_t next = 0;
    int64_t last_ns = INT64_MIN;  // of the event that was given out last
  };
  using TimeOfThread = std::pair<int64_t, uint32_t>;

  void Queue(uint32_t thread);

  std::vector<Thread> threads_;
  std::priority_queue<TimeOfThread, std::vector<TimeOfThread>, std::greater<>> next_;
  static constexpr uint32_t kNone = ~uint32_t{0};
  uint32_t last_ = kNone;  // the thread whose event was given out last
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_THREAD_MERGE_H_
