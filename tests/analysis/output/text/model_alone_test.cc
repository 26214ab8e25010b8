// SPDX-License-Identifier: Apache-2.0
//
// The text and the checks of a report, linked whole with the report's model and nothing of the
// engine: that this program links is what it tests.
#include <gtest/gtest.h>

#include "analysis/output/check/check.h"
#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {
namespace {

TEST(ReportText, IsRenderedWithoutTheEngine) {
  Report report;
  report.run.verdict = "complete";
  report.processes.emplace_back().name = "trainer";
  EXPECT_NE(RenderText(report).find("complete"), std::string::npos);
}

}  // namespace
}  // namespace gpubound
