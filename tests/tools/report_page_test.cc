// SPDX-License-Identifier: Apache-2.0
//
// The page as a file: where it cannot be made, where it cannot be stored.
#include "tools/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/tool_fixtures.h"

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

TEST(ReportPageTest, AFileIsReplacedAsAWhole) {
  const TemporaryFolder folder;
  folder.Write("page.html", "something longer");
  ASSERT_TRUE(WriteWholeFile(folder.File("page.html"), "new").ok());
  EXPECT_EQ(ReadText(folder.File("page.html")), "new");
}

TEST(ReportPageTest, AFolderThatIsNotThereIsNamed) {
  const TemporaryFolder folder;
  const Status written = WriteWholeFile(folder.File("none/page.html"), "new");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().object, folder.File("none/page.html"));
  EXPECT_THAT(written.error().found, HasSubstr("No such file"));
}

TEST(ReportPageTest, WhatCannotBeStoredLeavesNothingBehind) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.File("page.html/full"));  // no file can take its place
  EXPECT_FALSE(WriteWholeFile(folder.File("page.html"), "new").ok());
  EXPECT_FALSE(std::filesystem::exists(folder.File("page.html.part")));
}

}  // namespace
}  // namespace gpubound
