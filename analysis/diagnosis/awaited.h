// SPDX-License-Identifier: Apache-2.0
//
// Whom a process waited for, and what those did meanwhile. Pure.
#ifndef GPUBOUND_ANALYSIS_DIAGNOSIS_AWAITED_H_
#define GPUBOUND_ANALYSIS_DIAGNOSIS_AWAITED_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

// By pid and the operation of the waiting process.
using AwaitedRows = std::map<std::pair<int64_t, std::string>, const ReportAwaited*>;
AwaitedRows AwaitedRowsOf(const ReportProcess& process);

// What the awaited processes of |wait| did most meanwhile.
std::string MainActivity(const ReportWait& wait, const AwaitedRows& awaited);

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
