// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/report_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubound {
namespace {

using ::testing::HasSubstr;

// 2 ms of device work, of which an operator launched all but 0.2 ms.
ReportProcess ProcessWithOps() {
  ReportProcess process;
  process.categories = {{"gemm", 30, 1'800'000}, {"elementwise", 20, 200'000}};
  for (const auto& [shape, ns] : {std::pair("8x32, 32x16", 1'000'000), std::pair("", 800'000)}) {
    ReportOp& row = process.ops.emplace_back();
    row.op = "aten::mm";
    row.shape = shape;
    row.types = "BFloat16, BFloat16";
    row.category = "gemm";
    row.calls = 10;
    row.count = 15;
    row.sum_ns = ns;
  }
  process.ops[0].flops = 611e9 * 1;  // in a millisecond
  process.ops[0].bytes = 2e9;
  return process;
}

TEST(OpTable, ShapesOfAnOperatorAreOneRowAndWhatNoneLaunchedIsAnother) {
  EXPECT_EQ(OpTable(ProcessWithOps(), TextOptions()),
            "\n"
            "Operator       category  calls  kernels  GPU time  share\n"
            "aten::mm           gemm     20       30   1.80 ms   90 %\n"
            "(no operator)                        20    200 us   10 %\n");
}

TEST(ShapeTable, SaysWhatIsReachedWhereTheShapesTell) {
  const std::string text = ShapeTable(ProcessWithOps(), TextOptions());
  EXPECT_THAT(text, HasSubstr("aten::mm 8x32, 32x16"));
  EXPECT_THAT(text, HasSubstr("BFloat16     10   1.00 ms   50 %      611  2000"));
  EXPECT_THAT(text, HasSubstr("BFloat16     10    800 us   40 %        -     -"));
}

TEST(ShapeTable, OfManyTheLongestAreShownButWithFull) {
  ReportProcess process = ProcessWithOps();
  process.ops.resize(45, process.ops[0]);
  TextOptions options;
  EXPECT_THAT(ShapeTable(process, options), HasSubstr("and 5 more (--full)."));
  options.full = true;
  EXPECT_THAT(ShapeTable(process, options), testing::Not(HasSubstr("more")));
}

TEST(OpTable, ARunWithoutOperatorsSaysWhoTellsThem) {
  EXPECT_THAT(OpTable(ReportProcess(), TextOptions()), HasSubstr("only imported PyTorch profiles"));
  EXPECT_EQ(OpTable(ReportProcess(), TextOptions()), ShapeTable(ReportProcess(), TextOptions()));
}

}  // namespace
}  // namespace gpubound
