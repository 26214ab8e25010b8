// SPDX-License-Identifier: Apache-2.0
//
// Matches what is left over of each thread. No state.
#include "analysis/output/page/foreign_ends.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace gpubound {

std::vector<std::vector<ForeignEnd>> FindForeignEnds(const ProcessTrace& process,
                                                     const EventSource& source) {
  std::vector<std::vector<ForeignEnd>> by_thread(process.threads.size());
  if (process.threads.size() < 2) return by_thread;
  std::unordered_map<uint64_t, uint32_t> started;  // ranges that their own thread did not end
  std::vector<ForeignEnd> ends;
  for (uint32_t thread = 0; thread < process.threads.size(); ++thread) {
    const std::unique_ptr<ThreadCursor> cursor = source.ThreadEvents(thread);
    for (ThreadBatch batch; cursor->Next(&batch);) {
      if (batch.scopes_only) continue;
      for (const ThreadEvent& event : batch.events) {
        if (event.kind == SlotKind::kRangeStart) started.insert_or_assign(event.payload, thread);
        if (event.kind != SlotKind::kRangeEnd) continue;
        const auto own = started.find(event.payload);
        if (own != started.end() && own->second == thread) {
          started.erase(own);
        } else {
          ends.push_back({event.payload, event.time_ns});
        }
      }
    }
  }
  for (const ForeignEnd& end : ends) {
    const auto range = started.find(end.range);
    if (range != started.end()) by_thread[range->second].push_back(end);
  }
  for (std::vector<ForeignEnd>& of_thread : by_thread) {
    std::stable_sort(of_thread.begin(), of_thread.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  }
  return by_thread;
}

}  // namespace gpubound
