// SPDX-License-Identifier: Apache-2.0
//
// Launches of a recorded process of whose work CUPTI told nothing, and of which nothing was counted
// as lost. Pure.
#ifndef GPUBOUND_ANALYSIS_READER_LAUNCHES_WITHOUT_WORK_H_
#define GPUBOUND_ANALYSIS_READER_LAUNCHES_WITHOUT_WORK_H_

#include <string>
#include <vector>

#include "analysis/trace/run.h"

namespace gpubound {

// Where no kernel and no graph of |process| was recorded, and calls launched some, marks GPU time
// unknown from the first of them on, and says so in |problems|. Where some were, it does so from each
// launch on whose kernel was not, until its thread has waited for the device.
void NoteLaunchesWithoutWork(ProcessTrace* process, std::vector<std::string>* problems);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_LAUNCHES_WITHOUT_WORK_H_
