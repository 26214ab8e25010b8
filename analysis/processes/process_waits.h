// SPDX-License-Identifier: Apache-2.0
//
// Waits of processes for each other as they are told on: from those that waited to those that were
// awaited. There may be as many as a run has events, so each is told once, however many processes
// were awaited together, and names are kept once:
//
//   ProcessWaits   operations "simulation" "update"
//                  groups     {7}        times (begin, end, operation) ...
//                             {7 8 9}    times ...
//
// Plain values.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_PROCESS_WAITS_H_
#define GPUBOUND_ANALYSIS_PROCESSES_PROCESS_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/trace/row_names.h"

namespace gpubound {

// Time of one host under an operation, by its place in a table of names.
struct TimeUnder {
  Interval time;
  uint32_t operation = 0;
};
static_assert(sizeof(TimeUnder) == 24, "docs/architecture.md says so");

// Waits of a process for others, for all of them at once.
struct GroupWaits {
  std::vector<int64_t> pids;     // ascending
  std::vector<TimeUnder> times;  // ascending, disjoint
};

// Waits of the reporting thread of a process, by whom they were for. At no time it is in two.
struct ProcessWaits {
  std::vector<std::string> operations;
  std::vector<GroupWaits> groups;
};

// Else who is waited for has nothing to inherit from it.
inline bool IsLeft(const std::string& operation) { return operation != kNoOperation; }

// Waits of one process for one group; all of it outlives the object.
struct WaitList {
  size_t waiter = 0;  // the process, in the run
  const std::vector<std::string>* operations = nullptr;
  const GroupWaits* waits = nullptr;
  const std::string& OperationOf(const TimeUnder& wait) const {
    return (*operations)[wait.operation];
  }
};

// What a process inherits: under which operations of others it is waited for.
struct Heritage {
  std::vector<std::string> operations;
  std::vector<TimeUnder> times;  // ascending, disjoint
  bool empty() const { return times.empty(); }
};

// Adds to a heritage, in order of time.
class Bequest {
 public:
  void Add(const Interval& time, const std::string& operation) {
    if (time.empty()) return;
    const auto [name, is_new] =
        index_.try_emplace(operation, static_cast<uint32_t>(heritage_.operations.size()));
    if (is_new) heritage_.operations.push_back(operation);
    heritage_.times.push_back({time, name->second});
  }
  Heritage Take() { return std::move(heritage_); }

 private:
  Heritage heritage_;
  std::map<std::string, uint32_t> index_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_PROCESS_WAITS_H_
