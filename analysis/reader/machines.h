// SPDX-License-Identifier: Apache-2.0
//
// Machines and ranks of a run, by what its processes say of themselves. Pure.
#ifndef GPUBOUND_ANALYSIS_READER_MACHINES_H_
#define GPUBOUND_ANALYSIS_READER_MACHINES_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "analysis/trace/run.h"

namespace gpubound {

// What machines are called that may share a host name: the first that was named by it keeps it, the
// others are `HOST#` with the first characters of the boot id. One object, one thread.
class MachineNames {
 public:
  // |boot_id| may be empty, where it is not told: then the host name is all there is.
  std::string Of(const std::string& host, const std::string& boot_id);

 private:
  std::map<std::string, std::string> keeps_;  // host name to the boot id that keeps it
};

// That so many machines are called |host|.
std::string NoteOnSharedName(const std::string& host, size_t machines);

// Gives processes of machines that share a host name one of their own, and adds a note. The
// launcher's machine keeps the name, else that of the first process. |running|: processes of the run,
// which are renamed too.
void SeparateMachines(std::set<ProcessIdentity>* running, Run* run);

// Counts and names the ranks of a job of which no process is there, where a launcher told how many
// there are.
void NoteMissingRanks(Run* run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_MACHINES_H_
