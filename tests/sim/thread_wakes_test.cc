// SPDX-License-Identifier: Apache-2.0
//
// Threads that let each other go on, as a trainer and its actors do by a queue: what a replay says
// of the program without the profiler, or with one of them faster or slower, is that of the same
// program with the change made.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/replay.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/workloads.h"

namespace gpubound::sim {
namespace {

// |threads| in a ring, each of which waits for the one before it, works and lets the next one go
// on. The first one reports.
class Ring {
 public:
  Ring(uint32_t threads, uint64_t seed) : random_(seed) {
    program_.python = true;
    program_.told_semaphores = ~uint64_t{0};
    for (uint32_t t = 0; t < threads; ++t) {
      program_.threads.push_back({.tid = t + 1, .start_ns = 0, .statements = {}});
    }
  }

  // |rounds| times around.
  VirtualProgram Make(uint32_t rounds) {
    Signal(0, 0);  // the first to go on
    for (uint32_t round = 0; round < rounds; ++round) {
      for (uint32_t t = 0; t < size(); ++t) {
        Await(t);
        Work(t);
        Signal(t, (t + 1) % size());
      }
    }
    return program_;
  }

  static std::string NameOf(uint32_t thread) { return "work of " + std::to_string(thread); }

 private:
  uint32_t size() const { return static_cast<uint32_t>(program_.threads.size()); }
  TimeNs Between(TimeNs least, TimeNs most) {
    return std::uniform_int_distribution<TimeNs>(least, most)(random_);
  }
  Statement& Add(uint32_t thread, Action action, TimeNs cost_ns) {
    Statement& statement = program_.threads[thread].statements.emplace_back();
    statement.action = action;
    statement.cost_ns = cost_ns;
    return statement;
  }
  void Signal(uint32_t thread, uint32_t semaphore) {
    Add(thread, Action::kSignal, Between(200, 2'000)).slot = semaphore;
  }
  void Await(uint32_t thread) {
    Add(thread, Action::kOpen, Between(100, 300)).scope = {LabelKind::kLayer, Layer::kWait, "wait"};
    Statement& statement = Add(thread, Action::kAwait, Between(500, 5'000));
    statement.slot = thread;
    statement.wake_up_ns = Between(2'000, 30'000);
    Add(thread, Action::kClose, Between(100, 300));
  }
  void Work(uint32_t thread) {
    Statement& open = Add(thread, Action::kOpen, 100);
    open.scope = {LabelKind::kOperation, Layer::kUnset, NameOf(thread)};
    open.slot = 1;
    Add(thread, Action::kCompute, Between(10'000, 300'000));
    Add(thread, Action::kClose, 100).slot = 1;
  }

  VirtualProgram program_;
  std::mt19937_64 random_;
};

TimeNs SpanOf(const VirtualProgram& program) { return Execute(program, nullptr).span_ns; }

// With what |thread| does in its operation |factor| times as long.
VirtualProgram Scaled(VirtualProgram program, uint32_t thread, double factor) {
  for (Statement& statement : program.threads[thread].statements) {
    if (statement.action != Action::kCompute) continue;
    statement.cost_ns = std::llround(static_cast<double>(statement.cost_ns) * factor);
  }
  return program;
}

ReplayFacts Replayed(const VirtualProgram& program, const ReplayOptions& options) {
  Result<ReplayedRun> replayed = ReplayRun(RunOf(Execute(program, nullptr)), options);
  EXPECT_TRUE(replayed.ok());
  return std::move((*replayed).facts.front());
}

class ThreadWakesTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(ThreadWakesTest, AFasterOrSlowerThreadMovesThoseThatItLetsGoOn) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const VirtualProgram program = Ring(GetParam(), seed).Make(50);
    for (uint32_t thread = 0; thread < GetParam(); ++thread) {
      for (const double factor : {0.0, 0.5, 3.0}) {
        ReplayOptions options;
        options.keep_events = false;
        options.changes.scalings.push_back({ScaledPart::kOperation, Ring::NameOf(thread), factor});
        const ReplayFacts facts = Replayed(program, options);
        const auto truth = static_cast<double>(SpanOf(Scaled(program, thread, factor)));
        const auto predicted = static_cast<double>(facts.span_end_ns - facts.span_begin_ns);
        EXPECT_NEAR(predicted / truth, 1, 0.002)
            << "thread " << thread << " x " << factor << ", seed " << seed;
        EXPECT_EQ(facts.unmoved_waits_ns, 0);
        EXPECT_EQ(facts.waits_sooner_ns, 0);
        EXPECT_EQ(facts.waits_later_ns, 0);
      }
    }
  }
}

// Scopes, wakes and wake-ups of 2 us each, with a heavy tail.
TEST_P(ThreadWakesTest, WhatTheProfilerCostsIsTakenOutAlongTheWakes) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    VirtualProgram program = Ring(GetParam(), seed).Make(500);
    program.cost = {.scope_ns = 2'000, .deviation = 0.5, .seed = seed};
    ReplayOptions options;
    options.keep_events = false;
    options.costs = CalibratedCosts(program, 100'000);
    const ReplayFacts facts = Replayed(program, options);
    const auto truth = static_cast<double>(SpanOf(Uninstrumented(program)));
    EXPECT_GT(static_cast<double>(SpanOf(program)) / truth, 1.03);
    EXPECT_NEAR(static_cast<double>(facts.span_end_ns - facts.span_begin_ns) / truth, 1, 0.005)
        << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadWakesTest, testing::Values(2, 3, 5));

// The second thread waits where nothing is recorded, and works without a scope: when it lets the
// first one go on, nobody knows how long it took to come there.
TEST(ThreadWakesOfUnseenWork, AWaitForItIsNotKnownToHaveMoved) {
  VirtualProgram program = Ring(2, 1).Make(20);
  std::erase_if(program.threads[1].statements, [](const Statement& statement) {
    return statement.action == Action::kOpen || statement.action == Action::kClose;
  });
  program.told_semaphores = 1;  // that of the first thread
  ReplayOptions options;
  options.keep_events = false;
  options.changes.scalings.push_back({ScaledPart::kOperation, Ring::NameOf(0), 0.5});
  EXPECT_GT(Replayed(program, options).unmoved_waits_ns, 0);
}

}  // namespace
}  // namespace gpubound::sim
