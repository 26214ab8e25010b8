// SPDX-License-Identifier: Apache-2.0
//
// One pass over the scopes of each thread.
#include "analysis/trace/own_work.h"

#include <memory>
#include <utility>

#include "analysis/trace/event_source.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {

int64_t OwnWorkWithin(const ProcessTrace& process, const std::vector<Interval>& frames) {
  if (frames.empty()) return 0;
  std::vector<Interval> covered;
  const std::shared_ptr<const EventSource> source = SourceOf(process);
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    const std::unique_ptr<ThreadCursor> cursor = source->ThreadEvents(t);
    std::vector<int64_t> begun;  // scopes that are open, outermost first
    ThreadBatch batch;
    while (cursor->Next(&batch)) {
      for (const ThreadEvent& event : batch.events) {
        const size_t label = Raw(event.label);
        if (label >= process.labels.size() || !IsOwnWork(process.labels[label])) continue;
        if (event.kind == SlotKind::kBegin) begun.push_back(event.time_ns);
        if (event.kind != SlotKind::kEnd || begun.empty()) continue;
        const Interval scope = {begun.back(), event.time_ns};
        begun.pop_back();
        for (const Interval& frame : frames) covered.push_back(frame.ClippedTo(scope));
      }
    }
  }
  return UnionLength(std::move(covered));
}

}  // namespace gpubound
