// SPDX-License-Identifier: Apache-2.0
//
// What a process and everything that it started use of the CPU and of memory, from /proc: no
// privilege, no cost to those processes. Reads files; any thread.
#ifndef GPUBOUND_CUPTI_HOOKS_PROCESS_TREE_H_
#define GPUBOUND_CUPTI_HOOKS_PROCESS_TREE_H_

#include <cstdint>
#include <string>

#include "proto/event_model.h"

namespace gpubound {

// |proc| is "/proc". A process that ends meanwhile is left out. CPU time is that of the tree's
// processes and of those of their children that they waited for, so it never decreases unless a
// process is orphaned; the run-queue delay is that of the threads which live. All zero when |pid|
// cannot be read.
ProcessTreeSample MeasureProcessTree(const std::string& proc, uint32_t pid);

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_PROCESS_TREE_H_
