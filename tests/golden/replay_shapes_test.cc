// SPDX-License-Identifier: Apache-2.0
//
// What-ifs of traces written down as text, whose answers can be worked out by hand: threads that
// work for a framework's call, device work that outlasts the program, or that was launched before
// the recording began, graphs of nested operations.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/replay/replay.h"
#include "analysis/replay/what_if.h"
#include "tests/golden/scenario.h"

namespace gpubound {
namespace {

std::string Us(int64_t us) { return std::to_string(1000 * us); }

double SpanUs(const std::string& text, const WhatIf& changes) {
  golden::Scenario scenario = golden::ParseScenario(text);
  EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
  ReplayOptions options;
  options.changes = changes;
  const Result<ReplayedRun> replayed = ReplayRun(scenario.run, options);
  EXPECT_TRUE(replayed.ok());
  const ReplayFacts& facts = (*replayed).facts.at(0);
  return static_cast<double>(facts.span_end_ns - facts.span_begin_ns) / 1e3;
}
double SpanUs(const std::string& text, const std::string& scaling) {
  const Result<Scaling> parsed = ParseScaling(scaling);
  EXPECT_TRUE(parsed.ok()) << scaling;
  WhatIf changes;
  changes.scalings = {*parsed};
  return SpanUs(text, changes);
}

TEST(ReplayTest, KeepsWhatATraceSaysOfItsProcessesAndThreads) {
  golden::Scenario scenario = golden::ParseScenario("span 0 1000\nthread main\n");
  ProcessTrace& recorded = scenario.run.processes.at(0);
  recorded.boot_id = "one kernel";
  recorded.job = JobRank{"RANK", 3, 8};
  recorded.ops.resize(2);
  const Result<ReplayedRun> replayed = ReplayRun(scenario.run, {});
  ASSERT_TRUE(replayed.ok());
  const ProcessTrace& process = replayed->run.processes.at(0);
  EXPECT_EQ(process.boot_id, "one kernel") << "containers of one machine stay together";
  ASSERT_TRUE(process.job);
  EXPECT_EQ(process.job->rank, 3);
  EXPECT_EQ(process.ops.size(), 2u);
  ASSERT_EQ(process.threads.size(), recorded.threads.size());
  EXPECT_EQ(process.threads.at(0).tid, recorded.threads.at(0).tid);
}

// Iterations of 1 ms, half of which the main thread spends in a framework's function, while a
// thread without scopes launches a kernel of 300 us for it and waits.
std::string Autograd() {
  std::string text = "span 0 10000000\nthread main\nthread autograd\n";
  for (int64_t i = 0; i < 10; ++i) {
    const auto at = [i](int64_t us) { return Us(1000 * i + us); };
    const std::string launch = " #" + std::to_string(2 * i + 1) + "\n";
    const std::string sync = " #" + std::to_string(2 * i + 2) + "\n";
    text += "@" + at(0) + " main begin operation backpropagation\n";
    text += "@" + at(0) + " main begin layer backend:backward\n";
    text += "call autograd " + at(50) + " " + at(60) + " cudaLaunchKernel" + launch;
    text += "kernel " + at(60) + " " + at(360) + " k" + launch;
    text += "call autograd " + at(100) + " " + at(370) + " cudaStreamSynchronize" + sync;
    text += "@" + at(500) + " main end layer backend:backward\n";
    text += "@" + at(500) + " main end operation backpropagation\n";
  }
  return text;
}

TEST(ReplayShapesTest, AFrameworksCallLastsAsLongAsThoseWhoWorkForIt) {
  EXPECT_NEAR(SpanUs(Autograd(), "device:1"), 10'000, 0.01);
  EXPECT_NEAR(SpanUs(Autograd(), "device:0.5"), 8'500, 1);
  EXPECT_NEAR(SpanUs(Autograd(), "device:2"), 13'000, 1);
}

// Ten launches of 30 us each from such a thread.
TEST(ReplayShapesTest, WorkForAFrameworksCallIsDoneOnePieceAfterTheOther) {
  std::string text = "span 0 10000000\nthread main\nthread autograd\n";
  for (int64_t i = 0; i < 10; ++i) {
    const auto at = [i](int64_t us) { return Us(1000 * i + us); };
    text += "@" + at(0) + " main begin operation backpropagation\n";
    text += "@" + at(0) + " main begin layer backend:backward\n";
    for (int64_t k = 0; k < 10; ++k) {
      text += "call autograd " + at(50 * k) + " " + at(50 * k + 30) + " cudaLaunchKernel\n";
    }
    text += "@" + at(500) + " main end layer backend:backward\n";
    text += "@" + at(500) + " main end operation backpropagation\n";
  }
  EXPECT_NEAR(SpanUs(text, "layer=cuda_api:0"), 7'000, 50);
  EXPECT_NEAR(SpanUs(text, "layer=cuda_api:2"), 13'000, 50);
}

// A hundred launches of 10 us, kernels of 50 us, and nobody who waits for them: the trace ends with
// the last one.
TEST(ReplayShapesTest, ASpanThatEndsWithDeviceWorkFollowsTheDevice) {
  std::string text = "span 0 5010000\nthread main\n";
  for (int64_t i = 0; i < 100; ++i) {
    const std::string id = " #" + std::to_string(i + 1) + "\n";
    text += "@" + Us(10 * i) + " main begin operation act\n";
    text += "call main " + Us(10 * i) + " " + Us(10 * i + 10) + " cudaLaunchKernel" + id;
    text += "@" + Us(10 * i + 10) + " main end operation act\n";
    text += "kernel " + Us(50 * i + 10) + " " + Us(50 * i + 60) + " k" + id;
  }
  EXPECT_NEAR(SpanUs(text, "device:1"), 5'010, 0.01);
  EXPECT_NEAR(SpanUs(text, "device:0.5"), 2'510, 10);
  EXPECT_NEAR(SpanUs(text, "device:2"), 10'010, 10);
  EXPECT_NEAR(SpanUs(text, "operation-cpu=act:0"), 5'000, 10);
}

// A kernel of 9 ms that is launched at the begin of 10 ms of CPU work, and nobody waits for it.
TEST(ReplayShapesTest, AProgramDoesNotEndBeforeItsDeviceWorkIsDone) {
  const std::string text =
      "span 0 10000000\nthread main\n"
      "@" +
      Us(0) +
      " main begin operation train\n"
      "call main " +
      Us(10) + " " + Us(20) +
      " cudaLaunchKernel #1\n"
      "kernel " +
      Us(100) + " " + Us(9'100) +
      " k #1\n"
      "@" +
      Us(9'990) + " main end operation train\n";
  EXPECT_NEAR(SpanUs(text, "device:1"), 10'000, 0.01);
  EXPECT_NEAR(SpanUs(text, "operation-cpu=train:0"), 9'090, 20);
  EXPECT_NEAR(SpanUs(text, "device:0"), 10'000, 0.01);
}

// Of a part of a run the trace holds what its threads did behind it too: half of each millisecond
// in an operation.
TEST(ReplayShapesTest, WhatLiesBehindASpanThatWasAskedForChangesNothing) {
  std::string text = "span 0 10000000\nthread main\n";
  for (int64_t i = 0; i < 30; ++i) {
    text += "@" + Us(1000 * i) + " main begin operation act\n";
    text += "@" + Us(1000 * i + 500) + " main end operation act\n";
  }
  golden::Scenario scenario = golden::ParseScenario(text);
  ASSERT_TRUE(scenario.mistakes.empty());
  scenario.run.processes[0].span_end = SpanEnd::kAsked;
  const auto span_us = [&scenario](double factor) {
    ReplayOptions options;
    options.changes.scalings = {*ParseScaling("operation-cpu=act:" + std::to_string(factor))};
    const Result<ReplayedRun> replayed = ReplayRun(scenario.run, options);
    EXPECT_TRUE(replayed.ok());
    const ReplayFacts& facts = (*replayed).facts.at(0);
    return static_cast<double>(facts.span_end_ns - facts.span_begin_ns) / 1e3;
  };
  EXPECT_NEAR(span_us(1), 10'000, 0.01);
  EXPECT_NEAR(span_us(0.5), 7'500, 1);
  EXPECT_NEAR(span_us(0), 5'000, 1);
  EXPECT_NEAR(span_us(2), 15'000, 1);
}

// Ten kernels that follow each other, launched before the recording began; the thread waits.
TEST(ReplayShapesTest, WorkThatWasQueuedBeforeTheRecordingFollowsItsStream) {
  std::string text = "span 0 2000000\nthread main\n@0 main begin operation wait for it\n";
  text += "call main 1000 " + Us(1001) + " cudaDeviceSynchronize\n";
  for (int64_t i = 0; i < 10; ++i) {
    text += "kernel " + Us(100 * i) + " " + Us(100 * i + 99) + " k\n";
  }
  EXPECT_NEAR(SpanUs(text, "device:1"), 2'000, 0.01);
  EXPECT_NEAR(SpanUs(text, "device:0.5"), 1'505, 5);
  EXPECT_NEAR(SpanUs(text, "device:2"), 2'990, 5);
}

// Ten occurrences of an operation around another one, each with launches of its own.
TEST(ReplayShapesTest, AGraphOfAnOperationHoldsWhatLiesInsideIt) {
  std::string text = "span 0 4000000\nthread main\n";
  for (int64_t i = 0; i < 10; ++i) {
    const auto at = [i](int64_t us) { return Us(400 * i + us); };
    text += "@" + at(0) + " main begin operation outer\n";
    for (int64_t k = 0; k < 10; ++k) {
      const std::string id = " #" + std::to_string(10 * i + k + 1) + "\n";
      if (k == 5) text += "@" + at(50) + " main begin operation inner\n";
      text += "call main " + at(10 * k) + " " + at(10 * k + 10) + " cudaLaunchKernel" + id;
      text += "kernel " + at(10 * k + 10) + " " + at(10 * k + 11) + " k" + id;
    }
    text += "@" + at(100) + " main end operation inner\n";
    text += "@" + at(100) + " main end operation outer\n";
  }
  WhatIf changes;
  changes.graph_capture = {"outer"};
  EXPECT_NEAR(SpanUs(text, changes), 4'000 - 10 * 9 * 10, 1);
}

}  // namespace
}  // namespace gpubound
