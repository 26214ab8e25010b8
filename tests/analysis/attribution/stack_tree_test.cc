// SPDX-License-Identifier: Apache-2.0
//
// From looks at stacks to the places where an operation's time parts.
#include "analysis/attribution/stack_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr OperationIndex kA{1};

class StackTreeTest : public testing::Test {
 protected:
  StackTreeTest() {
    process_.functions.emplace_back();
    process_.frames.emplace_back();
  }
  FunctionId Function(const std::string& file, const std::string& name) {
    process_.functions.push_back({file, name});
    return static_cast<FunctionId>(process_.functions.size() - 1);
  }
  FrameId Frame(FrameId caller, FunctionId function, uint32_t line = 1) {
    process_.frames.push_back({caller, function, line});
    return static_cast<FrameId>(process_.frames.size() - 1);
  }
  void Saw(FrameId frame, uint64_t looks, bool started = true) {
    counts_[{started ? kA : kNoOperationIndex, started, frame}] = {looks, looks / 2};
  }
  void SawSynchronise(FrameId frame, uint64_t looks) {
    counts_[{kA, true, frame, true}] = {looks, 0};
  }
  std::vector<ReportSyncLine> SyncLines() {
    process_.labels = {{}, {LabelKind::kOperation, Layer::kUnset, "", "act"}};
    return SyncLinesOf(counts_, process_, LabelRoles(process_, {}));
  }
  std::vector<ReportStacks> Stacks() {
    process_.labels = {{}, {LabelKind::kOperation, Layer::kUnset, "", "act"}};
    const LabelRoles roles(process_, {});
    return StacksOf(counts_, process_, roles);
  }
  static std::vector<std::string> Parts(const ReportStacks& stacks) {
    std::vector<std::string> parts;
    for (const ReportStackPart& part : stacks.parts) {
      parts.push_back(part.function + " " + std::to_string(part.looks));
    }
    return parts;
  }

  ProcessTrace process_;
  StackCounts counts_;
};

const std::string kTorch = "/v/lib/python3.11/site-packages/torch/";

TEST_F(StackTreeTest, AnOperationPartsWhereItsStacksDo) {
  const FrameId script = Frame({}, Function("/home/me/ppo.py", "<module>"), 200);
  const FrameId act = Frame(script, Function("/home/me/ppo.py", "Agent.act"), 120);
  const FunctionId init = Function(kTorch + "distributions/categorical.py", "Categorical.__init__");
  const FunctionId log = Function(kTorch + "distributions/categorical.py", "Categorical.log_prob");
  Saw(Frame(act, init, 60), 50);
  Saw(Frame(act, init, 61), 10);  // another line of the same function
  Saw(Frame(act, log, 90), 30);
  Saw(act, 10);
  const std::vector<ReportStacks> stacks = Stacks();
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks[0].operation, "act");
  EXPECT_EQ(stacks[0].looks, 100u);
  EXPECT_DOUBLE_EQ(stacks[0].runnable_share, 0.5);
  EXPECT_THAT(Parts(stacks[0]),
              ElementsAre("Categorical.__init__ 60", "Categorical.log_prob 30", "Agent.act 10"));
  const ReportStackPart& first = stacks[0].parts[0];
  EXPECT_EQ(first.package, "torch");
  EXPECT_EQ(first.line, 60u);
  EXPECT_DOUBLE_EQ(first.share, 0.6);
  EXPECT_NEAR(first.error, 0.096, 0.001);  // 1.96 sqrt(0.6 x 0.4 / 100)
  EXPECT_EQ(stacks[0].parts[2].package, "");
}

TEST_F(StackTreeTest, WhatOnlyHandsOnIsLeftOut) {
  const FrameId act = Frame({}, Function("/home/me/ppo.py", "act"), 1);
  const FrameId call = Frame(act, Function(kTorch + "nn/modules/module.py", "Module._call_impl"));
  const FrameId hook = Frame(call, Function("/v/gpubound/_loop.py", "call"));
  Saw(Frame(hook, Function("/home/me/net.py", "Actor.forward")), 60);
  Saw(Frame(hook, Function("/home/me/net.py", "Critic.forward")), 40);
  EXPECT_THAT(Parts(Stacks()[0]), ElementsAre("Actor.forward 60", "Critic.forward 40"));
}

TEST_F(StackTreeTest, StartUpIsNamedByWhatIsImported) {
  const FrameId script = Frame({}, Function("/home/me/ppo.py", "<module>"), 3);
  const FunctionId find = Function("<frozen importlib._bootstrap>", "_find_and_load");
  const FrameId torch = Frame(Frame(script, find), Function(kTorch + "__init__.py", "<module>"));
  const FrameId gym = Frame(Frame(script, find),
                            Function("/v/lib/python3/dist-packages/gymnasium/core.py", "<module>"));
  Saw(torch, 70, /*started=*/false);
  Saw(gym, 20, /*started=*/false);
  Saw(script, 10, /*started=*/false);
  const std::vector<ReportStacks> stacks = Stacks();
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_TRUE(stacks[0].start_up);
  EXPECT_THAT(Parts(stacks[0]),
              ElementsAre("import torch 70", "import gymnasium.core 20", "ppo.py 10"));
}

TEST_F(StackTreeTest, FramesComeBehindTheirCallersAndSumToThem) {
  const FunctionId recursive = Function("/home/me/a.py", "walk");
  FrameId at{};
  for (int depth = 0; depth < 5; ++depth) {
    at = Frame(at, recursive);
    Saw(at, 10);
  }
  const std::vector<ReportStacks> stacks = Stacks();
  const std::vector<ReportFrame>& frames = stacks[0].frames;
  ASSERT_EQ(frames.size(), 5u);
  uint64_t own = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].caller, i);
    EXPECT_EQ(frames[i].looks, 50 - 10 * i);
    own += frames[i].own_looks;
  }
  EXPECT_EQ(own, stacks[0].looks);
}

TEST_F(StackTreeTest, AStackWhoseFramesAreNotThereHasNoParts) {
  Saw(FrameId{}, 30);
  const std::vector<ReportStacks> stacks = Stacks();
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks[0].looks, 30u);
  EXPECT_THAT(stacks[0].parts, IsEmpty());
  EXPECT_THAT(stacks[0].frames, IsEmpty());
}

TEST_F(StackTreeTest, ALineThatWaitsForTheGpuIsTheProgramsOwnAndOneThatDoesNotIsNotNamed) {
  const FrameId loop = Frame({}, Function("/home/me/ppo.py", "<module>"), 200);
  const FunctionId act = Function("/home/me/ppo.py", "Agent.act");
  const FrameId item = Frame(loop, act, 120), copy = Frame(loop, act, 121);
  const FrameId launch = Frame(loop, act, 122);
  const FunctionId cpu = Function(kTorch + "_tensor.py", "Tensor.tolist");
  SawSynchronise(Frame(item, cpu, 5), 20);
  SawSynchronise(Frame(item, cpu, 6), 10);  // the same line of the program
  SawSynchronise(copy, 10);
  Saw(launch, 1000);
  const std::vector<ReportSyncLine> lines = SyncLines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].operation, "act");
  EXPECT_EQ(lines[0].at.function, "Agent.act");
  EXPECT_EQ(lines[0].at.line, 120u);
  EXPECT_DOUBLE_EQ(lines[0].at.share, 0.75);
  EXPECT_NEAR(lines[0].at.error, 0.134, 0.001);  // 1.96 sqrt(0.75 x 0.25 / 40)
  EXPECT_EQ(lines[1].at.line, 121u);
}

TEST_F(StackTreeTest, AFewLooksFromTheEndOfAWaitNameNoLine) {
  const FunctionId act = Function("/home/me/ppo.py", "Agent.act");
  SawSynchronise(Frame({}, act, 120), 997);
  SawSynchronise(Frame({}, act, 121), 3);  // that the thread had gone on to
  const std::vector<ReportSyncLine> lines = SyncLines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].at.line, 120u);
  EXPECT_DOUBLE_EQ(lines[0].at.share, 0.997);
}

TEST_F(StackTreeTest, AWaitForTheGpuInALibraryAloneIsAtItsInnermostLine) {
  const FrameId run = Frame({}, Function(kTorch + "run.py", "main"), 1);
  SawSynchronise(Frame(run, Function(kTorch + "_tensor.py", "Tensor.tolist"), 5), 1);
  const std::vector<ReportSyncLine> lines = SyncLines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].at.package, "torch");
  EXPECT_EQ(lines[0].at.line, 5u);
}

}  // namespace
}  // namespace gpubound
