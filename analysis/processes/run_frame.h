// SPDX-License-Identifier: Apache-2.0
//
// What a run is as a whole: which process stands for it, which time it is and by whose clock.
// Worked out once where a run has been read, and handed on. Pure functions of what the run's
// processes and launcher say; no events are read.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_RUN_FRAME_H_
#define GPUBOUND_ANALYSIS_PROCESSES_RUN_FRAME_H_

#include <cstddef>
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

struct RunFrame {
  // Numbers in Run::processes; the number of all where there is none.
  //
  // The process that the launcher started, or else the earliest whose parent is not part of the run.
  // None where several processes were imported.
  size_t root = 0;
  // The process that ends last of those that make up |span|.
  size_t last = 0;
  // The root with everything its pid became by exec, from when the launcher started it where others
  // began before it recorded (it was a shell then); without a recorded root (a shell all the time)
  // what the launcher measured, up to where the recording ended as asked (--duration); without a
  // launcher, from the first begin to the last end. In trace time of |host|.
  Interval span;
  // Whose clock is that of the run: the host of the root, else of the launcher, else of the first
  // process.
  std::string host;
};

RunFrame FrameOf(const Run& run);

// Null where there is none.
const ProcessTrace* RootOf(const Run& run, const RunFrame& frame);
const ProcessTrace* LastOf(const Run& run, const RunFrame& frame);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_RUN_FRAME_H_
