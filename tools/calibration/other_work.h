// SPDX-License-Identifier: Apache-2.0
//
// Code that has nothing to do with what is measured, executed between two occurrences as an
// interpreter and a framework would: it drives the profiler's code, the driver's and CUPTI's out of
// the instruction caches and out of what the processor has learnt of their branches.
#ifndef GPUBOUND_TOOLS_CALIBRATION_OTHER_WORK_H_
#define GPUBOUND_TOOLS_CALIBRATION_OTHER_WORK_H_

namespace gpubound::calibration {

// Executes half a mebibyte of machine code once, some 10 to 40 us: as much as PyTorch does between
// two launches of an eager program (docs/results/gpu.md has what less does).
void DoOtherWork();

}  // namespace gpubound::calibration

#endif  // GPUBOUND_TOOLS_CALIBRATION_OTHER_WORK_H_
