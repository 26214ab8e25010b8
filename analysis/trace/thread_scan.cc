// SPDX-License-Identifier: Apache-2.0
//
// One look at every thread's begin. No state.
#include "analysis/trace/thread_scan.h"

#include <algorithm>
#include <functional>

namespace gpubound {
namespace {

bool Opens(const ThreadEvent& event) {
  return event.kind == SlotKind::kBegin || event.kind == SlotKind::kRangeStart;
}

struct FirstEvents {
  int64_t operation_ns = kOpenEnded;  // an operation is open; kOpenEnded: never
  int64_t own_ns = kOpenEnded;        // the same of one that was not handed over
  int64_t step_ns = kOpenEnded;       // found only where no operation comes before
};

// Reads until an operation of the thread's own was opened.
FirstEvents ReadFirst(const EventSource& source, uint32_t thread, const LabelRoles& roles) {
  const auto is_operation = [&roles](LabelId label) {
    return roles.Of(label).operation != kNotOne;
  };
  FirstEvents first;
  const std::unique_ptr<ThreadCursor> cursor = source.ThreadEvents(thread);
  ThreadBatch batch;
  bool resumed = false;  // an operation was open when events went on
  bool handed = false;
  while (cursor->Next(&batch)) {
    if (batch.resync) {
      resumed |= std::any_of(batch.open.begin(), batch.open.end(), is_operation);
    }
    for (const ThreadEvent& event : batch.events) {
      const bool opens = Opens(event) && is_operation(event.label);
      if (resumed || opens) {
        first.operation_ns = std::min(first.operation_ns, event.time_ns);
        if (resumed || !handed) {
          first.own_ns = event.time_ns;
          return first;
        }
      }
      if (event.kind == SlotKind::kStep) first.step_ns = std::min(first.step_ns, event.time_ns);
      handed = event.kind == SlotKind::kAdopt && event.label != LabelId{};
    }
  }
  return first;
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

}  // namespace

bool OpensAny(const ProcessTrace& process, const EventSource& source,
              const std::vector<bool>& wanted) {
  const auto is_wanted = [&wanted](LabelId label) {
    return Raw(label) < wanted.size() && wanted[Raw(label)];
  };
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    const std::unique_ptr<ThreadCursor> cursor = source.ThreadEvents(t);
    ThreadBatch batch;
    while (cursor->Next(&batch)) {
      if (std::any_of(batch.open.begin(), batch.open.end(), is_wanted)) return true;
      const bool opens = std::any_of(
          batch.events.begin(), batch.events.end(),
          [&](const ThreadEvent& event) { return Opens(event) && is_wanted(event.label); });
      if (opens) return true;
    }
  }
  return false;
}

bool OpensOperations(const ProcessTrace& process, const EventSource& source) {
  std::vector<bool> operations;
  for (const Label& label : process.labels) {
    operations.push_back(label.kind == LabelKind::kOperation);
  }
  return OpensAny(process, source, operations);
}

ThreadScan ScanThreads(const ProcessTrace& process, const EventSource& source,
                       const LabelRoles& roles) {
  ThreadScan scan;
  scan.reporting = MainThread(process);
  int64_t first_ns = kOpenEnded;
  int64_t own_ns = kOpenEnded;
  int64_t step_ns = kOpenEnded;
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    const FirstEvents first = ReadFirst(source, t, roles);
    scan.annotates.push_back(first.operation_ns != kOpenEnded);
    scan.own.push_back(first.own_ns != kOpenEnded);
    scan.any_operation |= first.operation_ns != kOpenEnded;
    step_ns = std::min(step_ns, first.step_ns);
    // What was handed over to a thread, it did not open: it may be there first only where the one
    // that did is not in the trace, or at the same instant.
    const bool earlier = own_ns == kOpenEnded && first.operation_ns < first_ns;
    if (first.own_ns < own_ns || (first.own_ns == kOpenEnded && earlier)) scan.reporting = t;
    own_ns = std::min(own_ns, first.own_ns);
    first_ns = std::min(first_ns, first.operation_ns);
  }
  if (process.reporting_tid != 0) {
    const uint32_t chosen = ThreadWithTid(process, process.reporting_tid);
    if (chosen != kNotOne) scan.reporting = chosen;
  }
  scan.lane = scan.annotates;
  if (scan.reporting != kNotOne) scan.lane[scan.reporting] = false;
  scan.started_ns = first_ns != kOpenEnded ? first_ns : step_ns != kOpenEnded ? step_ns : INT64_MIN;
  return scan;
}

}  // namespace gpubound
