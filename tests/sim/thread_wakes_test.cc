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

#include "analysis/replay/replay.h"
#include "proto/scope_domains.h"
#include "tests/sim/replayed_threads.h"
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
    return sim::Add(&program_, thread, action, cost_ns);
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

// A main thread that starts another one each round, waits for its end and works: the first of them
// reports.
VirtualProgram ThreadsThatComeAndGo(uint32_t rounds) {
  VirtualProgram program;
  program.python = true;
  program.told_semaphores = ~uint64_t{0};
  const ScopeName wait = {LabelKind::kLayer, Layer::kWait, "Thread.join"};
  const ScopeName ended = {LabelKind::kLayer, Layer::kWait, kThreadEndText, kThreadEndDomain};
  program.threads.push_back(
      {.tid = 1,
       .start_ns = 0,
       .statements = {{.action = Action::kOpen,
                       .cost_ns = 30'000,
                       .slot = 1,
                       .scope = {LabelKind::kLayer, Layer::kPython, "main"}}}});
  for (uint32_t t = 1; t <= rounds; ++t) {
    const std::vector<Statement> round = {
        {.action = Action::kSignal, .cost_ns = 40'000, .slot = t},
        {.action = Action::kOpen, .scope = wait},
        {.action = Action::kAwait, .slot = 0, .wake_up_ns = 9'000},
        {.action = Action::kClose},
        {.action = Action::kOpen, .scope = {LabelKind::kOperation, Layer::kUnset, "learn"}},
        {.action = Action::kCompute, .cost_ns = 90'000},
        {.action = Action::kClose}};
    std::vector<Statement>& of_main = program.threads.front().statements;
    of_main.insert(of_main.end(), round.begin(), round.end());
    program.threads.push_back(
        {.tid = t + 1,
         .start_ns = 0,
         .statements = {
             {.action = Action::kAwait, .slot = t, .wake_up_ns = 20'000},
             {.action = Action::kOpen, .scope = {LabelKind::kOperation, Layer::kUnset, "work"}},
             {.action = Action::kCompute, .cost_ns = 200'000 + 10'000 * (t % 7)},
             {.action = Action::kClose},
             {.action = Action::kSignal, .slot = 0},
             {.action = Action::kOpen, .scope = ended}}});
  }
  return program;
}

class ThreadWakesTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(ThreadWakesTest, AFasterOrSlowerThreadMovesThoseThatItLetsGoOn) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const VirtualProgram program = Ring(GetParam(), seed).Make(50);
    for (uint32_t thread = 0; thread < GetParam(); ++thread) {
      for (const double factor : {0.0, 0.5, 3.0}) {
        ReplayOptions options;
        options.keep_events = false;
        options.changes.scalings.push_back(
            {ScaledPart::kOperationCpu, Ring::NameOf(thread), factor});
        const ReplayFacts facts = Replayed(program, options);
        const auto truth = static_cast<double>(SpanOf(Scaled(program, thread, factor)));
        const auto predicted = LengthOf(facts);
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
    const auto truth = static_cast<double>(SpanOf(Uninstrumented(program)));
    EXPECT_GT(static_cast<double>(SpanOf(program)) / truth, 1.03);
    EXPECT_NEAR(CorrectedOverTruth(program), 1, 0.005) << "seed " << seed;
  }
}

TEST(ThreadStartsTest, AThreadThatWasStartedBeginsWhereItWasStarted) {
  const VirtualProgram program = ThreadsThatComeAndGo(30);
  for (const double factor : {0.0, 0.5, 3.0}) {
    VirtualProgram changed = program;
    for (uint32_t t = 1; t < program.threads.size(); ++t) changed = Scaled(changed, t, factor);
    ReplayOptions options;
    options.keep_events = false;
    options.changes.scalings.push_back({ScaledPart::kOperationCpu, "work", factor});
    const ReplayFacts facts = Replayed(program, options);
    const auto predicted = LengthOf(facts);
    EXPECT_NEAR(predicted / static_cast<double>(SpanOf(changed)), 1, 0.002) << "x " << factor;
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
  options.changes.scalings.push_back({ScaledPart::kOperationCpu, Ring::NameOf(0), 0.5});
  EXPECT_GT(Replayed(program, options).unmoved_waits_ns, 0);
}

// An event loop that gives a worker its tasks and waits for their ends in scopes; between them it
// does what no scope tells of. The worker is the one that reports.
TEST(ThreadWakesOfUnseenWork, WhoseWaitsAreScopesIsAtWorkOutsideOfThem) {
  VirtualProgram program;
  program.python = true;
  program.told_semaphores = ~uint64_t{0};
  program.threads.resize(2);
  const auto add = [&](uint32_t thread, Action action, TimeNs cost_ns) -> Statement& {
    return Add(&program, thread, action, cost_ns);
  };
  const auto work = [&](uint32_t thread, const char* name, TimeNs ns) {
    add(thread, Action::kOpen, 100).scope = {LabelKind::kOperation, Layer::kUnset, name};
    add(thread, Action::kCompute, ns);
    add(thread, Action::kClose, 100);
  };
  program.threads[0].tid = 1;
  program.threads[1].tid = 2;
  for (int i = 0; i < 20; ++i) {
    add(0, Action::kOpen, 100).scope = {LabelKind::kLayer, Layer::kWait, "select"};
    if (i != 0) add(0, Action::kAwait, 500).wake_up_ns = 10'000;
    add(0, Action::kClose, 100);
    add(0, Action::kCompute, 200'000);
    add(0, Action::kOpen, 3'000).scope = {LabelKind::kLayer, Layer::kWait, "select"};  // asks only
    add(0, Action::kClose, 100);
    if (i != 0) work(0, "update", 2'000'000);
    add(0, Action::kCompute, 200'000);
    add(0, Action::kSignal, 500).slot = 1;
    Statement& task = add(1, Action::kAwait, 500);
    task.slot = 1;
    task.wake_up_ns = 20'000;
    work(1, "simulation", 4'000'000);
    add(1, Action::kSignal, 500).slot = 0;
  }
  const std::pair<uint32_t, const char*> works[] = {{0, "update"}, {1, "simulation"}};
  for (const auto& [thread, name] : works) {
    ReplayOptions options;
    options.keep_events = false;
    options.changes.scalings.push_back({ScaledPart::kOperationCpu, name, 0.1});
    const ReplayFacts facts = Replayed(program, options);
    VirtualProgram changed = program;
    for (Statement& statement : changed.threads[thread].statements) {
      if (statement.cost_ns >= 2'000'000) statement.cost_ns /= 10;
    }
    const auto truth = static_cast<double>(SpanOf(changed));
    EXPECT_NEAR(LengthOf(facts) / truth, 1, 0.005) << name;
  }
}

// The same loop with two workers, of which the one that reports is done long before the other: a
// selector that is only asked meanwhile does not wait for it.
TEST(ThreadWakesOfUnseenWork, ASelectorThatIsOnlyAskedFollowsNobody) {
  VirtualProgram program;
  program.python = true;
  program.told_semaphores = ~uint64_t{0};
  program.threads.resize(3);
  for (uint32_t t = 0; t < 3; ++t) program.threads[t].tid = t + 1;
  const ScopeName select = {LabelKind::kLayer, Layer::kWait, "select"};
  for (int i = 0; i < 20; ++i) {
    for (uint32_t worker = 1; worker < 3; ++worker) {
      Add(&program, 0, Action::kSignal, 500).slot = worker;
      Statement& task = Add(&program, worker, Action::kAwait, 500);
      task.slot = worker;
      task.wake_up_ns = 20'000;
      Add(&program, worker, Action::kOpen, 100).scope = {LabelKind::kOperation, Layer::kUnset,
                                                         "simulation"};
      Add(&program, worker, Action::kCompute, worker * 2'000'000);
      Add(&program, worker, Action::kClose, 100);
      Add(&program, worker, Action::kSignal, 500).slot = 0;
    }
    for (int wait = 0; wait < 2; ++wait) {
      Add(&program, 0, Action::kOpen, 100).scope = select;
      Add(&program, 0, Action::kAwait, 500).wake_up_ns = 10'000;
      Add(&program, 0, Action::kClose, 100);
      Add(&program, 0, Action::kOpen, 3'000).scope = select;
      Add(&program, 0, Action::kClose, 100);
    }
  }
  ReplayOptions options;
  options.keep_events = false;
  options.changes.scalings.push_back({ScaledPart::kOperationCpu, "simulation", 0.1});
  const ReplayFacts facts = Replayed(program, options);
  const auto truth = static_cast<double>(SpanOf(Scaled(Scaled(program, 1, 0.1), 2, 0.1)));
  EXPECT_NEAR(LengthOf(facts) / truth, 1, 0.01);
}

// The first thread is woken by the second one, and later waits for what nobody knows.
TEST(ThreadWakesOfUnseenWork, OneKnownWaitMakesNoneKnownThatComesLater) {
  VirtualProgram program = Ring(2, 1).Make(3);
  ReplayOptions options;
  options.keep_events = false;
  options.changes.scalings.push_back({ScaledPart::kOperationCpu, Ring::NameOf(0), 0.5});
  EXPECT_EQ(Replayed(program, options).unmoved_waits_ns, 0);
  const auto add = [&](Action action, TimeNs cost_ns) -> Statement& {
    return Add(&program, 0, action, cost_ns);
  };
  add(Action::kOpen, 100).scope = {LabelKind::kLayer, Layer::kWait, "wait"};
  add(Action::kCompute, 1'000'000);
  add(Action::kClose, 100);
  EXPECT_GT(Replayed(program, options).unmoved_waits_ns, 0);
}

}  // namespace
}  // namespace gpubound::sim
