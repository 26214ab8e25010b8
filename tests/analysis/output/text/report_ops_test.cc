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
  process.ops[0].peak_flops_share = 0.618;
  process.ops[0].peak_bytes_share = 0.6;
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
  TextOptions options;
  options.width = 120;
  const std::string text = ShapeTable(ProcessWithOps(), options);
  EXPECT_THAT(text, HasSubstr("aten::mm 8x32, 32x16"));
  EXPECT_THAT(text, HasSubstr("BFloat16     10   50 %   1.00 ms      611  2000  62 %"));
  EXPECT_THAT(text, HasSubstr("BFloat16     10   40 %    800 us        -     -     -"));
}

TEST(ShapeTable, ANarrowOneKeepsTheShapesWhole) {
  EXPECT_EQ(ShapeTable(ProcessWithOps(), TextOptions()),
            "\n"
            "Operator, shapes of its inputs  GPU time  TFLOP/s  GB/s  peak\n"
            "aten::mm 8x32, 32x16             1.00 ms      611  2000  62 %\n"
            "aten::mm                          800 us        -     -     -\n");
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
