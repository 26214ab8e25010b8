// SPDX-License-Identifier: Apache-2.0
//
// Merges threads. One object, one thread.
#include "analysis/output/export/thread_merge.h"

namespace gpubound {

ThreadMerge::ThreadMerge(const EventSource& source, uint32_t threads) : threads_(threads) {
  for (uint32_t t = 0; t < threads; ++t) {
    threads_[t].cursor = source.ThreadEvents(t);
    Queue(t);
  }
}

bool ThreadMerge::Next(Event* event) {
  if (last_ != kNone) Queue(last_);
  last_ = kNone;
  if (next_.empty()) return false;
  last_ = next_.top().second;
  next_.pop();
  Thread& thread = threads_[last_];
  event->thread = last_;
  const bool first = thread.next == 0;
  event->missing = first && (thread.batch.resync || thread.batch.thinned);
  event->thinned = first && thread.batch.thinned;
  event->known_until_ns = thread.last_ns;
  event->open = thread.batch.open;
  event->event = thread.batch.events[thread.next++];
  thread.last_ns = event->event.time_ns;
  return true;
}

void ThreadMerge::Queue(uint32_t index) {
  Thread& thread = threads_[index];
  if (thread.next == thread.batch.events.size()) {
    thread.next = 0;
    if (!thread.cursor->Next(&thread.batch)) {
      thread.batch = {};
      return;
    }
  }
  next_.emplace(thread.batch.events[thread.next].time_ns, index);
}

}  // namespace gpubound
