// SPDX-License-Identifier: Apache-2.0
//
// Two runs of a command at a time of which one works while the other is stopped, in short turns, so
// that whatever else the machine does meets both alike. Two whole runs one after the other meet
// different moments of it, and differ by several percent for that reason alone.
//
// Both work on the same processor, drawn anew every eight pairs of turns, unless their threads work
// in parallel or the program itself keeps them elsewhere (working_threads.h).
//
// A run is stopped by SIGSTOP to its process group: processes that leave the group, and devices, go
// on. Single-threaded; signal masks belong to the calling thread.
#ifndef GPUBOUND_TOOLS_VERIFY_RUNS_IN_TURNS_H_
#define GPUBOUND_TOOLS_VERIFY_RUNS_IN_TURNS_H_

#include <array>
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "tools/verify/timed_run.h"

namespace gpubound {

// Runs |command| once with each of |inputs|, their stdin and stdout going nowhere. A turn takes
// |turn| give or take a quarter, so that nothing that comes back regularly falls to one of them;
// which one begins is random for each pair of turns, too. When one has ended, the other goes on by
// itself. wall_ns of the result is the time of a run's turns, TimedRun::stopped what lies between
// them.
//
// Both are killed where this process is told to end (SIGINT, SIGQUIT, SIGTERM, SIGHUP) or dies. An
// error: one could not be started.
Result<std::array<TimedRun, 2>> RunInTurns(const std::vector<std::string>& command,
                                           const std::array<RunInput, 2>& inputs,
                                           std::chrono::nanoseconds turn, std::mt19937_64* random);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_VERIFY_RUNS_IN_TURNS_H_
