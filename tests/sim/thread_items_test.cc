// SPDX-License-Identifier: Apache-2.0
//
// Threads that take what others made, as a learner does from the queue of its actors: who finds it
// without a wait has to wait where a change makes it come sooner.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/sim/replayed_threads.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/workloads.h"

namespace gpubound::sim {
namespace {

// A thread makes items, as an actor does, which another one takes and works on, as a learner; there
// is room for so many, if any number is given. Which of them is the faster decides who waits: the
// one of the main thread, of whose time everything is, or the other.
class ProducerAndConsumer {
 public:
  enum Role : uint32_t { kConsumes = 0, kProduces = 1 };  // the thread with it

  ProducerAndConsumer(TimeNs produced_ns, TimeNs consumed_ns, uint32_t room, bool producer_reports)
      : random_(room), reports_(producer_reports ? kProduces : kConsumes) {
    program_.python = true;
    program_.told_items = ~uint64_t{0};
    program_.threads.resize(2);
    program_.threads[0].tid = 1;
    program_.threads[1].tid = 2;
    for (uint32_t i = 0; i < kItems; ++i) {
      Work(kProduces, produced_ns);
      if (room != 0 && i >= room) Await(kProduces);
      Add(kProduces, Action::kSignal, 1'000).slot = kConsumes;
      Await(kConsumes);
      if (room != 0) Add(kConsumes, Action::kSignal, 1'000).slot = kProduces;
      Work(kConsumes, consumed_ns);
    }
  }

  const VirtualProgram& program() const { return program_; }
  uint32_t ThreadOf(Role role) const { return role == reports_ ? 0 : 1; }
  static std::string NameOf(Role role) { return role == kConsumes ? "training" : "simulation"; }

 private:
  static constexpr uint32_t kItems = 200;

  Statement& Add(Role role, Action action, TimeNs cost_ns) {
    return sim::Add(&program_, ThreadOf(role), action, cost_ns);
  }
  // A wait is a scope only where it has to be one, as that of a condition in a queue is.
  void Await(Role role) {
    Add(role, Action::kOpen, 200).scope = {LabelKind::kLayer, Layer::kWait, "wait"};
    Statement& statement = Add(role, Action::kAwait, 2'000);
    statement.slot = role;
    statement.wake_up_ns = 10'000;
    Add(role, Action::kClose, 200);
  }
  void Work(Role role, TimeNs usual_ns) {
    Statement& open = Add(role, Action::kOpen, 100);
    open.scope = {LabelKind::kOperation, Layer::kUnset, NameOf(role)};
    open.slot = 1;
    std::lognormal_distribution<double> time(std::log(static_cast<double>(usual_ns)), 0.3);
    Add(role, Action::kCompute, std::llround(time(random_)));
    Add(role, Action::kClose, 100).slot = 1;
    if (role == reports_) Add(role, Action::kStep, 100).slot = ++iterations_;
  }

  VirtualProgram program_;
  std::mt19937_64 random_;
  uint32_t iterations_ = 0;
  const Role reports_;
};

// What was found without a wait in the recording is waited for where the other thread would be the
// slower one.
TEST(ItemsBetweenThreads, WhoIsMadeFasterThanTheOtherWaitsForIt) {
  constexpr TimeNs kShort = 100'000;
  constexpr TimeNs kLong = 300'000;
  constexpr double kOfScopes = 20'000;  // what opening the operation takes is scaled with it
  for (const bool producer_reports : {false, true}) {
    for (const uint32_t room : {0U, 1U, 4U}) {
      for (const bool slow_consumer : {false, true}) {
        const ProducerAndConsumer pair(slow_consumer ? kShort : kLong,
                                       slow_consumer ? kLong : kShort, room, producer_reports);
        for (const auto role : {ProducerAndConsumer::kConsumes, ProducerAndConsumer::kProduces}) {
          for (const double factor : {0.0, 0.2, 0.5, 5.0}) {
            ReplayOptions options;
            options.keep_events = false;
            options.changes.scalings.push_back(
                {ScaledPart::kOperationCpu, ProducerAndConsumer::NameOf(role), factor});
            const ReplayFacts facts = Replayed(pair.program(), options);
            const VirtualProgram changed = Scaled(pair.program(), pair.ThreadOf(role), factor);
            const std::vector<StepFact> steps = Execute(changed, nullptr).steps;
            const TimeNs truth = steps.back().time_ns - steps.front().time_ns;
            const double predicted = facts.steps.times().back() - facts.steps.times().front();
            EXPECT_NEAR(predicted, truth, 0.005 * static_cast<double>(truth) + kOfScopes)
                << ProducerAndConsumer::NameOf(role) << " x " << factor << ", room for " << room
                << (slow_consumer ? ", slow consumer" : ", slow producer")
                << (producer_reports ? ", producer reports" : ", consumer reports");
          }
        }
      }
    }
  }
}

TEST(ItemsBetweenThreads, WhatTheProfilerCostsIsTakenOutOfBothThreads) {
  for (const bool producer_reports : {false, true}) {
    for (const uint32_t room : {0U, 1U, 4U}) {
      // About as fast as each other: each waits now and then.
      VirtualProgram program =
          ProducerAndConsumer(100'000, 100'000, room, producer_reports).program();
      program.cost = {.scope_ns = 2'000, .deviation = 0.5, .seed = room};
      const auto truth = static_cast<double>(SpanOf(Uninstrumented(program)));
      EXPECT_GT(static_cast<double>(SpanOf(program)) / truth, 1.03);
      EXPECT_NEAR(CorrectedOverTruth(program), 1, 0.01)
          << "room for " << room << (producer_reports ? ", producer reports" : "");
    }
  }
}

// The first thread works, in a scope of its own or in none, while the second one makes an item:
// that it works is not that it waits, however much sooner the item might be there.
TEST(ItemsBetweenThreads, WorkDuringWhichAnItemComesIsNoWait) {
  for (const bool in_scope : {true, false}) {
    VirtualProgram program;
    program.python = true;
    program.told_items = 1;
    program.threads.resize(2);
    program.threads[0].tid = 1;
    program.threads[1].tid = 2;
    const auto add = [&](uint32_t thread, Action action, TimeNs cost_ns) -> Statement& {
      return Add(&program, thread, action, cost_ns);
    };
    const ScopeName operation = {LabelKind::kOperation, Layer::kUnset, "training"};
    for (int i = 0; i < 20; ++i) {
      if (in_scope || i == 0) add(0, Action::kOpen, 100).scope = operation;
      add(0, Action::kCompute, 1'000'000);
      add(0, Action::kAwait, 500);
      add(0, Action::kCompute, 100'000);
      if (in_scope || i == 0) add(0, Action::kClose, 100);
      add(1, Action::kOpen, 100).scope = {LabelKind::kOperation, Layer::kUnset, "simulation"};
      add(1, Action::kCompute, 900'000);
      add(1, Action::kClose, 100);
      add(1, Action::kSignal, 500);
    }
    ReplayOptions options;
    options.keep_events = false;
    options.changes.scalings.push_back({ScaledPart::kOperationCpu, "simulation", 0});
    const ReplayFacts facts = Replayed(program, options);
    const auto truth = static_cast<double>(SpanOf(Scaled(program, 1, 0)));
    EXPECT_NEAR(LengthOf(facts) / truth, 1, 0.002) << in_scope;
  }
}

}  // namespace
}  // namespace gpubound::sim
