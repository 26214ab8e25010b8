// SPDX-License-Identifier: Apache-2.0
//
// What is read from the texts of XLA's ranges. The texts are those of a run of JAX on an H100.
#include "cupti_hooks/nvtx/xla_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> ComponentsOf(std::string_view path) {
  std::vector<std::string> components;
  while (!path.empty()) {
    const std::string_view component = TakeInnermost(&path);
    if (!component.empty()) components.emplace_back(component);
  }
  return components;
}

TEST(XlaRangesTest, TheNameOfAThunkIsThePathInWhichItWasTraced) {
  EXPECT_EQ(XlaPathOf("Thunk:#name=jit(train)/while/body/eval_jaxpr/inference,"
                      "hlo_op=gemm_fusion_dot_general.3,unique_hlo_op_id=60129542146#"),
            "jit(train)/while/body/eval_jaxpr/inference");
  EXPECT_EQ(XlaPathOf("Thunk:#name=jit(f)/a,b,hlo_op=fusion#"), "jit(f)/a,b");
  EXPECT_EQ(XlaPathOf("Thunk:#hlo_op=copy.1,unique_hlo_op_id=4294967297#"), "");
  EXPECT_EQ(XlaPathOf("XlaPass:#name=dce,module=jit_train,program_id=2#"), "")
      << "the name of a pass is no path";
  EXPECT_EQ(XlaPathOf("inference"), "");
}

TEST(XlaRangesTest, ScopesStandBetweenSlashesAndInTransformations) {
  EXPECT_THAT(
      ComponentsOf("jit(train)/while/body/eval_jaxpr/inference/dot_general"),
      ElementsAre("dot_general", "inference", "eval_jaxpr", "body", "while", "train", "jit"));
  EXPECT_THAT(
      ComponentsOf("jit(train)/backpropagation/transpose(jvp(jit(take_along_axis)))/"),
      ElementsAre("take_along_axis", "jit", "jvp", "transpose", "backpropagation", "train", "jit"));
  EXPECT_THAT(ComponentsOf("jit(train)/transpose(jvp(loss))/add"),
              ElementsAre("add", "loss", "jvp", "transpose", "train", "jit"));
  EXPECT_THAT(ComponentsOf("inference"), ElementsAre("inference"));
  EXPECT_THAT(ComponentsOf(""), IsEmpty());
  EXPECT_THAT(ComponentsOf("//()"), IsEmpty());
}

TEST(XlaRangesTest, WhatDiffersBetweenCompilationsIsNotInTheLabel) {
  EXPECT_EQ(XlaLabelOf("XlaPass:#name=dce,module=jit_train,program_id=1325#"), "XlaPass");
  EXPECT_EQ(XlaLabelOf("XlaCompileBackend:#module=jit_train,program_id=662#"), "XlaCompileBackend");
  EXPECT_EQ(XlaLabelOf("XlaCompile:#module=jit_train#"), "XlaCompile:jit_train");
  EXPECT_EQ(XlaLabelOf("XlaModule:#prefix=args[0],hlo_module=jit_stage,program_id=0#"),
            "XlaModule:jit_stage");
  EXPECT_EQ(XlaLabelOf("XlaModule:#hlo_module=jit_stage,program_id=0#"), "XlaModule:jit_stage");
  EXPECT_EQ(XlaLabelOf("Thunk:#hlo_op=copy.1,unique_hlo_op_id=4294967297#"), "Thunk:copy.1");
  EXPECT_EQ(XlaLabelOf("Thunk:#hlo_op=command_buffer_1#"), "Thunk:command_buffer_1");
  EXPECT_EQ(XlaLabelOf("Thunk:#name=jit(add)/add,hlo_op=loop_add_fusion,unique_hlo_op_id=42#"),
            "Thunk:jit(add)/add");
}

TEST(XlaRangesTest, OtherTextsStayAsTheyAre) {
  for (const char* text : {"", "#", ":#", "TfOp:", "Thunk:#", "a:#b", "Thunk"}) {
    EXPECT_EQ(XlaLabelOf(text).substr(0, 1), std::string(text).substr(0, 1)) << text;
    EXPECT_EQ(XlaPathOf(text), "") << text;
  }
  EXPECT_EQ(XlaLabelOf("step 7"), "step 7");
  EXPECT_EQ(XlaLabelOf("a:#b"), "a:#b");
}

}  // namespace
}  // namespace gpubound
