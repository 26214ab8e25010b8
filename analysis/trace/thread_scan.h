// SPDX-License-Identifier: Apache-2.0
//
// What has to be known of all threads of a process before their events can be merged: which one
// reports, which speak for themselves. Reads each thread as far as its first operation. Pure.
#ifndef GPUBOUND_ANALYSIS_TRACE_THREAD_SCAN_H_
#define GPUBOUND_ANALYSIS_TRACE_THREAD_SCAN_H_

#include <cstdint>
#include <vector>

#include "analysis/trace/event_source.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct ThreadScan {
  // The thread that an importer chose, else the one that opened the first operation that was not
  // handed over to it, else the one that was handed the first, else the main thread; kNotOne when
  // there is no row for any. Index into ProcessTrace::threads, as are the positions of the vectors
  // below.
  uint32_t reporting = kNotOne;
  std::vector<bool> annotates;  // has operations of its own, so it never adopts
  std::vector<bool> own;        // opens some that it was not handed
  std::vector<bool> lane;       // annotates, and does not report
  bool any_operation = false;
  // When start-up ended: at the first operation, else at the first step; before everything
  // where there is neither.
  int64_t started_ns = INT64_MIN;
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(reporting, annotates, own, lane, any_operation, started_ns);
  }
};

// True when a thread of the process opens a scope of a label that |wanted|, by label id, holds.
bool OpensAny(const ProcessTrace& process, const EventSource& source,
              const std::vector<bool>& wanted);

// True when a thread of the process opens at least one operation, as opposed to an annotation.
bool OpensOperations(const ProcessTrace& process, const EventSource& source);

ThreadScan ScanThreads(const ProcessTrace& process, const EventSource& source,
                       const LabelRoles& roles);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_THREAD_SCAN_H_
