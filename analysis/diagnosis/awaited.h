// SPDX-License-Identifier: Apache-2.0
//
// Whom a process waited for, and what those did meanwhile. Pure.
#ifndef GPUBOUND_ANALYSIS_DIAGNOSIS_AWAITED_H_
#define GPUBOUND_ANALYSIS_DIAGNOSIS_AWAITED_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

// How long |causes| have |cause|, in ns; 0 where they do not.
int64_t TimeOfCause(const std::vector<CauseTime>& causes, const std::string& cause);

// Waits for processes that mostly did the same meanwhile.
struct WaitGroup {
  std::string activity;  // "simulation", an operation, or kNoOperation
  int64_t ns = 0;
  std::set<int64_t> pids;
  bool workers = true;  // all of them
};

// The longest first.
std::vector<WaitGroup> WaitGroups(const ReportProcess& process);

// Those of |process|'s waits whose idle time has |cause|, "simulation" or "waiting": who is waited
// for simulates, or the wait is in an operation named so; or else. In the order of the waits.
std::vector<const ReportWait*> WaitsThatExplain(const ReportProcess& process,
                                                const std::string& cause);

// Who was waited for while a GPU was idle for one cause.
struct AwaitedWhileIdle {
  double share = 0;  // of the idle time of that cause
  std::set<int64_t> pids;
};

// Waits are known by operation, not by instant: those of an operation explain no more than the time
// in which it waited while no device worked, on each device.
AwaitedWhileIdle AwaitedFor(const Report& report, const ReportProcess& process,
                            const std::string& cause);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_DIAGNOSIS_AWAITED_H_
