// SPDX-License-Identifier: Apache-2.0
//
// Waits of native programs that say nothing of them: the program does what it does without us, and
// the trace has each wait with its length and, where a thread of the process ended it, that thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "proto/scope_domains.h"
#include "proto/wake_tokens.h"
#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

// What is recorded in an operation.
struct Waits {
  std::map<std::string, int64_t> ns;  // by function
  std::string ended_by;               // name of the thread that ended the last one
};

// The last wake for |token| before |time_ns| in any thread.
std::string WhoWoke(const ProcessTrace& process, uint64_t token, int64_t time_ns) {
  std::string waker;
  int64_t latest_ns = INT64_MIN;
  for (const ThreadTrace& thread : process.threads) {
    for (const ThreadEvent& event : thread.events) {
      if (!IsWake(event) || event.payload != token) continue;
      if (event.time_ns > time_ns || event.time_ns < latest_ns) continue;
      latest_ns = event.time_ns;
      waker = thread.name;
    }
  }
  return waker;
}

void AddWaits(const ProcessTrace& process, const ThreadTrace& thread,
              std::map<std::string, Waits>* waits) {
  std::string operation;
  int64_t begin_ns = 0;
  for (const ThreadEvent& event : thread.events) {
    const Label& label = process.LabelOf(event.label);
    const bool begins = event.kind == SlotKind::kBegin;
    if (label.kind == LabelKind::kOperation) operation = begins ? label.text : "";
    Waits& of = (*waits)[operation];
    if (event.kind == SlotKind::kWoken)
      of.ended_by = WhoWoke(process, event.payload, event.time_ns);
    if (label.domain != kNativeWaitDomain) continue;
    if (begins) begin_ns = event.time_ns;
    if (event.kind == SlotKind::kEnd) of.ns[label.text] += event.time_ns - begin_ns;
  }
}

// Of a busy machine, between two lines of the program.
constexpr double kOtherWorkNs = 2e6;
// That a call which does not block may wait for a CPU.
constexpr int64_t kBusyNs = 10'000'000;

class NativeWaitsTest : public CommandRun {
 protected:
  // What the program measured itself: OPERATION, ns, whether "waker" ended it, function.
  struct Measured {
    std::string operation;
    int64_t ns = 0;
    bool woken = false;
    std::string function;  // empty: it did not wait
    bool spins = false;    // before it waits, and may then not have to
  };

  std::vector<Measured> RunAll() {
    Profile({GPUBOUND_TEST_NATIVE_WAITS, File("account")});
    std::ifstream account(File("account"));
    std::vector<Measured> measured;
    for (std::string line; std::getline(account, line);) {
      std::istringstream fields(line);
      std::string ns;
      std::string woken;
      Measured& one = measured.emplace_back();
      std::getline(fields, one.operation, '\t');
      std::getline(fields, ns, '\t');
      std::getline(fields, woken, '\t');
      std::getline(fields, one.function, '\t');
      one.ns = std::stoll(ns);
      one.woken = woken == "1";
      one.spins = one.function.ends_with('?');
      if (one.spins) one.function.pop_back();
    }
    return measured;
  }

  std::map<std::string, Waits> Recorded() {
    std::map<std::string, Waits> waits;
    const gpubound::Run run = Load();
    for (const ProcessTrace& process : run.processes) {
      for (const ThreadTrace& thread : process.threads) AddWaits(process, thread, &waits);
    }
    return waits;
  }
};

TEST_F(NativeWaitsTest, EveryFunctionReturnsAndIsCancelledAsWithoutUs) {
  runner().Unset("LD_PRELOAD");
  const Outcome plain = runner().Run({GPUBOUND_TEST_NATIVE_WAITS, File("account")});
  ASSERT_EQ(plain.exit_code, 0) << plain.Describe();
  const Outcome recorded = Profile({GPUBOUND_TEST_NATIVE_WAITS, File("account")});
  EXPECT_EQ(recorded.out, plain.out);
  const Json report = Report();
  EXPECT_THAT(report["run"]["verdict"].get<std::string>(), testing::StartsWith("complete"));
  ExpectExactPartition(report);
}

TEST_F(NativeWaitsTest, EveryWaitHasItsLengthAndWhoEndedIt) {
  const std::vector<Measured> measured = RunAll();
  EXPECT_GT(measured.size(), 60u);
  const std::map<std::string, Waits> recorded = Recorded();
  for (const Measured& one : measured) {
    SCOPED_TRACE(one.operation);
    const auto found = recorded.find(one.operation);
    ASSERT_NE(found, recorded.end());
    const Waits& waits = found->second;
    if (one.function.empty()) {
      // But for what a busy machine let it wait for a CPU.
      for (const auto& [function, ns] : waits.ns) EXPECT_LT(ns, kBusyNs) << function;
      continue;
    }
    if (one.spins && waits.ns.empty()) continue;
    ASSERT_EQ(waits.ns.size(), 1u);
    const auto& [function, ns] = *waits.ns.begin();
    EXPECT_EQ(function, one.function);
    EXPECT_LE(static_cast<double>(ns), 1.02 * static_cast<double>(one.ns));
    // Between the program's clock and the call's there is a scope; beside other tests more.
    if (!one.spins) {
      EXPECT_GE(static_cast<double>(ns), 0.98 * static_cast<double>(one.ns) - kOtherWorkNs);
    }
    EXPECT_EQ(waits.ended_by, one.woken ? "waker" : "");
  }
}

TEST_F(NativeWaitsTest, AreLeftAloneWhereTheUserWantsThemToBe) {
  runner().Set("GPUBOUND_WAITS", "0");
  RunAll();
  for (const auto& [operation, waits] : Recorded()) EXPECT_TRUE(waits.ns.empty()) << operation;
}

class ActorLearnerTest : public CommandRun {
 protected:
  // With a simulation of so many microseconds.
  void RunFor(const char* microseconds) { Profile({GPUBOUND_TEST_ACTOR_LEARNER, microseconds}); }
  static Json RowOfAnyThread(const Json& process, const char* operation) {
    for (const Json& thread : process["lanes"]) {
      const Json row = RowOf(thread, operation);
      if (!row.is_null()) return row;
    }
    return RowOf(process, operation);
  }
  Json WhatIf(const std::string& change) {
    const Outcome outcome = Gpubound({"whatif", run_path(), "--scale", change, "--json"});
    return Json::parse(outcome.out, nullptr, false);
  }
};

// It is no faster than the learner's own part, nor than half of the actors' simulation; and it is
// faster than it was. How close it comes to a run with half the simulation shows where nothing else
// runs beside: there 326 ms were predicted and 323 came out (of 526).
TEST_F(ActorLearnerTest, ThatSaysNothingOfItsWaitsIsPredictedByWhoWaitsForWhom) {
  RunFor("4000");
  const Json predicted = WhatIf("operation=simulation:0.5");
  ASSERT_TRUE(predicted.is_object());
  const Json process = Report()["processes"][0];
  const double learner_ns = RowOfAnyThread(process, "learn")["wall_ns"].get<double>() +
                            RowOfAnyThread(process, "checkpoint")["wall_ns"].get<double>();
  const double actor_ns = RowOfAnyThread(process, "simulation")["wall_ns"].get<double>();
  const auto predicted_ns = predicted["predicted_wall_ns"].get<double>();
  EXPECT_GE(predicted_ns, 0.97 * std::max(learner_ns, actor_ns / 2));
  EXPECT_LE(predicted_ns, 0.9 * predicted["wall_ns"].get<double>());
}

TEST_F(ActorLearnerTest, ThatSaysNothingOfItsWaitsDoesNotWorkInThem) {
  RunFor("4000");
  const Json report = Report();
  for (const char* operation : {"take batch", "checkpoint"}) {
    SCOPED_TRACE(operation);
    const Json row = RowOfAnyThread(report["processes"][0], operation);
    ASSERT_TRUE(row.is_object());
    EXPECT_GT(row["idle_ns"].get<double>(), 0.9 * row["wall_ns"].get<double>());
  }
}

}  // namespace
}  // namespace gpubound
