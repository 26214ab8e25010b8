// SPDX-License-Identifier: Apache-2.0
//
// Work that has nothing to do with what is measured, done between two occurrences as an interpreter
// and a framework would: it drives the profiler's code and data, the driver's and CUPTI's out of
// the nearest caches and out of what the processor has learnt of their branches.
#ifndef GPUBOUND_TOOLS_CALIBRATION_OTHER_WORK_H_
#define GPUBOUND_TOOLS_CALIBRATION_OTHER_WORK_H_

namespace gpubound::calibration {

// Some 30 us: a thousand of 8192 functions (a mebibyte of code) in random order, with a place of
// four mebibytes of data each. One thread.
void DoOtherWork();

}  // namespace gpubound::calibration

#endif  // GPUBOUND_TOOLS_CALIBRATION_OTHER_WORK_H_
