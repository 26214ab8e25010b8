// SPDX-License-Identifier: Apache-2.0
//
// Programs of threads that let each other go on: what a replay of one says, and how long another
// one takes with the change really made.
#ifndef GPUBOUND_TESTS_SIM_REPLAYED_THREADS_H_
#define GPUBOUND_TESTS_SIM_REPLAYED_THREADS_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

// |count| threads, each in a process and on a stream of its own, of which kernels run side by side.
inline VirtualProgram ProcessesWithAThread(uint32_t count) {
  VirtualProgram program;
  program.python = true;
  program.streams = 1 + count;
  program.device.compute_slots = 1 + count;
  program.threads.resize(count);
  for (uint32_t t = 0; t < count; ++t) {
    program.threads[t].tid = 1000 + t;
    program.threads[t].process = t;
    program.threads[t].start_ns = t;
  }
  return program;
}

inline void AddSignal(VirtualProgram* program, uint32_t thread, uint32_t semaphore) {
  Add(program, thread, Action::kSignal, 1'000).slot = semaphore;
}

// A wait for |process|, which signals |semaphore|.
inline void AddAwait(VirtualProgram* program, uint32_t thread, uint32_t semaphore,
                     uint32_t process) {
  Statement& open = Add(program, thread, Action::kOpen, 100);
  open.scope = {LabelKind::kLayer, Layer::kWait, std::to_string(PidOf(process)), "process"};
  open.slot = 1;
  Add(program, thread, Action::kAwait, 1'000).slot = semaphore;
  Add(program, thread, Action::kClose, 100).slot = 1;
}

// From the end of its first iteration to that of its last.
inline double LoopOf(const VirtualProgram& program) {
  const std::vector<StepFact> steps = Execute(program, nullptr).steps;
  return static_cast<double>(steps.back().time_ns - steps.front().time_ns);
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
