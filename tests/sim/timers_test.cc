// SPDX-License-Identifier: Apache-2.0
//
// A thread that sets timers and does something else until they come, as an event loop does whose
// environments answer after a while: what a replay says of it with that made faster or slower is
// what comes out with the change made.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "tests/sim/replayed_threads.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/workloads.h"

namespace gpubound::sim {
namespace {

constexpr TimeNs kDelayNs = 300'000;

// Each iteration sets |timers|, each later than the one before, trains for about |training_ns| and
// waits for one after the other, with a little to do about each. Without |told| it does not say
// what it waits for, as where that is a socket.
VirtualProgram EventLoop(TimeNs training_ns, uint32_t timers, bool told = true) {
  VirtualProgram program;
  program.python = true;
  program.threads.push_back({.tid = 1, .start_ns = 0, .statements = {}});
  std::mt19937_64 random(timers);
  std::uniform_int_distribution<TimeNs> training(training_ns / 2, training_ns * 3 / 2);
  const ScopeName wait = {LabelKind::kLayer, Layer::kWait, "EpollSelector.select"};
  const ScopeName operation = {LabelKind::kOperation, Layer::kUnset, "training"};
  for (uint32_t iteration = 1; iteration <= 100; ++iteration) {
    for (uint32_t i = 0; i < timers; ++i) {
      Statement& set = Add(&program, 0, Action::kSetTime, 500);
      set.slot = i;
      set.delay_ns = kDelayNs + 50'000 * i;
      set.told = told;
    }
    Add(&program, 0, Action::kOpen, 100).scope = operation;
    Add(&program, 0, Action::kCompute, training(random));
    Add(&program, 0, Action::kClose, 100);
    for (uint32_t i = 0; i < timers; ++i) {
      Add(&program, 0, Action::kOpen, 100).scope = wait;
      Statement& await = Add(&program, 0, Action::kAwaitTime, 500);
      await.slot = i;
      await.wake_up_ns = 2'000;
      await.told = told;
      Add(&program, 0, Action::kClose, 10'000);
    }
    Add(&program, 0, Action::kStep, 100).slot = iteration;
  }
  return program;
}

ReplayOptions WithTraining(double factor) {
  ReplayOptions options;
  options.keep_events = false;
  options.changes.scalings.push_back({ScaledPart::kOperationCpu, "training", factor});
  return options;
}

TEST(Timers, ComeWhenTheyComeWhateverIsDoneMeanwhile) {
  for (const uint32_t timers : {1U, 4U}) {
    // The work is shorter than the wait, about as long, and longer: then nothing is waited for.
    for (const TimeNs training_ns : {50'000, 300'000, 900'000}) {
      const VirtualProgram program = EventLoop(training_ns, timers);
      for (const double factor : {0.0, 0.5, 2.0, 10.0}) {
        const ReplayFacts facts = Replayed(program, WithTraining(factor));
        const auto truth = static_cast<double>(SpanOf(Scaled(program, 0, factor)));
        EXPECT_NEAR(LengthOf(facts) / truth, 1, 0.01)
            << timers << " timers, " << training_ns << " ns of work x " << factor;
        EXPECT_EQ(facts.waits_sooner_ns, 0);
        EXPECT_EQ(facts.waits_later_ns, 0);
      }
    }
  }
}

TEST(Timers, WhatTheProfilerCostsBesideThemIsNoTimeOfTheProgram) {
  for (const TimeNs training_ns : {50'000, 300'000, 900'000}) {
    VirtualProgram program = EventLoop(training_ns, 2);
    program.cost = {.scope_ns = 5'000, .deviation = 0.5, .seed = 1};
    EXPECT_NEAR(CorrectedOverTruth(program), 1, 0.01) << training_ns;
  }
}

// Then the interval has to hold that the wait would have ended as it did.
TEST(Timers, WhatNobodyKnowsOfWaitsForAnyOfSeveralThingsIsSaid) {
  const VirtualProgram program = EventLoop(100'000, 1, false);
  for (const double factor : {0.0, 0.5, 2.0, 10.0}) {
    const ReplayFacts facts = Replayed(program, WithTraining(factor));
    const auto truth = static_cast<double>(SpanOf(Scaled(program, 0, factor)));
    EXPECT_LE(LengthOf(facts) - facts.waits_sooner_ns, truth * 1.01) << factor;
    EXPECT_GE(LengthOf(facts) + facts.waits_later_ns, truth * 0.99) << factor;
    EXPECT_GT(std::abs(LengthOf(facts) / truth - 1), 0.02) << factor;
  }
}

// An actor that sleeps, as one whose environment answers after a while, and makes an item then, and
// a learner, which reports, that trains for about |training_ns| and takes it.
VirtualProgram SleepingActor(TimeNs training_ns) {
  VirtualProgram program;
  program.python = true;
  program.told_items = ~uint64_t{0};
  program.threads.push_back({.tid = 1, .start_ns = 0, .statements = {}});
  program.threads.push_back({.tid = 2, .start_ns = 0, .statements = {}});
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same each time
  std::uniform_int_distribution<TimeNs> training(training_ns / 2, training_ns * 3 / 2);
  const auto open = [&](uint32_t thread, Layer layer, const char* name) {
    const LabelKind kind = layer == Layer::kUnset ? LabelKind::kOperation : LabelKind::kLayer;
    Add(&program, thread, Action::kOpen, 100).scope = {kind, layer, name};
  };
  for (uint32_t iteration = 1; iteration <= 100; ++iteration) {
    open(0, Layer::kUnset, "training");
    Add(&program, 0, Action::kCompute, training(random));
    Add(&program, 0, Action::kClose, 100);
    open(0, Layer::kWait, "Condition.wait");
    Add(&program, 0, Action::kAwait, 1'000).wake_up_ns = 10'000;
    Add(&program, 0, Action::kClose, 100);
    Add(&program, 0, Action::kStep, 100).slot = iteration;
    open(1, Layer::kWait, "time.sleep");
    Statement& set = Add(&program, 1, Action::kSetTime, 100);
    set.delay_ns = kDelayNs;
    set.told = false;
    Statement& sleep = Add(&program, 1, Action::kAwaitTime, 100);
    sleep.wake_up_ns = 2'000;
    sleep.told = false;
    Add(&program, 1, Action::kClose, 100);
    open(1, Layer::kUnset, "simulation");
    Add(&program, 1, Action::kCompute, 50'000);
    Add(&program, 1, Action::kClose, 100);
    Add(&program, 1, Action::kSignal, 1'000);
  }
  return program;
}

TEST(Timers, AThreadThatSleepsSleepsAsLongWhateverOthersDo) {
  for (const TimeNs training_ns : {50'000, 300'000, 900'000}) {
    const VirtualProgram program = SleepingActor(training_ns);
    for (const double factor : {0.0, 0.5, 2.0}) {
      const ReplayFacts facts = Replayed(program, WithTraining(factor));
      const auto truth = static_cast<double>(SpanOf(Scaled(program, 0, factor)));
      EXPECT_NEAR(LengthOf(facts) / truth, 1, 0.01) << training_ns << " ns of work x " << factor;
    }
  }
}

// It may also have slept until it found that the other one had come so far.
TEST(Timers, AThreadThatSleepsMayHaveLookedForWhatOthersDo) {
  const VirtualProgram program = SleepingActor(300'000);
  const auto recorded = static_cast<double>(SpanOf(program));
  const ReplayFacts facts = Replayed(program, WithTraining(0));
  const double least = LengthOf(facts) - facts.waits_sooner_ns;
  EXPECT_NEAR(least / recorded, 0.25, 0.05);
  EXPECT_EQ(facts.waits_later_ns, 0);
}

// A reporting thread that trains and makes an item, and one that takes it and sleeps after that in an
// operation of its own, as for a checkpoint: the run ends when that has.
VirtualProgram SleepingTaker() {
  VirtualProgram program;
  program.told_items = ~uint64_t{0};
  program.threads.push_back({.tid = 1, .start_ns = 0, .statements = {}});
  program.threads.push_back({.tid = 2, .start_ns = 0, .statements = {}});
  const auto open = [&](uint32_t thread, uint32_t slot, const ScopeName& scope) {
    Statement& statement = Add(&program, thread, Action::kOpen, 100);
    statement.scope = scope;
    statement.slot = slot;
  };
  const auto close = [&](uint32_t thread, uint32_t slot) {
    Add(&program, thread, Action::kClose, 100).slot = slot;
  };
  for (uint32_t iteration = 1; iteration <= 100; ++iteration) {
    open(0, 0, {LabelKind::kOperation, Layer::kUnset, "training"});
    Add(&program, 0, Action::kCompute, 2 * kDelayNs);
    close(0, 0);
    Add(&program, 0, Action::kSignal, 1'000);
    open(1, 0, {LabelKind::kLayer, Layer::kWait, "Condition.wait"});
    Add(&program, 1, Action::kAwait, 1'000).wake_up_ns = 10'000;
    close(1, 0);
    open(1, 1, {LabelKind::kOperation, Layer::kUnset, "saving"});
    open(1, 2, {LabelKind::kLayer, Layer::kWait, "time.sleep"});
    Statement& set = Add(&program, 1, Action::kSetTime, 100);
    set.delay_ns = kDelayNs;
    set.told = false;
    Statement& await = Add(&program, 1, Action::kAwaitTime, 100);
    await.wake_up_ns = 2'000;
    await.told = false;
    close(1, 2);
    close(1, 1);
  }
  return program;
}

TEST(Timers, AThreadThatSleepsInAnOperationIsAsLongInItWhateverOthersDo) {
  const VirtualProgram program = SleepingTaker();
  for (const double factor : {0.0, 0.5, 2.0}) {
    const ReplayFacts facts = Replayed(program, WithTraining(factor));
    const auto truth = static_cast<double>(SpanOf(Scaled(program, 0, factor)));
    EXPECT_NEAR(LengthOf(facts) / truth, 1, 0.02) << factor;
  }
}

}  // namespace
}  // namespace gpubound::sim
