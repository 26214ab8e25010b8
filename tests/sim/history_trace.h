// SPDX-License-Identifier: Apache-2.0
//
// The facts of a virtual program as the reader would hand them to the analysis, had they been
// recorded. Pure.
#ifndef GPUBOUND_TESTS_SIM_HISTORY_TRACE_H_
#define GPUBOUND_TESTS_SIM_HISTORY_TRACE_H_

#include <cstdint>

#include "analysis/trace/run.h"
#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

inline constexpr int64_t kSpanBeginNs = 5'000;  // trace time of virtual time 0

// Pid of process |process| of a virtual program.
constexpr int64_t PidOf(uint32_t process) { return 1 + int64_t{process}; }

// All threads as one process, from time 0 to when every thread has ended.
ProcessTrace TraceOf(const History& history);

// One process for each that the threads name, each until its own threads have ended; the later ones
// are children of the first.
Run RunOf(const History& history);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_HISTORY_TRACE_H_
