// SPDX-License-Identifier: Apache-2.0
//
// Where our options end and somebody else's command begins.
#include "tools/commands/run_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "tests/tools/tool_fixtures.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RunArgumentsTest : public testing::Test {
 protected:
  void Parse(const Arguments& words) {
    captured_ = Capture([&] {
      over_ = ParseRunArguments(words, &arguments_);
      return over_.value_or(-1);
    });
  }

  RunArguments arguments_;
  std::optional<int> over_;
  Captured captured_;
};

TEST_F(RunArgumentsTest, EverythingBehindTheMarkBelongsToTheCommand) {
  Parse({"-o", "x", "--", "python", "-o", "y", "--quiet", "--", "z"});
  EXPECT_FALSE(over_);
  EXPECT_EQ(arguments_.output, "x");
  EXPECT_FALSE(arguments_.quiet);
  EXPECT_THAT(arguments_.command, ElementsAre("python", "-o", "y", "--quiet", "--", "z"));
}

TEST_F(RunArgumentsTest, TheMarkMayBeLeftOut) {
  Parse({"--quiet", "python", "-o", "y", "--help"});
  EXPECT_FALSE(over_);
  EXPECT_TRUE(arguments_.quiet);
  EXPECT_EQ(arguments_.output, "");
  EXPECT_THAT(arguments_.command, ElementsAre("python", "-o", "y", "--help"));
}

TEST_F(RunArgumentsTest, MeasuringAfterwardsCanBeLeftOut) {
  Parse({"--no-calibrate", "--", "python", "--no-calibrate"});
  EXPECT_FALSE(over_);
  EXPECT_TRUE(arguments_.no_calibrate);
  EXPECT_THAT(arguments_.command, ElementsAre("python", "--no-calibrate"));
}

TEST_F(RunArgumentsTest, ADurationIsInSecondsUnlessItSaysOtherwise) {
  Parse({"--", "x"});
  EXPECT_FALSE(arguments_.duration_ns);
  for (const auto& [text, ns] : std::map<std::string, int64_t>{{"60", 60'000'000'000},
                                                               {"1.5", 1'500'000'000},
                                                               {"500ms", 500'000'000},
                                                               {"2h", 7'200'000'000'000}}) {
    Parse({"--duration", text, "--", "x"});
    EXPECT_FALSE(over_) << captured_.err;
    EXPECT_EQ(arguments_.duration_ns, ns) << text;
  }
}

TEST_F(RunArgumentsTest, ADurationIsATime) {
  for (const char* text : {"0", "-1", "ten", "5 apples", "nan", "inf", "1e300", ""}) {
    Parse({"--duration", text, "--", "x"});
    EXPECT_EQ(over_, kExitLauncherFailed) << text;
    EXPECT_THAT(captured_.err, HasSubstr("--duration")) << text;
  }
}

TEST_F(RunArgumentsTest, AMarkBehindTheCommandIsAnArgumentOfIt) {
  Parse({"git", "--", "file"});
  EXPECT_THAT(arguments_.command, ElementsAre("git", "--", "file"));
}

TEST_F(RunArgumentsTest, EmptyArgumentsAreKept) {
  Parse({"--", "echo", "", "a b"});
  EXPECT_THAT(arguments_.command, ElementsAre("echo", "", "a b"));
}

TEST_F(RunArgumentsTest, NoCommandIsAFailureOfTheLauncher) {
  for (const Arguments& words : {Arguments{}, Arguments{"--"}, Arguments{"-q"}}) {
    Parse(words);
    EXPECT_EQ(over_, kExitLauncherFailed);
    EXPECT_THAT(captured_.err, HasSubstr("no command"));
  }
}

TEST_F(RunArgumentsTest, AnUnknownOptionIsNotTakenForTheCommand) {
  Parse({"--quite", "--", "python"});
  EXPECT_EQ(over_, kExitLauncherFailed);
  EXPECT_THAT(captured_.err, HasSubstr("Did you mean '--quiet'?"));
}

TEST_F(RunArgumentsTest, TheLevelOfGraphsIsOneOfThree) {
  Parse({"--graphs", "auto", "--", "cmd"});
  EXPECT_EQ(arguments_.graphs, "auto");
  Parse({"--graphs", "some", "--", "cmd"});
  EXPECT_EQ(over_, kExitLauncherFailed);
}

TEST_F(RunArgumentsTest, AnEmptyFolderIsAVariableThatWasNotSet) {
  Parse({"-o", "", "--", "cmd"});
  EXPECT_EQ(over_, kExitLauncherFailed);
  EXPECT_THAT(captured_.err, HasSubstr("the word is empty"));
}

TEST_F(RunArgumentsTest, AnOptionWithoutItsValueIsAFailure) {
  Parse({"-o", "--", "python"});
  EXPECT_EQ(over_, kExitLauncherFailed);
}

TEST_F(RunArgumentsTest, HelpIsPrintedOnStdout) {
  Parse({"--help"});
  EXPECT_EQ(over_, kExitSuccess);
  EXPECT_THAT(captured_.out, HasSubstr("Usage: gpubound run [OPTIONS] [--] CMD..."));
}

TEST_F(RunArgumentsTest, HelpSaysWhatALevelOfGraphsCosts) {
  Parse({"--help"});
  std::istringstream words(captured_.out);
  std::string help;
  for (std::string word; words >> word;) help += word + " ";
  EXPECT_THAT(help, HasSubstr("exact, a record for each node of each launch"));
  EXPECT_THAT(help, HasSubstr("GPU busy is then an upper bound"));
}

}  // namespace
}  // namespace gpubound
