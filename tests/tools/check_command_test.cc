// SPDX-License-Identifier: Apache-2.0
//
// `gpubound check`: exit statuses, complaints and files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tools/tool_fixtures.h"
#include "tools/commands/commands.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Half of ten microseconds is a kernel.
constexpr char kTrace[] = R"([
  {"ph":"X","cat":"user_annotation","name":"act","pid":4,"tid":5,"ts":0,"dur":10},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4,"tid":5,"ts":1,"dur":1,
   "args":{"correlation":7}},
  {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":3,"dur":5,
   "args":{"correlation":7,"device":0,"stream":7}}])";

class CheckCommand : public testing::Test {
 protected:
  CheckCommand() : run_(folder_.File("x.gpubound")) {
    const std::string trace = folder_.Write("trace.json", kTrace);
    const Captured imported = Capture([&] { return Dispatch({"import", trace, "-o", run_}); });
    EXPECT_EQ(imported.status, kExitSuccess) << imported.err;
  }
  Captured Check(Arguments words) const {
    words.insert(words.begin(), {"check", run_});
    return Capture([&] { return Dispatch(words); });
  }
  Captured Require(const std::string& expression) const { return Check({"--require", expression}); }

  TemporaryFolder folder_;
  std::string run_;
};

TEST_F(CheckCommand, IsZeroWhereEverythingHolds) {
  const Captured captured = Check({"--require", "gpu_busy==50%", "--require", "act.wall<=10us"});
  EXPECT_EQ(captured.status, kExitSuccess);
  EXPECT_THAT(captured.out, HasSubstr("ok      gpu_busy==50%   50 %\n"));
  EXPECT_THAT(captured.out, HasSubstr("2 of 2 requirements hold."));
  EXPECT_THAT(captured.err, IsEmpty());
}

TEST_F(CheckCommand, IsOneWhereARequirementFails) {
  const Captured captured = Check({"--require", "gpu_busy>=60%", "--require", "act.wall<=10us"});
  EXPECT_EQ(captured.status, kExitCheckFailed);
  EXPECT_THAT(captured.out, HasSubstr("FAILED  gpu_busy>=60%   50 %, expected at least 60 %"));
  EXPECT_THAT(captured.out, HasSubstr("1 of 2"));
}

TEST_F(CheckCommand, IsOneWhereARequirementCannotBeDecided) {
  const Captured captured = Require("/devices/0/nvml_utilization>=40%");
  EXPECT_EQ(captured.status, kExitCheckFailed);
  EXPECT_THAT(captured.out, HasSubstr("cannot be decided"));
}

TEST_F(CheckCommand, AnOperationOfAnotherThreadIsSaidToBeThere) {
  const std::string trace = folder_.Write(
      "two",
      R"([{"ph":"X","cat":"user_annotation","name":"act","pid":4,"tid":5,"ts":0,"dur":10},)"
      R"({"ph":"X","cat":"user_annotation","name":"learn","pid":4,"tid":7,"ts":0,"dur":2}])");
  const std::string run = folder_.File("lanes.gpubound");
  EXPECT_EQ(Capture([&] { return Dispatch({"import", trace, "-o", run}); }).status, kExitSuccess);
  const Captured captured = Capture([&] {
    return Dispatch({"check", run, "--require", "learn.wall<1ms"});
  });
  EXPECT_EQ(captured.status, kExitCheckFailed);
  EXPECT_THAT(captured.out, HasSubstr("2.00 us of it is on other threads"));
}

TEST_F(CheckCommand, AReasonWithoutAFigureStandsAlone) {
  const std::string trace = folder_.Write(
      "two", R"([{"ph":"X","cat":"user_annotation","name":"act","pid":4,"tid":5,"ts":0,"dur":10},)"
             R"({"ph":"X","cat":"user_annotation","name":"act","pid":6,"tid":7,"ts":0,"dur":10}])");
  const std::string run = folder_.File("two.gpubound");
  EXPECT_EQ(Capture([&] { return Dispatch({"import", trace, "-o", run}); }).status, kExitSuccess);
  const Captured captured = Capture([&] {
    return Dispatch({"check", run, "--require", "wall@two<=1x baseline", "--baseline", run});
  });
  EXPECT_THAT(captured.out, HasSubstr("cannot be decided: several processes"));
}

TEST_F(CheckCommand, AUnitThatTheNumberHasNotIsWrongUse) {
  const Captured captured = Check({"--require", "/run/devices_used>=2x"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("at column 20 found '2x', expected a plain number"));
}

// The kernel hides behind Python, so without it the run would be as long.
TEST_F(CheckCommand, KnowsWhatTheReportGetsFromTheReplay) {
  const Captured captured =
      Check({"--require", "gpu_limited<=10%", "--require", "/run/gpu_limited_share<=0.1",
             "--require", "/run/critical_path/wall_ns==10us"});
  EXPECT_EQ(captured.status, kExitSuccess) << captured.out;
  EXPECT_THAT(captured.out, HasSubstr("3 of 3 requirements hold."));
}

TEST_F(CheckCommand, KnowsWhatABaselineGetsFromTheReplay) {
  const Captured captured =
      Check({"--require", "/run/critical_path/wall_ns<=1x baseline", "--baseline", run_});
  EXPECT_EQ(captured.status, kExitSuccess) << captured.out;
}

TEST_F(CheckCommand, TheRunMayStandBehindTheRequirements) {
  const auto check = [](const Arguments& words) {
    return Capture([&] { return Dispatch(words); });
  };
  EXPECT_EQ(check({"check", "--require", "wall<1s", run_}).status, kExitSuccess);
  EXPECT_EQ(check({"check", "--require=wall<1s", run_}).status, kExitSuccess);
  const Captured two = check({"check", run_, "--require", "wall<1s", "wall<2s"});
  EXPECT_EQ(two.status, kExitWrongUse);
  EXPECT_THAT(two.err, HasSubstr("'wall<2s' is one argument too many"));
}

TEST_F(CheckCommand, AFigureThatLacksItsGroupGetsTheWholeName) {
  for (const auto& [wrong, right] : {std::pair{"iterations>100", "iteration.count"},
                                     {"median<1s", "iteration.median"},
                                     {"iterations.median<1s", "iteration.median"},
                                     {"simulation<50%", "simulation.wall"},
                                     {"cpu_only<1s", "OPERATION.cpu_only"},
                                     {"count>3", "OPERATION.count"},
                                     {"gpu_sum<1s", "OPERATION.gpu_sum"},
                                     {"chunks_corrupt==0", "ledger.chunks_corrupt"},
                                     {"gpu_bussy>1%", "gpu_busy"}}) {
    const Captured captured = Check({"--require", wrong});
    EXPECT_EQ(captured.status, kExitWrongUse);
    EXPECT_THAT(captured.err, HasSubstr(std::string(" Did you mean '") + right + "'?")) << wrong;
  }
  EXPECT_THAT(Require("iterations.count>100").out, HasSubstr("Did you mean 'iteration'?"));
}

TEST_F(CheckCommand, AMistypedOperationGetsASuggestion) {
  EXPECT_THAT(Require("cat.wall<=1s").out, HasSubstr("'cat'. Did you mean 'act'?\n"));
}

TEST_F(CheckCommand, IsTwoAndPointsAtTheColumnWhereAnExpressionIsWrong) {
  const Captured captured = Require("gpu_busy=>40%");
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("at column 9 found '=', expected one of >="));
  EXPECT_THAT(captured.err, HasSubstr("\n  gpu_busy=>40%\n          ^\n"));
}

TEST_F(CheckCommand, IsTwoWithoutARequirementOrABaselineThatIsNeeded) {
  EXPECT_EQ(Check({}).status, kExitWrongUse);
  const Captured captured = Require("act.wall<=baseline");
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("--baseline"));
}

TEST_F(CheckCommand, IsTwoWithABaselineThatNothingIsComparedWith) {
  const Captured captured = Check({"--require", "wall>0", "--baseline", run_});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("no requirement speaks of a baseline"));
}

TEST_F(CheckCommand, IsTwoWhereAShareIsAPlainPercentage) {
  const Captured captured = Require("gpu_busy<=40");
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("found '40', expected a share such as 40% or 0.4"));
}

TEST_F(CheckCommand, IsThreeWhereARunCannotBeRead) {
  const std::string nowhere = folder_.File("nowhere.gpubound");
  EXPECT_EQ(Check({"--require", "wall<=baseline", "--baseline", nowhere}).status, kExitUnreadable);
  const Captured captured = Capture([&] {
    return Dispatch({"check", nowhere, "--require", "wall>0"});
  });
  EXPECT_EQ(captured.status, kExitUnreadable);
}

TEST_F(CheckCommand, ComparesWithABaseline) {
  EXPECT_EQ(Check({"--require", "act.wall<=1.1x baseline", "--baseline", run_}).status,
            kExitSuccess);
  EXPECT_EQ(Check({"--require", "act.wall<=0.9x baseline", "--baseline", run_}).status,
            kExitCheckFailed);
}

TEST_F(CheckCommand, NothingPassesWhereNothingWasRecorded) {
  const std::string empty = WriteEmptyRun(folder_.File("empty.gpubound"));
  const auto check = [](const Arguments& words) {
    return Capture([&] { return Dispatch(words); });
  };
  const std::string file = folder_.File("check.xml");
  const Captured captured =
      check({"check", empty, "--require", "wall<=1.1x baseline", "--require", "gpu_busy<=50%",
             "--require", "ledger.chunks_corrupt==0", "--require", "/run/wall_ns>=0", "--baseline",
             run_, "--junit", file});
  EXPECT_EQ(captured.status, kExitCheckFailed);
  EXPECT_THAT(captured.out, HasSubstr("cannot be decided: nothing was recorded in the run"));
  EXPECT_THAT(captured.out, HasSubstr("0 of 4 requirements hold."));
  EXPECT_THAT(ReadText(file), HasSubstr("tests=\"4\" failures=\"0\" errors=\"4\""));
  const Captured against =
      Check({"--require", "wall>=1.1x baseline", "--require", "wall>0", "--baseline", empty});
  EXPECT_EQ(against.status, kExitCheckFailed);
  EXPECT_THAT(against.out, HasSubstr("nothing was recorded in the baseline"));
  EXPECT_THAT(against.out, HasSubstr("1 of 2 requirements hold."));
}

TEST_F(CheckCommand, WritesJUnitForCi) {
  const std::string file = folder_.File("check.xml");
  EXPECT_EQ(Check({"--require", "gpu_busy>=60%", "--junit", file}).status, kExitCheckFailed);
  EXPECT_THAT(ReadText(file), HasSubstr("failures=\"1\""));
  const Captured captured =
      Check({"--require", "wall>0", "--junit", folder_.File("nowhere/check.xml")});
  EXPECT_EQ(captured.status, kExitWrongUse);  // not that of a requirement that fails
  EXPECT_THAT(captured.err, HasSubstr("nowhere/check.xml"));
  EXPECT_EQ(Check({"--require", "wall>0", "--junit", folder_.path()}).status, kExitWrongUse);
}

TEST_F(CheckCommand, JUnitOfARunThatCannotBeReadIsNotThatOfTheOneBefore) {
  const std::string file = folder_.File("check.xml");
  EXPECT_EQ(Check({"--require", "gpu_busy>=1%", "--junit", file}).status, kExitSuccess);
  const std::string nowhere = folder_.File("nowhere");
  const auto check = [&](const std::string& run, const std::string& baseline) {
    return Capture([&] {
             return Dispatch({"check", run, "--require", "wall<=2x baseline", "--require",
                              "gpu_busy>=1%", "--baseline", baseline, "--junit", file});
           })
        .status;
  };
  EXPECT_EQ(check(nowhere, run_), kExitUnreadable);
  EXPECT_THAT(ReadText(file), HasSubstr("tests=\"2\" failures=\"0\" errors=\"2\""));
  EXPECT_THAT(ReadText(file), HasSubstr("nowhere"));
  EXPECT_THAT(ReadText(file), HasSubstr("(NAME-TIME-PID.gpubound). Give the directory"));
  EXPECT_THAT(ReadText(file), testing::Not(HasSubstr("\\x0a")));
  EXPECT_EQ(Check({"--require", "gpu_busy>=1%", "--junit", file}).status, kExitSuccess);
  EXPECT_EQ(check(run_, nowhere), kExitUnreadable);
  EXPECT_THAT(ReadText(file), HasSubstr("errors=\"2\""));
}

TEST_F(CheckCommand, JUnitNamesTheRunThatWasFound) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const Captured captured = Capture([&] {
    return Dispatch({"check", "--require", "wall>0", "--junit", "check.xml"});
  });
  std::filesystem::current_path(before);
  EXPECT_EQ(captured.status, kExitSuccess) << captured.err;
  EXPECT_THAT(ReadText(folder_.File("check.xml")), HasSubstr("<testsuite name=\"x.gpubound\""));
}

}  // namespace
}  // namespace gpubound
