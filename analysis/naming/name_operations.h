// SPDX-License-Identifier: Apache-2.0
//
// Operations of programs that nobody annotated: hooks record facts (a module was called, an
// environment stepped, gradients computed; proto/scope_domains.h), and what a call was for is
// decided here, where what came after it is known too (thread_namer.h). Scopes that the program
// opened itself stay as they are. Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_NAMING_NAME_OPERATIONS_H_
#define GPUBOUND_ANALYSIS_NAMING_NAME_OPERATIONS_H_

#include "analysis/trace/run.h"

namespace gpubound {

// Costs a pass over the thread events of a process that has facts, and nothing otherwise.
// Afterwards its source, or the events in its vectors, have the operations.
void NameOperations(ProcessTrace* process);

// Copies the thread events of a process whose source has such operations into its vectors, 32 bytes
// for each: for who takes them in any order, as queries do. False, and nothing is copied, of any
// other process.
bool HoldNamedEvents(ProcessTrace* process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_NAMING_NAME_OPERATIONS_H_
