// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/report_categories.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

TEST(CategoryTable, SharesAreOfAllDeviceWork) {
  ReportProcess process;
  process.categories = {{"elementwise", 1200, 3'000'000}, {"gemm", 7, 1'000'000}};
  EXPECT_EQ(CategoryTable(process, TextOptions()),
            "\n"
            "Category     count  GPU time  share\n"
            "elementwise   1200   3.00 ms   75 %\n"
            "gemm             7   1.00 ms   25 %\n");
}

TEST(CategoryTable, AProcessWithoutDeviceWorkSaysSo) {
  EXPECT_EQ(CategoryTable(ReportProcess(), TextOptions()), "\nNo GPU work was recorded.\n");
}

}  // namespace
}  // namespace gpubound
