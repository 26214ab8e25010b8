// SPDX-License-Identifier: Apache-2.0
#include "analysis/attribution/op_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpubound {
namespace {

OpTime Time(const std::string& op, const std::string& dims, const std::string& kernel,
            uint64_t calls, int64_t ns) {
  OpTime time;
  time.op = {op, dims, dims.empty() ? "" : "float, float", ""};
  time.name = kernel;
  time.count = 4;
  time.calls = calls;
  time.sum_ns = ns;
  return time;
}

TEST(OpRows, KernelsOfOneOperatorAndShapeAreOneRowWithTheCostOfItsCalls) {
  const std::vector<ReportOp> rows = OpRows({Time("aten::mm", "8x32, 32x16", "sgemm", 4, 900),
                                             Time("aten::mm", "8x32, 32x16", "fill", 0, 100),
                                             Time("aten::mm", "2x2, 2x2", "sgemm", 4, 2000)},
                                            nullptr);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].shape, "2x2, 2x2");
  EXPECT_EQ(rows[1].sum_ns, 1000);
  EXPECT_EQ(rows[1].count, 8u);
  EXPECT_EQ(rows[1].calls, 4u);
  EXPECT_EQ(rows[1].category, "gemm");
  EXPECT_EQ(rows[1].flops, 4 * 8192);
}

TEST(OpRows, WorkWhoseOperatorsBeginIsNotThereCostsNobodyKnowsWhat) {
  const std::vector<ReportOp> rows =
      OpRows({Time("aten::mm", "8x32, 32x16", "sgemm", 0, 900)}, nullptr);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_FALSE(rows[0].flops);
}

// 4 x 8192 operations in 1 us are 32.8 GFLOP/s; 4 x 2 x 896 bytes 7.2 GB/s.
TEST(OpRows, SharesAreOfThePeakWhereItIsKnownAndOfOperationsIn16BitsOnly) {
  OpTime half = Time("aten::mm", "8x32, 32x16", "hgemm", 4, 1000);
  half.op.types = "Half, Half";
  DeviceKind peak;
  peak.flops = 65.536e9;
  peak.bytes = 28.672e9;
  const std::vector<ReportOp> rows =
      OpRows({half, Time("aten::mm", "8x32, 32x16", "sgemm", 4, 900)}, &peak);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_NEAR(*rows[0].peak_flops_share, 0.5, 1e-9);
  EXPECT_NEAR(*rows[0].peak_bytes_share, 0.25, 1e-9);
  EXPECT_FALSE(rows[1].peak_flops_share);
  EXPECT_TRUE(rows[1].peak_bytes_share);
}

TEST(OpRows, ShapesBeyondTheMostAreOneRowOfTheirOperator) {
  std::vector<OpTime> times;
  for (size_t i = 0; i < kMostOpRows + 5; ++i) {
    const std::string size = std::to_string(i + 1);
    times.push_back(Time("aten::mm", size + "x1, 1x1", "sgemm", 1, 1000 + static_cast<int64_t>(i)));
  }
  const std::vector<ReportOp> rows = OpRows(times, nullptr);
  ASSERT_EQ(rows.size(), kMostOpRows + 1);
  EXPECT_EQ(rows[0].shape, kOtherShapes) << "five of them together take longest";
  EXPECT_EQ(rows[0].calls, 5u);
  EXPECT_EQ(rows[0].flops, 2.0 * (1 + 2 + 3 + 4 + 5));
  EXPECT_EQ(rows[0].category, "gemm");
}

}  // namespace
}  // namespace gpubound
