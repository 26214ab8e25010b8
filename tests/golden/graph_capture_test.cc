// SPDX-License-Identifier: Apache-2.0
//
// Which operations a what-if could make one graph of, on traces written down as text.
#include <gtest/gtest.h>

#include <string>

#include "analysis/replay/replay.h"
#include "tests/golden/scenario.h"

namespace gpubound {
namespace {

// An occurrence of "act" that launches, calls |between|, and launches again; nothing in between
// where that is empty.
std::string Act(int64_t at, int correlation, const std::string& between) {
  const auto time = [at](int64_t ns) { return std::to_string(at + ns); };
  const auto call = [&](int64_t begin, int64_t end, const std::string& name, int number) {
    return "call main " + time(begin) + " " + time(end) + " " + name + " #" +
           std::to_string(number) + "\n";
  };
  std::string text = "@" + time(0) + " main begin operation act\n";
  text += call(10, 20, "cudaLaunchKernel", correlation);
  if (!between.empty()) text += call(30, 50, between, correlation + 1);
  text += call(60, 70, "cudaLaunchKernel", correlation + 2);
  text += "@" + time(90) + " main end operation act\n";
  text += "kernel " + time(25) + " " + time(45) + " first #" + std::to_string(correlation) + "\n";
  text +=
      "kernel " + time(75) + " " + time(85) + " second #" + std::to_string(correlation + 2) + "\n";
  return text;
}

// What the replay says of the main process when "act" becomes a graph.
ReplayFacts Captured(const std::string& text) {
  golden::Scenario scenario = golden::ParseScenario("span 0 1000\nthread main\n" + text);
  EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
  ReplayOptions options;
  options.changes.graph_capture = {"act"};
  const Result<ReplayedRun> replayed = ReplayRun(scenario.run, options);
  EXPECT_TRUE(replayed.ok());
  return replayed.ok() ? (*replayed).facts.at(0) : ReplayFacts{};
}

TEST(GraphCaptureTest, LaunchesAloneCanBeOneGraph) {
  const ReplayFacts facts = Captured(Act(0, 1, "") + Act(100, 11, ""));
  EXPECT_EQ(facts.captures, 2u);
  EXPECT_EQ(facts.captures_broken, 0u);
}

TEST(GraphCaptureTest, ALaunchBehindAWaitCannotBePartOfIt) {
  const ReplayFacts facts = Captured(Act(0, 1, "cudaStreamSynchronize") + Act(100, 11, ""));
  EXPECT_EQ(facts.captures, 2u);
  EXPECT_EQ(facts.captures_broken, 1u);
}

TEST(GraphCaptureTest, NorOneBehindAnAllocationUnlessThatIsOrderedByTheStream) {
  EXPECT_EQ(Captured(Act(0, 1, "cudaMalloc")).captures_broken, 1u);
  EXPECT_EQ(Captured(Act(0, 1, "cudaMallocAsync")).captures_broken, 0u);
}

TEST(GraphCaptureTest, AWaitBehindTheLastLaunchForbidsNothing) {
  std::string text = Act(0, 1, "");
  text += "@100 main begin operation act\n";
  text += "call main 110 120 cudaLaunchKernel #20\nkernel 125 140 third #20\n";
  text += "call main 130 150 cudaStreamSynchronize #21\n@160 main end operation act\n";
  const ReplayFacts facts = Captured(text);
  EXPECT_EQ(facts.captures, 2u);
  EXPECT_EQ(facts.captures_broken, 0u);
}

TEST(GraphCaptureTest, AWaitInAnOperationWithinItForbidsItToo) {
  std::string text = "@0 main begin operation act\ncall main 10 20 cudaLaunchKernel #1\n";
  text += "@22 main begin operation inner\ncall main 30 50 cudaStreamSynchronize #2\n";
  text += "@52 main end operation inner\ncall main 60 70 cudaLaunchKernel #3\n";
  text += "@90 main end operation act\nkernel 25 45 first #1\nkernel 75 85 second #3\n";
  EXPECT_EQ(Captured(text).captures_broken, 1u);
}

TEST(GraphCaptureTest, WaitsOfOtherOperationsAreTheirOwn) {
  const ReplayFacts facts =
      Captured(Act(0, 1, "") +
               "@100 main begin operation learn\ncall main 110 120 cudaDeviceSynchronize #30\n"
               "@130 main end operation learn\n" +
               Act(200, 11, ""));
  EXPECT_EQ(facts.captures_broken, 0u);
}

// As a capture has it that forks to the second stream and joins it by events.
TEST(GraphCaptureTest, WorkOfSeveralStreamsStaysParallel) {
  std::string text = "@0 main begin operation act\n@990 main end operation act\n";
  text += "call main 10 20 cudaLaunchKernel #1\ncall main 30 40 cudaLaunchKernel #2\n";
  text += "call main 50 480 cudaDeviceSynchronize #3\n";
  text += "kernel 25 425 first #1 stream=1\nkernel 45 445 second #2 stream=2\n";
  const ReplayFacts facts = Captured(text);
  EXPECT_EQ(facts.captures, 1u);
  EXPECT_LE(facts.span_end_ns - facts.span_begin_ns, 1000);
}

}  // namespace
}  // namespace gpubound
