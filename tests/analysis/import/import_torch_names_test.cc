// SPDX-License-Identifier: Apache-2.0
#include "analysis/import/import_torch_names.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

TEST(TorchNamesTest, ARangeOfEmitNvtxIsCalledAfterItsOperator) {
  EXPECT_EQ(WithoutCallIds("aten::mm, seq = 12, op_id = 7012"), "aten::mm");
  EXPECT_EQ(WithoutCallIds("AddmmBackward0, op_id = 9, sizes = [[2, 3]], input_op_ids = [(8,0)]"),
            "AddmmBackward0");
  EXPECT_EQ(WithoutCallIds("train, then test"), "train, then test");
}

TEST(TorchNamesTest, AModuleIsCalledWithoutTheNumberOfTheInstance) {
  EXPECT_EQ(ModuleOf("nn.Module: ActorCritic_0"), "ActorCritic");
  EXPECT_EQ(ModuleOf("nn.Module: Layer_2_norm"), "Layer_2_norm");
  EXPECT_EQ(ModuleOf("torch/nn/modules/module.py(1): forward"), "");
}

TEST(TorchNamesTest, TheRangesThatTorchOpensAreNoAnnotationsOfTheProgram) {
  EXPECT_TRUE(IsTorchsOwnRange("Optimizer.zero_grad#Adam.zero_grad"));
  EXPECT_FALSE(IsTorchsOwnRange("## backward ##"));
  EXPECT_EQ(OperationOfTorchRange("Optimizer.step#Adam.step"), "optimizer");
  EXPECT_EQ(OperationOfTorchRange("rollout"), std::nullopt);
}

TEST(TorchNamesTest, NumbersInANameAreOneSignEach) {
  EXPECT_EQ(WithoutNumbers("step 17 of 90000"), "step # of #");
  EXPECT_EQ(WithoutNumbers("rollout"), "rollout");
}

}  // namespace
}  // namespace gpubound
