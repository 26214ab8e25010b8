// SPDX-License-Identifier: Apache-2.0
//
// From blocks of equal work, done in turns by a program with the profiler in it and by one without,
// to what the profiler costs per occurrence. Pure.
#ifndef GPUBOUND_ANALYSIS_CALIBRATION_PAIRED_BLOCKS_H_
#define GPUBOUND_ANALYSIS_CALIBRATION_PAIRED_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "analysis/calibration/cost_model.h"

namespace gpubound {

// Of one pair of processes. Times are ns per occurrence.
struct PairedBlocks {
  uint64_t count = 1;  // occurrences in each block
  // Block i with the profiler and block i without were made one right after the other.
  std::vector<double> on_ns;
  std::vector<double> off_ns;
  // Likewise, once the recording had ended in the process with the profiler: what these differ by
  // is the two processes, not the profiler. Empty: that was not measured.
  std::vector<double> ended_on_ns;
  std::vector<double> ended_off_ns;
  // Between the two time stamps of the event, as recorded; below 0: the event has one time stamp.
  double recorded_ns = -1;
  // Standard deviation of that as a part of it, by which single occurrences vary where a block is
  // other work for the most part and varies as that does; below 0: blocks tell.
  double variation = -1;
  // What would lie between the two time stamps without the profiler.
  double bare_ns = 0;
  // Of a CUDA call: how long CUPTI took to enter it, on average; 0: not known.
  double entry_ns = 0;
};

// Each pair of processes is one group (MeanOfGroups). Samples are 0 where there is no pair of
// blocks.
Cost CostOf(const std::vector<PairedBlocks>& processes);

// Of whole lives of programs, |on_ns| with the profiler and |off_ns| without. On a busy machine
// other programs lengthen every one of them, and none is ever shortened: so it is the difference
// between the shortest lives, and never below zero. Its error is how far the third shortest are
// from those: the second shortest may lie beside the shortest by chance, and of ten lives 1.96 of
// such an error then hold the truth in 86 % of cases instead of 98 %, over exponential, lognormal
// and normal disturbances. Of fewer than three lives it is the shortest one's length: nothing is
// known.
Cost CostOfLives(std::vector<double> on_ns, std::vector<double> off_ns);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CALIBRATION_PAIRED_BLOCKS_H_
