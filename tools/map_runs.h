// SPDX-License-Identifier: Apache-2.0
//
// Lets a command read sealed runs where they lie in the page cache (Database::MapFiles), and says
// what happened where that goes wrong. Once, before threads are started.
#ifndef GPUBOUND_TOOLS_MAP_RUNS_H_
#define GPUBOUND_TOOLS_MAP_RUNS_H_

namespace gpubound {

// From then on a disk that fails while it is read ends the command with kExitUnreadable.
void MapRuns();

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_MAP_RUNS_H_
