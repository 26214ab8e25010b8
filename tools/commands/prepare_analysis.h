// SPDX-License-Identifier: Apache-2.0
//
// What makes commands quick that analyse runs. Once, before threads are started.
#ifndef GPUBOUND_TOOLS_COMMANDS_PREPARE_ANALYSIS_H_
#define GPUBOUND_TOOLS_COMMANDS_PREPARE_ANALYSIS_H_

namespace gpubound {

// Raises the soft limit of open files to the hard one: of a run each process has a file that stays
// open. Not for commands that start a program, which would inherit it.
void AllowManyFiles();

// AllowManyFiles(); and what is made of runs is kept in large pages, and threads wait for each
// other less.
void PrepareAnalysis();

// That, and sealed runs are read where they lie in the page cache (Database::MapFiles). From then
// on a disk that fails while it is read ends the command with a message and kExitUnreadable, so
// this is for commands that have nothing to leave behind.
void PrepareAnalysisOfMapped();

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_PREPARE_ANALYSIS_H_
