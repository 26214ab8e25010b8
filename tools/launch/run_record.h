// SPDX-License-Identifier: Apache-2.0
//
// run.json, which the launcher leaves in a run directory: what was started, when, and how it ended.
// Format gpubound.run.v1, described in docs/architecture.md; analysis/segments/run_info.cc reads
// it. It is replaced in one step, so a reader never sees half of it, and a launcher that was killed
// leaves the half that it knew. Where the run has filled the disk there is no room for a second
// one: then the first one is written over, in the room that was made for it in the beginning.
#ifndef GPUBOUND_TOOLS_LAUNCH_RUN_RECORD_H_
#define GPUBOUND_TOOLS_LAUNCH_RUN_RECORD_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/status.h"

namespace gpubound {

struct RunRecord {
  std::vector<std::string> command;
  std::string cwd;
  std::string host;
  std::string boot_id;  // empty: not known
  std::string job;      // LaunchedJob(); empty: none
  pid_t root_pid = 0;
  int64_t start_monotonic_ns = 0;
  int64_t start_realtime_ns = 0;
  std::optional<int64_t> end_monotonic_ns;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::vector<std::string> recorded;  // RecordedIn() the run directory at the end
};

// Who has files in |run_directory|: HOST.PID.START of each process, as its files are named.
std::vector<std::string> RecordedIn(const std::string& run_directory);

std::string RenderRunRecord(const RunRecord& record);

// The job whose launchers record into |run_directory|, as the first of them has noted; empty: none,
// that is not written yet, or the first one's program has ended.
std::string JobRecordedIn(const std::string& run_directory);

// Takes away what this launcher placed, where the program could not be started.
void RemoveRunRecord(const std::string& run_directory);

// Where |run_directory| holds no run.json, though this launcher placed one, it is not the directory
// in which the recording began. Says so there: the report is not "complete" then.
void NoteReplacedDirectory(const std::string& run_directory, const RunRecord& record);

// Writes |record| as run.json of |run_directory|, mode 0600. With |replace| unset an existing one
// belongs to another launcher of the same run: it is kept, and `false` returned.
Result<bool> WriteRunRecord(const std::string& run_directory, const RunRecord& record,
                            bool replace);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_RUN_RECORD_H_
