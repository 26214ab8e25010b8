// SPDX-License-Identifier: Apache-2.0
//
// Processes that were recorded, as the launcher's record says, or imported together with others, as
// each of these says, and of which no file is there any more; and those of which there are files
// that were not there then. Who never was recorded is not missing: that a process is another one's
// parent, or that somebody waited for it, does not say that it was. No state.
#ifndef GPUBOUND_ANALYSIS_READER_MISSING_PROCESSES_H_
#define GPUBOUND_ANALYSIS_READER_MISSING_PROCESSES_H_

#include <set>

#include "analysis/trace/run.h"

namespace gpubound {

// |present|: who has a file in the run's directory, readable or not. |overwritten|: who had one
// that now is a copy of another's. Counts the latter and the others that RunInfo::recorded or a
// process's imported_pids list (processes_missing), adds them to Run::lost, and says in a note of
// each, up to kMostNotes, for how long others waited for it. |run| is read whole but for that.
void NoteMissingProcesses(const std::set<ProcessIdentity>& present,
                          const std::set<ProcessIdentity>& overwritten, Run* run);

// Of the host of the launcher: counts and notes the processes of |run| that are not among those
// that had a file when the command had ended (processes_unlisted), where the launcher has listed
// these.
void NoteUnlistedProcesses(Run* run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_MISSING_PROCESSES_H_
