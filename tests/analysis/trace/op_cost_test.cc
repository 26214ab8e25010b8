// SPDX-License-Identifier: Apache-2.0
//
// What operators cost, against products worked out by hand.
#include "analysis/trace/op_cost.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace gpubound {
namespace {

struct Case {
  Op op;
  double flops;
  double bytes;  // below 0: not known
};

void Expect(const Case& one) {
  const std::optional<OpCost> cost = CostOf(one.op);
  ASSERT_TRUE(cost) << one.op.name;
  EXPECT_DOUBLE_EQ(cost->flops, one.flops) << one.op.name << ' ' << one.op.dims;
  EXPECT_DOUBLE_EQ(cost->bytes.value_or(-1), one.bytes) << one.op.name << ' ' << one.op.dims;
}

// 2 m k n; and each matrix once.
TEST(OpCostTest, AMatrixProductIsTwoOperationsForEachRowColumnAndTerm) {
  Expect({{"aten::mm", "8x32, 32x16", "float, float", ""}, 8192, 4 * (256 + 512 + 128)});
  Expect({{"aten::addmm", "16, 8x32, 32x16", "Half, Half, Half", ""},
          8192,
          2 * (256 + 512 + 16 + 128)});
  Expect(
      {{"aten::bmm", "4x8x32, 4x32x16", "float, float", ""}, 4 * 8192, 4 * 4 * (256 + 512 + 128)});
  Expect({{"aten::baddbmm", "4x8x16, 4x8x32, 4x32x16", "float, float, float", ""},
          4 * 8192,
          4 * 4 * (256 + 512 + 128 + 128)});
  Expect({{"aten::linear", "2x4x32, 16x32, 16", "BFloat16, BFloat16, BFloat16", ""},
          8192,
          2 * (256 + 512 + 16 + 128)});
  Expect({{"aten::mv", "8x32, 32", "float, float", ""}, 512, 4 * (256 + 32 + 8)});
}

// A layer of a language model: 2 x 8944 x 1024 x 2816.
TEST(OpCostTest, ProductsBeyond32BitsAreExact) {
  const Op op{"aten::mm", "8944x1024, 1024x2816", "BFloat16, BFloat16", ""};
  EXPECT_DOUBLE_EQ(CostOf(op)->flops, 51'581'550'592.0);
}

// ResNet's first layer: 8 images of 3 x 224 x 224, 64 filters of 7 x 7, every other place, so
// 2 x 8 x 112 x 112 x 64 x 3 x 7 x 7.
TEST(OpCostTest, AConvolutionMeetsItsWeightsAtEachPlaceOfTheOutput) {
  constexpr double kFlops = 2.0 * 8 * 112 * 112 * 64 * 147;
  constexpr double kBytes = 4.0 * (8 * 3 * 224 * 224 + 64 * 147 + 8 * 64 * 112 * 112);
  Expect({{"aten::convolution", "8x3x224x224, 64x3x7x7", "float, float",
           "-; -; -; [2, 2]; [3, 3]; [1, 1]; False; [0, 0]; 1"},
          kFlops,
          kBytes});
  Expect({{"aten::cudnn_convolution", "8x3x224x224, 64x3x7x7", "float, float",
           "-; -; [3, 3]; [2, 2]; [1, 1]; 1; True; False; True"},
          kFlops,
          kBytes});
}

// 32 channels in groups of one: 2 x 1 x 30 x 30 x 32 x 9.
TEST(OpCostTest, AConvolutionInGroupsMeetsTheWeightsOfEachChannelsGroup) {
  Expect({{"aten::convolution", "1x32x32x32, 32x1x3x3", "float, float",
           "-; -; -; [1, 1]; [0, 0]; [1, 1]; False; [0, 0]; 32"},
          2.0 * 900 * 32 * 9,
          4.0 * (32 * 1024 + 32 * 9 + 32 * 900)});
}

TEST(OpCostTest, ATransposedConvolutionMeetsItsWeightsAtEachPlaceOfTheInput) {
  Expect({{"aten::convolution", "4x64x16x16, 64x32x2x2", "float, float",
           "-; -; -; [2, 2]; [0, 0]; [1, 1]; True; [0, 0]; 1"},
          2.0 * 4 * 256 * 64 * 32 * 4,
          -1});
}

TEST(OpCostTest, TheWayBackOfAConvolutionCostsAsMuchAsForwardForEachGradient) {
  const std::string shapes = "8x64x112x112, 8x3x224x224, 64x3x7x7";
  const std::string numbers = "-; -; -; [64]; [2, 2]; [3, 3]; [1, 1]; False; [0, 0]; 1; ";
  constexpr double kForward = 2.0 * 8 * 112 * 112 * 64 * 147;
  const Op both{"aten::convolution_backward", shapes, "", numbers + "[True, True, False]"};
  const Op one{"aten::convolution_backward", shapes, "", numbers + "[False, True, True]"};
  EXPECT_DOUBLE_EQ(CostOf(both)->flops, 2 * kForward);
  EXPECT_DOUBLE_EQ(CostOf(one)->flops, kForward);
}

// Two products of 559 x 64 with 64 x 559, of 16 x 16 heads.
TEST(OpCostTest, AttentionIsTwoProductsOfEachQueryWithEachKey) {
  constexpr double kFlops = 2.0 * 256 * 559 * 559 * 128;
  constexpr double kBytes = 2.0 * 4 * 256 * 559 * 64;
  const std::string types = "BFloat16, BFloat16, BFloat16";
  Expect({{"aten::scaled_dot_product_attention", "16x16x559x64, 16x16x559x64, 16x16x559x64", types,
           "-; -; -; -; 0.; False; 0.125; False"},
          kFlops,
          kBytes});
  Expect({{"aten::_flash_attention_forward", "16x559x16x64, 16x559x16x64, 16x559x16x64", types,
           "-; -; -; -; -; 559; 559; 0.; True; False; 0.125"},
          kFlops / 2,
          kBytes});
  const std::string four = "16x559x16x64, 16x559x16x64, 16x559x16x64, 16x559x16x64";
  const Op backward{"aten::_flash_attention_backward", four, "",
                    "-; -; -; -; -; -; -; -; 559; 559; 0.; False"};
  EXPECT_DOUBLE_EQ(CostOf(backward)->flops, 2.5 * kFlops);
}

TEST(OpCostTest, WhatShapesDoNotTellIsNotKnown) {
  for (const Op& op : {
           Op{"aten::mm", "", "", ""},
           Op{"aten::mm", "8x32", "float", ""},
           Op{"aten::mul", "8x32, 8x32", "float, float", ""},
           Op{"aten::convolution", "8x3x224x224, 64x3x7x7", "float, float", ""},
           Op{"aten::convolution", "8x3x224x224, 64x3x7x7", "float, float",
              "-; -; -; [0, 0]; [3, 3]; [1, 1]; False; [0, 0]; 1"},
           Op{"aten::_flash_attention_forward", "559x16x64, 559x16x64, 559x16x64", "", ""},
           Op{"aten::mm", "(2x3;4), -", "", ""},
       }) {
    EXPECT_FALSE(CostOf(op)) << op.name << ' ' << op.dims;
  }
}

TEST(OpCostTest, BytesOfATypeThatIsNotKnownAreNotKnown) {
  const std::optional<OpCost> cost = CostOf({"aten::mm", "8x32, 32x16", "QInt4, QInt4", ""});
  ASSERT_TRUE(cost);
  EXPECT_FALSE(cost->bytes);
}

}  // namespace
}  // namespace gpubound
