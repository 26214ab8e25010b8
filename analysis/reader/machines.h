// SPDX-License-Identifier: Apache-2.0
//
// Machines and ranks of a run, by what its processes say of themselves. Pure.
#ifndef GPUBOUND_ANALYSIS_READER_MACHINES_H_
#define GPUBOUND_ANALYSIS_READER_MACHINES_H_

#include <set>

#include "analysis/trace/run.h"

namespace gpubound {

// Gives processes of machines that share a host name one of their own, `HOST#` with the first
// characters of the boot id, and adds a note. The launcher's machine keeps the name, else that of
// the first process. |running|: processes of the run, which are renamed too.
void SeparateMachines(std::set<ProcessIdentity>* running, Run* run);

// Counts and names the ranks of a job of which no process is there, where a launcher told how many
// there are.
void NoteMissingRanks(Run* run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_MACHINES_H_
