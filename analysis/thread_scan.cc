// SPDX-License-Identifier: Apache-2.0
//
// One pass over every thread's events for what crosses threads. No state.
#include "analysis/thread_scan.h"

#include <algorithm>
#include <unordered_map>

namespace gpubound {
namespace {

bool OpensOperation(const ThreadEvent& event, const LabelRoles& roles) {
  switch (event.kind) {
    case SlotKind::kBegin:
    case SlotKind::kRangeStart:
      return roles.Of(event.label).operation != kNotOne;
    default:
      return false;
  }
}

// Time at which |thread| first has an operation open; kOpenEnded when it never has.
int64_t FirstOperation(const ThreadTrace& thread, const LabelRoles& roles) {
  int64_t first_ns = kOpenEnded;
  for (const ThreadEvent& event : thread.events) {
    if (!OpensOperation(event, roles)) continue;
    first_ns = event.time_ns;
    break;
  }
  for (const StackReset& reset : thread.resets) {
    if (reset.event_index >= thread.events.size()) break;
    const bool any = std::any_of(reset.open.begin(), reset.open.end(), [&](LabelId label) {
      return roles.Of(label).operation != kNotOne;
    });
    if (any) return std::min(first_ns, thread.events[reset.event_index].time_ns);
  }
  return first_ns;
}

uint32_t ThreadWithTid(const ProcessTrace& process, uint32_t tid) {
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    if (process.threads[t].tid == tid) return t;
  }
  return kNotOne;
}

uint32_t MainThread(const ProcessTrace& process) {
  // On Linux the main thread's id is the process id; a trace that was cut may lack main_tid.
  const uint32_t tid =
      process.main_tid != 0 ? process.main_tid : static_cast<uint32_t>(process.identity.pid);
  return ThreadWithTid(process, tid);
}

void FindReportingThread(const ProcessTrace& process, const LabelRoles& roles, ThreadScan* scan) {
  int64_t earliest_ns = kOpenEnded;
  scan->reporting = MainThread(process);
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    const int64_t first_ns = FirstOperation(process.threads[t], roles);
    scan->annotates[t] = first_ns != kOpenEnded;
    if (first_ns < earliest_ns) {
      earliest_ns = first_ns;
      scan->reporting = t;
    }
  }
  if (process.reporting_tid == 0) return;
  const uint32_t chosen = ThreadWithTid(process, process.reporting_tid);
  if (chosen != kNotOne) scan->reporting = chosen;
}

void FindForeignEnds(const ProcessTrace& process, ThreadScan* scan) {
  std::unordered_map<uint64_t, uint32_t> owner;
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    for (const ThreadEvent& event : process.threads[t].events) {
      if (event.kind == SlotKind::kRangeStart) owner[event.payload] = t;
    }
  }
  if (owner.empty()) return;
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    for (const ThreadEvent& event : process.threads[t].events) {
      if (event.kind != SlotKind::kRangeEnd) continue;
      const auto found = owner.find(event.payload);
      if (found == owner.end() || found->second == t) continue;
      scan->foreign_ends[found->second].push_back({event.time_ns, event.payload});
    }
  }
  for (std::vector<ForeignRangeEnd>& ends : scan->foreign_ends) {
    std::sort(ends.begin(), ends.end(), [](const ForeignRangeEnd& a, const ForeignRangeEnd& b) {
      return std::pair(a.time_ns, a.range) < std::pair(b.time_ns, b.range);
    });
  }
}

void FindPauses(const ProcessTrace& process, ThreadScan* scan) {
  std::vector<std::pair<int64_t, bool>> switches;  // (time, recording goes on)
  for (const ThreadTrace& thread : process.threads) {
    for (const ThreadEvent& event : thread.events) {
      if (event.kind == SlotKind::kPause) {
        switches.emplace_back(event.time_ns, false);
      } else if (event.kind == SlotKind::kResume) {
        switches.emplace_back(event.time_ns, true);
      }
    }
  }
  std::sort(switches.begin(), switches.end());
  int64_t paused_at_ns = kOpenEnded;
  for (const auto& [time_ns, resumes] : switches) {
    if (!resumes) {
      paused_at_ns = std::min(paused_at_ns, time_ns);
    } else if (paused_at_ns != kOpenEnded) {
      scan->pauses.push_back({paused_at_ns, time_ns});
      paused_at_ns = kOpenEnded;
    }
  }
  if (paused_at_ns != kOpenEnded) scan->pauses.push_back({paused_at_ns, kOpenEnded});
}

}  // namespace

ThreadScan ScanThreads(const ProcessTrace& process, const LabelRoles& roles) {
  ThreadScan scan;
  scan.annotates.resize(process.threads.size());
  scan.foreign_ends.resize(process.threads.size());
  FindReportingThread(process, roles, &scan);
  FindForeignEnds(process, &scan);
  FindPauses(process, &scan);
  return scan;
}

}  // namespace gpubound
