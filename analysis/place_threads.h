// SPDX-License-Identifier: Apache-2.0
//
// Puts the threads of a process where its sums know them. Pure function.
#ifndef GPUBOUND_ANALYSIS_PLACE_THREADS_H_
#define GPUBOUND_ANALYSIS_PLACE_THREADS_H_

#include "analysis/process_sums.h"
#include "analysis/run.h"

namespace gpubound {

// First those of |sums| in their order, also such of which nothing is left, then the others.
void PlaceThreads(const ProcessSums& sums, ProcessTrace* process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PLACE_THREADS_H_
