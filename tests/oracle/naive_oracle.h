// SPDX-License-Identifier: Apache-2.0
//
// The breakdown of a process computed the slow way: for every single nanosecond the state of every
// thread is worked out from all its events, as SPEC sections 1 and 2 word it. It shares no code
// with the analysis and knows only the names that random_trace.h uses.
#ifndef GPUBOUND_TESTS_ORACLE_NAIVE_ORACLE_H_
#define GPUBOUND_TESTS_ORACLE_NAIVE_ORACLE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/trace/run.h"
#include "tests/oracle/naive_threads.h"

namespace gpubound::oracle {

// What looks at a thread tell of an operation.
struct NaiveCpu {
  int64_t told = 0;
  int64_t on_cpu = 0;
  int64_t ready = 0;
  friend bool operator==(const NaiveCpu&, const NaiveCpu&) = default;
};

// Launches of an operation, one for each call and stream.
struct NaiveLaunches {
  std::multiset<int64_t> leads;
  std::multiset<int64_t> depths;
  uint64_t kernels = 0;
  uint64_t shorter_kernels = 0;
};

struct NaiveBreakdown {
  std::map<std::string, int64_t> stacks;    // "operation|function>function" -> looks; also below
  std::map<std::string, int64_t> runnable;  // by operation
  std::map<std::string, int64_t> cells;     // "phase|operation|layer|gpu" -> ns
  std::map<std::string, int64_t> columns;   // "operation|column" -> ns
  std::map<std::string, int64_t> waiting;   // "phase|operation" -> ns of that column; some are zero
  std::map<std::string, int64_t> caused;    // by operation, as the maps below
  std::map<std::string, int64_t> sum;
  std::map<std::string, int64_t> inclusive;    // without (no operation)
  std::map<std::string, int64_t> count;        // without (no operation)
  std::map<std::string, int64_t> transitions;  // "operation|from->to"
  uint64_t adopted = 0;                        // of them, of threads that adopt
  std::map<std::string, int64_t> idle;  // "operation|cause" -> ns, summed over the used devices
  std::map<std::string, std::map<std::string, int64_t>> lanes;  // by tid: cells
  // "tid|operation", without (no operation), as those of the reporting thread above.
  std::map<std::string, int64_t> lane_inclusive;
  std::map<std::string, int64_t> lane_count;
  // "operation|name of the work|class": how often, and the sum within the span
  std::map<std::string, std::pair<uint64_t, int64_t>> kernels;
  std::map<std::string, NaiveLaunches> launches;               // by operation
  std::map<int64_t, std::pair<std::string, std::string>> did;  // operation, layer: by instant
  std::map<int64_t, std::string> cause;                        // of idle time, as the CPU tells it
  std::map<int64_t, std::string> phase;                        // by instant
  // By device and instant: "queued" or "event-wait", where the CPU tells nothing.
  std::map<std::pair<uint32_t, int64_t>, std::string> queued;
  std::map<int64_t, std::string> all_idle;  // the cause of time in which no device works
  std::map<std::string, NaiveCpu> cpu;      // by operation
  std::map<std::string, std::map<std::string, NaiveCpu>> lane_cpu;  // by tid, then likewise
  int64_t busy = 0;
  int64_t wait = 0;
};

// What a process has to do with the others of its run.
struct Surroundings {
  NaiveThreads::Awaited awaited;
  std::set<int64_t> simulating;                  // of those processes
  std::map<int64_t, std::string> awaited_under;  // what is inherited, by instant
};

NaiveBreakdown BreakDownNaively(const ProcessTrace& process, const Surroundings& others = {});

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_NAIVE_ORACLE_H_
