// SPDX-License-Identifier: Apache-2.0
//
// Device work that was salvaged from a process which was killed before the row of its stream was
// written. Pure.
#ifndef GPUBOUND_ANALYSIS_READER_STRAY_WORK_H_
#define GPUBOUND_ANALYSIS_READER_STRAY_WORK_H_

#include "analysis/trace/run.h"

namespace gpubound {

// Gives such work a stream of the one device on which the |process| has contexts, or which it
// knows. Where these are several, its time is unknown and it counts as lost. A process that knows
// no device at all keeps it, on a device without a name.
void PlaceStrayWork(ProcessTrace* process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_STRAY_WORK_H_
