// SPDX-License-Identifier: Apache-2.0
//
// Which process stands for a run, and which time the run is. Pure functions.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_RUN_SPAN_H_
#define GPUBOUND_ANALYSIS_PROCESSES_RUN_SPAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analysis/base/interval.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Who of a run was started by another process of it.
class ParentTable {
 public:
  explicit ParentTable(const Run& run);
  // Pid 0 says that no parent is known; an imported process may have that pid.
  bool HasParentOf(const ProcessTrace& child) const;

 private:
  std::map<std::pair<std::string, int64_t>, uint32_t> count_;  // exec: one pid, several processes
};

// The process that the launcher started, or else the earliest whose parent is not part of the run.
// Null where there is none, and where several processes were imported.
const ProcessTrace* FindRoot(const Run& run);

// The span of the run: that of its root with everything its pid became by exec, from when the
// launcher started it where others began before it recorded (it was a shell then); without a
// recorded root (a shell all the time) what the launcher measured, up to where the recording ended
// as asked (--duration); without a launcher, from the first begin to the last end.
Interval RunSpan(const Run& run, const ProcessTrace* root);

// The process that ends last of those that make up that span. Null where there is none.
const ProcessTrace* LastOfRun(const Run& run, const ProcessTrace* root);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_RUN_SPAN_H_
