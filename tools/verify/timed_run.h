// SPDX-License-Identifier: Apache-2.0
//
// One run of a command whose output nobody wants, unless it fails, and whose wall time is all that
// counts.
// Single-threaded.
#ifndef GPUBOUND_TOOLS_VERIFY_TIMED_RUN_H_
#define GPUBOUND_TOOLS_VERIFY_TIMED_RUN_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/status.h"

namespace gpubound {

struct TimedRun {
  pid_t pid = 0;
  int64_t wall_ns = 0;  // from before its start to its end, without |stopped|
  int64_t cpu_ns = 0;   // of all its threads and of the children that it waited for
  int exit_status = 0;  // 128 plus the signal that ended it
  std::vector<Interval>
      stopped;  // while another run had its turn (runs_in_turns.h); CLOCK_MONOTONIC
};

// Fills in |cpu_ns| and |exit_status|: |status| and |used| are what wait4 says.
void NoteEnd(int status, const rusage& used, TimedRun* run);

struct RunInput {
  std::vector<std::string> environment;
  std::string stderr_path;  // made anew
};

// That |command| could not be started: |error| is the errno.
Error NotStarted(const std::vector<std::string>& command, int error);

// Runs |command|, its stdout going nowhere. An error: it could not be started.
Result<TimedRun> RunTimed(const std::vector<std::string>& command, const RunInput& input);

// At most the last |count| lines of the file, without those that are empty, of its last kilobytes;
// none if it cannot be read.
std::vector<std::string> LastLines(const std::string& path, size_t count);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_VERIFY_TIMED_RUN_H_
