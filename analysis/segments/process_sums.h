// SPDX-License-Identifier: Apache-2.0
//
// What is kept of the time before an instant whose events may be gone: the engine's state there and
// what the stages around it knew (docs/long_runs.md). Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_PROCESS_SUMS_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_PROCESS_SUMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/state_archive.h"
#include "analysis/trace/process_tree_peaks.h"
#include "analysis/trace/run.h"
#include "analysis/trace/thread_scan.h"
#include "analysis/trace/told_progress.h"

namespace gpubound {

// A thread by its place in ProcessTrace::threads, which it keeps.
struct SummedThread {
  ThreadId ordinal{};
  uint32_t tid = 0;
  int64_t began_ns = kOpenEnded;  // its first event; kOpenEnded: none was seen
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(ordinal, tid, began_ns);
  }
};

// So far the events of a writer had been written when they were summed. Of those that are gone,
// the last ended before |gone_until|, a sequence number.
struct SummedWriter {
  EventFamily family = EventFamily::kNone;
  uint32_t thread = 0;
  uint64_t seen_until = 0;
  uint64_t gone_until = 0;
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(family, thread, seen_until, gone_until);
  }
};

// Time for which the reporting thread waited for other processes, by operation.
struct SummedWait {
  std::vector<int64_t> pids;
  std::string operation;
  int64_t ns = 0;
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(pids, operation, ns);
  }
};

// What NVML said of a device from |begin_ns| on, to where the next of that device begins: parts of
// the run are told apart.
struct SummedUtilization {
  std::string uuid;
  int64_t begin_ns = 0;
  int64_t samples = 0;
  int64_t percents = 0;
  int64_t memory_peak_bytes = kNotKnown;
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(uuid, begin_ns, samples, percents, memory_peak_bytes);
  }
};

struct ProcessSums {
  ProcessIdentity identity;
  int64_t until_ns = INT64_MIN;  // trace time; events that begin before are in the sums
  std::vector<SummedThread> threads;
  std::vector<SummedWriter> writers;
  std::vector<std::string> operations;  // names by number
  std::vector<std::string> phases;      // likewise
  // What labels meant, for so many of them: a later reading that differs is a contradiction.
  uint64_t labels = 0;
  uint64_t roles = 0;
  ThreadScan scan;
  bool opens_operations = false;
  bool simulates = false;
  bool inherits = false;  // operations of a process that waited for it
  std::vector<SummedWait> waits;
  std::vector<SummedUtilization> utilization;
  TreePeaks process_tree;
  ToldValues progress;
  std::string sweep;  // SweepStop::state

  void Visit(StateArchive& archive);
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_PROCESS_SUMS_H_
