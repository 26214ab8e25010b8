// SPDX-License-Identifier: Apache-2.0
//
// Drops events. No state.
#include "tests/oracle/thinned_trace.h"

#include <algorithm>

#include "analysis/timeline/call_index.h"

namespace gpubound::oracle {

ProcessTrace WithoutDetail(ProcessTrace trace, int64_t until_ns) {
  const auto drop = [](auto* records, int64_t before_ns) {
    std::erase_if(*records,
                  [before_ns](const auto& record) { return record.start_ns < before_ns; });
  };
  for (ThreadTrace& thread : trace.threads) {
    const auto kept = std::partition_point(
        thread.events.begin(), thread.events.end(),
        [until_ns](const ThreadEvent& event) { return event.time_ns < until_ns; });
    const auto gone = static_cast<size_t>(kept - thread.events.begin());
    thread.events.erase(thread.events.begin(), kept);
    std::erase_if(thread.resets,
                  [gone](const StackReset& reset) { return reset.event_index < gone; });
    for (StackReset& reset : thread.resets) reset.event_index -= gone;
    drop(&thread.calls, until_ns + kClockSlackNs);
    drop(&thread.overheads, until_ns);
  }
  drop(&trace.device_work, until_ns);
  drop(&trace.syncs, until_ns);
  drop(&trace.cpu_times, until_ns);
  drop(&trace.stack_looks, until_ns);
  return trace;
}

}  // namespace gpubound::oracle
