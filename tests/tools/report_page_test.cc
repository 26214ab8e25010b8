// SPDX-License-Identifier: Apache-2.0
//
// The page as a file: what fills it, where it cannot be made.
#include "tools/commands/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubound {
namespace {

using ::testing::HasSubstr;

TEST(ReportPageTest, TheDataFillsThePagesHole) {
  const Result<std::string> file = PageOf(AnalyzedRun{}, "<a>@GPUBOUND_DATA@</a>");
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->starts_with("<a>{\"format\":\"gpubound.page.v1\"")) << *file;
  EXPECT_TRUE(file->ends_with("}</a>"));
}

TEST(ReportPageTest, AComparisonFillsItTooWithItsNamesEscaped) {
  RunGroup group;
  group.name = "</script>";
  group.runs = {"run"};
  group.reports.emplace_back();
  const std::vector<RunGroup> groups = {group, group};
  const Result<std::string> file =
      ComparisonPageOf(CompareGroups(groups, 1), groups, "<a>@GPUBOUND_DATA@</a>");
  ASSERT_TRUE(file.ok());
  EXPECT_THAT(*file, HasSubstr("gpubound.compare.v1"));
  EXPECT_EQ(file->find("</"), file->size() - std::string("</a>").size());
}

TEST(ReportPageTest, AToolThatWasBuiltWithoutThePageSaysHowToGetIt) {
  const Result<std::string> file = PageOf(AnalyzedRun{}, "");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().found, HasSubstr("built without the report page"));
  EXPECT_THAT(file.error().remedy, HasSubstr("apt-get install npm"));
}

}  // namespace
}  // namespace gpubound
