// SPDX-License-Identifier: Apache-2.0
//
// The critical path of a replay: the chain of what decided each instant, from the end of a process
// back to its begin. Every instant that something waits for ends a step; a step knows the one that
// it began behind, and whose time lies between the two. Going back from the last one therefore
// divides the whole span, and its parts sum to the span exactly.
//
//   thread    [ simulation ][ launch ]........[ (no operation)
//   device                       [ kernel    ]
//   steps      1 <--------- 2 <------ 3 <------------ 4
//
// Steps are written as the replay goes on, 16 bytes for each event, in memory up to 64 MiB and in
// a temporary file beyond that, and read once from the end. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_REPLAY_CRITICAL_PATH_H_
#define GPUBOUND_ANALYSIS_REPLAY_CRITICAL_PATH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/record_log.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {

// A part of a process is an operation and a layer of CPU time or a class of device work.
inline constexpr uint32_t kPathLayers = 8;  // values of Layer
inline constexpr uint32_t kPathColumns = kPathLayers + kWorkClasses;

// "python", "cuda_api", "gpu compute".
std::string PathColumnName(uint32_t column);

struct PathStep {
  double at;        // its end, as Moment::at
  uint32_t before;  // number of the step that it began behind; 0: none
  uint32_t part;
};

struct PathTime {
  int64_t ns = 0;
  int64_t loop_ns = 0;
};

class PathLog {
 public:
  explicit PathLog(std::string folder) : space_(std::move(folder), kMemory), log_(&space_) {}

  // The number of the new step, from 1.
  uint32_t Add(uint32_t before, uint32_t part, double at) {
    log_.open_block().push_back({at, before, part});
    if (log_.full()) log_.Seal();
    return ++steps_;
  }
  // Time by part of what leads to |last|, within |span|, to whose length it sums, and that of it
  // within |loop|, which lies in |span|; |origin_ns| is where times of steps count from. Nothing is
  // added afterwards.
  std::vector<PathTime> PartsUntil(uint32_t last, int64_t origin_ns, const Interval& span,
                                   const Interval& loop);
  const std::optional<Error>& error() const { return space_.error(); }

 private:
  static constexpr size_t kMemory = size_t{64} << 20;
  LogSpace space_;
  RecordLog<PathStep> log_;
  uint32_t steps_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_CRITICAL_PATH_H_
