// SPDX-License-Identifier: Apache-2.0
//
// First stage of the reading half: run directory in, Run out. Never writes into the directory,
// never checkpoints a database, and may run while the processes of the run still write. Call from
// any thread; calls share nothing.
#ifndef GPUBOUND_ANALYSIS_READER_READER_H_
#define GPUBOUND_ANALYSIS_READER_READER_H_

#include <functional>
#include <set>
#include <string>

#include "analysis/base/status.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Reads every process of the run at |path|. What can be read is read: corrupt chunks and half
// written files are counted in the ledger of their process and named in Run::problems. An error is
// returned when nothing can be read at all: no such directory, a directory that is no trace, a
// plain file, a trace of another format version, no readable database.
Result<Run> LoadRun(const std::string& path);

// The same, with another |wait| before a process is read again that was written to meanwhile.
Result<Run> LoadRunWaiting(const std::string& path, const std::function<void()>& wait);

// The same, but the events of processes whose files are sound stay in the files, for the engine to
// stream. The report of a run whose sources have failed() afterwards is void; LoadRun knows what is
// missing.
Result<Run> OpenRun(const std::string& path);

// One machine of a run, for the part that is made of it (analysis/parts): processes of other hosts,
// as the names of files have them, are passed over, and nothing is said of who is missing.
struct MachineOfRun {
  std::set<std::string> hosts;  // several where containers have names of their own
  bool tells_run = true;        // it says what belongs to no machine: no other one does
  bool loads = false;           // as LoadRun() does, else as OpenRun()
};
Result<Run> ReadMachine(const std::string& path, const MachineOfRun& machine);

// What is said of who is missing in a run whose processes were put together since.
void NoteWhoIsMissing(Run* run);

// The same for a run that may still go on. Of processes that run (on this machine) there is what
// their files hold by now, and their spans are open-ended; nothing is salvaged.
Result<Run> OpenGrowingRun(const std::string& path);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_READER_H_
