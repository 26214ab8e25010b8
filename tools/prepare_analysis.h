// SPDX-License-Identifier: Apache-2.0
//
// What makes a command quick that analyses runs: it reads sealed ones where they lie in the page
// cache (Database::MapFiles), says what happened where that goes wrong, keeps what it makes of them
// in large pages, and has its threads wait for each other less. Once, before threads are started.
#ifndef GPUBOUND_TOOLS_PREPARE_ANALYSIS_H_
#define GPUBOUND_TOOLS_PREPARE_ANALYSIS_H_

namespace gpubound {

// From then on a disk that fails while it is read ends the command with kExitUnreadable.
void PrepareAnalysis();

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_PREPARE_ANALYSIS_H_
