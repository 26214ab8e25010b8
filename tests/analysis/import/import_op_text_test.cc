// SPDX-License-Identifier: Apache-2.0
#include "analysis/import/import_op_text.h"

#include <gtest/gtest.h>

#include <string>

namespace gpubound {
namespace {

Op Made(const char* name, const char* dims, const char* types = "", const char* values = "") {
  return MakeOp(name, {dims, types, values});
}

TEST(ImportOpTextTest, ShapesAndTypesEndWithTheLastInputThatHasAShape) {
  const Op op = Made("aten::addmm", "[[1024], [8944, 1024], [1024, 16], [], []]",
                     R"(["c10::BFloat16", "c10::BFloat16", "float", "Scalar", "Scalar"])",
                     R"(["", "", "", "1", "1"])");
  EXPECT_EQ(op.name, "aten::addmm");
  EXPECT_EQ(op.dims, "1024, 8944x1024, 1024x16");
  EXPECT_EQ(op.types, "BFloat16, BFloat16, float");
  EXPECT_EQ(op.values, "");
}

TEST(ImportOpTextTest, AnInputWithoutAShapeKeepsItsPlace) {
  EXPECT_EQ(Made("aten::where", "[[2], [], [3,4]]").dims, "2, -, 3x4");
}

TEST(ImportOpTextTest, AListOfTensorsIsOneInput) {
  EXPECT_EQ(Made("aten::cat", "[[[2, 3], [4]], []]").dims, "(2x3;4)");
  EXPECT_EQ(Made("aten::cat", "[[[], [4]]]").dims, "(;4)");
}

TEST(ImportOpTextTest, AListOfVeryManyTensorsIsCut) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += (i == 0 ? "[12]" : ", [12]");
  const Op op = Made("aten::_foreach_add_", ("[[" + many + "], [1]]").c_str());
  EXPECT_LT(op.dims.size(), 200u);
  EXPECT_EQ(op.dims.substr(0, 7), "(12;12;");
}

TEST(ImportOpTextTest, ConvolutionsAndAttentionKeepTheirNumbers) {
  const char* const values = R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False"])";
  EXPECT_EQ(Made("aten::convolution", "[[8, 3, 9, 9], [64, 3, 7, 7]]", "", values).values,
            "-; -; -; [2, 2]; [3, 3]; [1, 1]; False");
  EXPECT_EQ(Made("aten::mul", "[[8]]", "", values).values, "");
}

TEST(ImportOpTextTest, TextThatIsNoListIsNothing) {
  for (const char* const text : {"", "7", "[", "[[", "]", "[[2, 3]", "[\"", "[[\"a\\\"]\", 3]"}) {
    const Op op = Made("aten::convolution", text, text, text);
    EXPECT_LT(op.dims.size() + op.types.size() + op.values.size(), 40u) << text;
  }
}

}  // namespace
}  // namespace gpubound
