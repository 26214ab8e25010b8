// SPDX-License-Identifier: Apache-2.0
//
// Puts the threads of a process where its sums know them. Pure functions.
#ifndef GPUBOUND_ANALYSIS_READER_PLACE_THREADS_H_
#define GPUBOUND_ANALYSIS_READER_PLACE_THREADS_H_

#include <cstdint>
#include <vector>

#include "analysis/segments/process_sums.h"
#include "analysis/trace/run.h"

namespace gpubound {

// First those of |sums| in their order, also such of which nothing is left, then the others.
void PlaceThreads(const ProcessSums& sums, ProcessTrace* process);

// Of the threads that are no part of |ordinals| the last events are there.
void MarkThinnedTails(const std::vector<uint32_t>& ordinals, ProcessTrace* process);

// The main thread reports even if nothing but its API calls was recorded, which would leave it
// without a row.
void AddMainThread(ProcessTrace* process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_PLACE_THREADS_H_
