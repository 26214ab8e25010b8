// SPDX-License-Identifier: Apache-2.0
//
// Programs of threads that let each other go on: what a replay of one says, and how long another
// one takes with the change really made.
#ifndef GPUBOUND_TESTS_SIM_REPLAYED_THREADS_H_
#define GPUBOUND_TESTS_SIM_REPLAYED_THREADS_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>

#include "analysis/replay/replay.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/workloads.h"

namespace gpubound::sim {

inline TimeNs SpanOf(const VirtualProgram& program) { return Execute(program, nullptr).span_ns; }

// A statement that is added to |thread|; the reference holds until the next one is.
inline Statement& Add(VirtualProgram* program, uint32_t thread, Action action, TimeNs cost_ns) {
  Statement& statement = program->threads[thread].statements.emplace_back();
  statement.action = action;
  statement.cost_ns = cost_ns;
  return statement;
}

// With what |thread| does in its operation |factor| times as long.
inline VirtualProgram Scaled(VirtualProgram program, uint32_t thread, double factor) {
  for (Statement& statement : program.threads[thread].statements) {
    if (statement.action != Action::kCompute) continue;
    statement.cost_ns = std::llround(static_cast<double>(statement.cost_ns) * factor);
  }
  return program;
}

inline ReplayFacts Replayed(const VirtualProgram& program, const ReplayOptions& options) {
  Result<ReplayedRun> replayed = ReplayRun(RunOf(Execute(program, nullptr)), options);
  EXPECT_TRUE(replayed.ok());
  return std::move((*replayed).facts.front());
}

inline double LengthOf(const ReplayFacts& facts) {
  return static_cast<double>(facts.span_end_ns - facts.span_begin_ns);
}

// By how many times the length that a replay says with the profiler's costs taken out is that
// without a profiler.
inline double CorrectedOverTruth(const VirtualProgram& program) {
  ReplayOptions options;
  options.keep_events = false;
  options.costs = CalibratedCosts(program, 100'000);
  return LengthOf(Replayed(program, options)) /
         static_cast<double>(SpanOf(Uninstrumented(program)));
}

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_REPLAYED_THREADS_H_
