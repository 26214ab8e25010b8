// SPDX-License-Identifier: Apache-2.0
//
// Merges sorted runs of 64-bit keys: how the streams of many threads become one. Round by round,
// neighbours are merged without a branch that depends on the keys; recorded threads interleave at
// random, and such a branch would be mispredicted for every other key. Pure.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_MERGE_RUNS_H_
#define GPUBOUND_ANALYSIS_TIMELINE_MERGE_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpubound {

// |keys| is a sequence of sorted runs; |ends| holds the position behind each, ascending, the last
// one being the size. Afterwards |keys| is sorted as a whole. Both other vectors are used up.
void MergeRuns(std::vector<uint64_t>* keys, std::vector<size_t>* ends,
               std::vector<uint64_t>* scratch);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_MERGE_RUNS_H_
