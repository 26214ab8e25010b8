// SPDX-License-Identifier: Apache-2.0
//
// Which messages go where, by level.
#include "tools/console/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/tools/tool_fixtures.h"
#include "tools/commands/commands.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class DiagnosticsTest : public testing::Test {
 protected:
  ~DiagnosticsTest() override { ConfigureDiagnostics({}); }

  static std::string SayAll() {
    return Capture([] {
             Diagnose(Level::kDebug, "chosen");
             PrintMessage("done");
             PrintWarning("lacking");
             PrintFailure("failed");
             return 0;
           })
        .err;
  }
  std::string LogFile() const { return folder_.File("x.log"); }

  TemporaryFolder folder_;
};

TEST_F(DiagnosticsTest, DetailsAreLeftOutUnlessTheyAreAskedFor) {
  EXPECT_EQ(SayAll(), "gpubound: done\ngpubound: lacking\ngpubound: failed\n");
}

TEST_F(DiagnosticsTest, VerboseShowsDetailsToo) {
  ASSERT_FALSE(ConfigureDiagnostics({.verbose = true, .log_file = {}}));
  EXPECT_EQ(SayAll(),
            "gpubound: debug: chosen\ngpubound: done\ngpubound: lacking\ngpubound: failed\n");
}

TEST_F(DiagnosticsTest, QuietLeavesFailuresAlone) {
  ASSERT_FALSE(ConfigureDiagnostics({.verbose = true, .quiet = true, .log_file = {}}));
  EXPECT_EQ(SayAll(), "gpubound: failed\n");
}

TEST_F(DiagnosticsTest, ALogFileGetsEveryLevelAndIsAppendedTo) {
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_FALSE(ConfigureDiagnostics({.quiet = true, .log_file = LogFile()}));
    SayAll();
  }
  const std::string line = R"([-0-9]+T[:.0-9]+[-+:0-9]+ [0-9]+ )";
  std::string once;
  for (const char* said : {"debug chosen", "info done", "warning lacking", "error failed"}) {
    once += line + said + "\n";
  }
  EXPECT_THAT(ReadText(LogFile()), ContainsRegex("^" + once + once + "$"));
}

TEST_F(DiagnosticsTest, ALogFileThatCannotBeWrittenIsAnErrorOfTheCommand) {
  const Captured captured = Capture([this] {
    return Dispatch({"env", "--log-file", folder_.File("mistyped/x.log")});
  });
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("writing the log file"));
  EXPECT_FALSE(std::filesystem::exists(folder_.File("mistyped")));
  EXPECT_THAT(captured.out, testing::IsEmpty());
}

TEST_F(DiagnosticsTest, ACommandSaysItsArgumentsAndItsExitStatusInTheLog) {
  Capture([this] { return Dispatch({"report", "/nonexistent", "--log-file", LogFile()}); });
  const std::string log = ReadText(LogFile());
  EXPECT_THAT(log, HasSubstr("debug gpubound report of gpubound " GPUBOUND_VERSION
                             ": /nonexistent --log-file "));
  EXPECT_THAT(log, HasSubstr("error reading "));
  EXPECT_THAT(log, HasSubstr("debug exit status 3 after "));
}

}  // namespace
}  // namespace gpubound
