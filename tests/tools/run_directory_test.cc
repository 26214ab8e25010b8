// SPDX-License-Identifier: Apache-2.0
//
// Naming, making and finding run directories.
#include "tools/launch/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/run_path.h"
#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

TEST(RunName, HoldsProgramTimeAndProcess) {
  EXPECT_THAT(DefaultRunName("/usr/bin/python3.11", 0, 42),
              MatchesRegex("python3\\.11-[0-9]{8}-[0-9]{6}-42\\.gpubound"));
}

TEST(RunName, IsHarmlessForAnyProgram) {
  EXPECT_THAT(DefaultRunName("./-rf $(x)\n", 0, 1), StartsWith("_rf___x__-"));
  EXPECT_THAT(DefaultRunName("..", 0, 1), StartsWith("_.-"));
  EXPECT_THAT(DefaultRunName("dir/", 0, 1), StartsWith("_-"));
  EXPECT_LT(DefaultRunName(std::string(5000, 'x'), 0, 1).size(), 200u);
}

class RunDirectoryTest : public testing::Test {
 protected:
  Result<RunDirectory> Make(const std::string& name, bool join = false) {
    return MakeRunDirectory(temporary_.File(name), join);
  }

  TemporaryFolder temporary_;
};

TEST_F(RunDirectoryTest, IsPrivate) {
  const auto made = Make("x.gpubound");
  ASSERT_TRUE(made.ok()) << made.error().ToString();
  EXPECT_TRUE(made->created);
  EXPECT_EQ(ModeOf(made->path), 0700u);
}

TEST_F(RunDirectoryTest, IsMadeWithTheFoldersAboveIt) {
  const auto made = Make("a/b/x.gpubound/");
  ASSERT_TRUE(made.ok()) << made.error().ToString();
  EXPECT_EQ(made->path, temporary_.File("a/b/x.gpubound"));
}

TEST_F(RunDirectoryTest, BecomesAbsolute) {
  const fs::path before = fs::current_path();
  fs::current_path(temporary_.path());
  const auto made = MakeRunDirectory("x.gpubound", false);
  fs::current_path(before);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->path, fs::canonical(temporary_.path()).string() + "/x.gpubound");
}

TEST_F(RunDirectoryTest, TakesAnEmptyOneThatIsThere) {
  fs::create_directory(temporary_.File("x"));
  const auto made = Make("x");
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(made->created);
}

TEST_F(RunDirectoryTest, DoesNotMixWithAnotherTraceUnlessItJoins) {
  fs::create_directory(temporary_.File("x"));
  temporary_.Write("x/host.1.2.0.db", "");
  const auto made = Make("x");
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().found, HasSubstr("trace of another run"));
  EXPECT_TRUE(Make("x", /*join=*/true).ok());
}

TEST_F(RunDirectoryTest, DoesNotMixWithOtherFiles) {
  fs::create_directory(temporary_.File("x"));
  temporary_.Write("x/thesis.tex", "");
  EXPECT_FALSE(Make("x").ok());
}

TEST_F(RunDirectoryTest, DoesNotReplaceAFile) {
  temporary_.Write("x", "precious");
  EXPECT_FALSE(Make("x").ok());
  EXPECT_FALSE(Make("x/y").ok());
  EXPECT_EQ(ReadText(temporary_.File("x")), "precious");
}

TEST_F(RunDirectoryTest, WhosePathIsTooLongForSqliteIsRefused) {
  const std::string folders = temporary_.File(std::string(200, 'd')) + "/";
  const std::string longest = folders + std::string(kLongestRunPath - folders.size(), 'r');
  const auto made = MakeRunDirectory(longest + "r", false);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().found, "a path of 391 bytes");
  EXPECT_FALSE(fs::exists(folders));
  EXPECT_TRUE(MakeRunDirectory(longest, false).ok());
}

TEST_F(RunDirectoryTest, IsRemovedOnlyIfItIsOursAndEmpty) {
  const auto made = Make("x");
  temporary_.Write("x/file", "");
  RemoveIfEmpty(*made);
  EXPECT_TRUE(fs::exists(made->path));
  fs::remove(temporary_.File("x/file"));
  RemoveIfEmpty({made->path, false});
  EXPECT_TRUE(fs::exists(made->path));
  RemoveIfEmpty(*made);
  EXPECT_FALSE(fs::exists(made->path));
}

TEST_F(RunDirectoryTest, TheNewestIsTheOneChangedLast) {
  for (const char* name : {"a.gpubound", "b.gpubound", "c.gpubound", "d.other"}) {
    fs::create_directory(temporary_.File(name));
  }
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(temporary_.File("a.gpubound"), now - std::chrono::seconds(1));
  fs::last_write_time(temporary_.File("b.gpubound"), now);
  fs::last_write_time(temporary_.File("c.gpubound"), now - std::chrono::seconds(2));
  fs::last_write_time(temporary_.File("d.other"), now + std::chrono::seconds(2));
  const auto newest = NewestRun(temporary_.path());
  ASSERT_TRUE(newest.ok());
  EXPECT_THAT(*newest, EndsWith("/b.gpubound"));
}

TEST_F(RunDirectoryTest, WithoutAnyTheErrorSaysHowToMakeOne) {
  const auto newest = NewestRun(temporary_.path());
  ASSERT_FALSE(newest.ok());
  EXPECT_THAT(newest.error().remedy, HasSubstr("gpubound run"));
}

}  // namespace
}  // namespace gpubound
