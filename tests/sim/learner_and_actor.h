// SPDX-License-Identifier: Apache-2.0
//
// A learner whose iterations open as many scopes each and are of two kinds.
#ifndef GPUBOUND_TESTS_SIM_LEARNER_AND_ACTOR_H_
#define GPUBOUND_TESTS_SIM_LEARNER_AND_ACTOR_H_

#include <cmath>
#include <cstdint>
#include <random>

#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

// One iteration in |every| lets a second thread work, which opens many scopes, and waits for it;
// the others open and close that wait as well. A wait moves with what it waits for, so the long
// iterations, beside short ones without recording, would tell that scopes cost hundreds of times
// what they do.
inline VirtualProgram LearnerAndActor(uint64_t seed, uint32_t iterations, uint32_t every) {
  VirtualProgram program;
  program.cost = {.scope_ns = 400, .deviation = 0.8, .seed = seed, .suspends = true};
  program.told_semaphores = 3;
  program.threads.resize(2);
  program.threads[0].tid = 1001;
  program.threads[1].tid = 1002;
  std::mt19937_64 random(seed);
  const auto add = [&](uint32_t thread, Action action, TimeNs cost_ns) -> Statement& {
    Statement& statement = program.threads[thread].statements.emplace_back();
    statement.action = action;
    statement.cost_ns = cost_ns;
    return statement;
  };
  const auto compute = [&](uint32_t thread, TimeNs usual_ns) {
    std::lognormal_distribution<double> time(std::log(static_cast<double>(usual_ns)), 0.1);
    add(thread, Action::kCompute, std::llround(time(random)));
  };
  const auto open = [&](uint32_t thread, const ScopeName& scope) {
    add(thread, Action::kOpen, 20).scope = scope;
  };
  for (uint32_t i = 0; i < iterations; ++i) {
    open(0, {LabelKind::kOperation, Layer::kUnset, "update"});
    compute(0, 300'000);
    add(0, Action::kClose, 20);
    const bool waits = i % every == 0;
    if (waits) add(0, Action::kSignal, 1'000).slot = 1;
    open(0, {LabelKind::kLayer, Layer::kWait, "wait"});
    if (waits) add(0, Action::kAwait, 1'000).wake_up_ns = 20'000;
    add(0, Action::kClose, 20);
    add(0, Action::kStep, 20).slot = i;
    if (!waits) continue;
    open(1, {LabelKind::kLayer, Layer::kWait, "wait"});
    Statement& wait = add(1, Action::kAwait, 1'000);
    wait.slot = 1;
    wait.wake_up_ns = 20'000;
    add(1, Action::kClose, 20);
    for (int step = 0; step < 64; ++step) {
      open(1, {LabelKind::kOperation, Layer::kUnset, "simulation"});
      compute(1, 200'000);
      add(1, Action::kClose, 20);
    }
    add(1, Action::kSignal, 1'000);
  }
  return program;
}

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_LEARNER_AND_ACTOR_H_
