// SPDX-License-Identifier: Apache-2.0
//
// libgpubound.so in a process, with a mock core beside it: what it sets, when it loads the core and
// when it closes the trace. What the real core then writes is lifecycle_test.cc's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "libprofiler/shim/shim_info.h"
#include "tests/lifecycle/process_runner.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

class ShimTest : public testing::Test {
 protected:
  ShimTest() {
    std::string pattern = testing::TempDir() + "shim_test.XXXXXX";
    directory_ = fs::canonical(mkdtemp(pattern.data()));
    fs::copy(GPUBOUND_TEST_SHIM, directory_ / "libgpubound.so");
    fs::copy(GPUBOUND_TEST_MOCK_CORE, core());
    runner_.SetDirectory(directory_);
    runner_.Set("LD_PRELOAD", directory_ / "libgpubound.so");
    runner_.Set("MOCK_CORE_LOG", log());
    runner_.Set("GPUBOUND_PYTHON", "0");
    for (const char* variable : {"GPUBOUND_RUN", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
                                 "GPUBOUND_DISABLE", "MOCK_CORE_MODE"}) {
      runner_.Unset(variable);
    }
  }
  ~ShimTest() override { fs::remove_all(directory_); }

  fs::path core() const { return directory_ / "libgpubound_core.so"; }
  fs::path log() const { return directory_ / "mock.log"; }

  Outcome Run(const std::string& action) {
    const Outcome outcome = runner_.Run({GPUBOUND_TEST_VICTIM, action});
    EXPECT_FALSE(outcome.hung) << outcome.Describe();
    return outcome;
  }
  void ExpectExit(const std::string& action, int exit_code) {
    const Outcome outcome = Run(action);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.Describe();
    EXPECT_EQ(outcome.out + outcome.err, "");
  }
  void SetMode(const std::string& mode) { runner_.Set("MOCK_CORE_MODE", mode); }

  // What the mock core was asked, in order.
  std::vector<std::string> CoreEvents() const {
    std::vector<std::string> events;
    std::ifstream file(log());
    for (std::string line; std::getline(file, line);) events.push_back(line);
    return events;
  }

  fs::path directory_;
  ProcessRunner runner_;
};

TEST_F(ShimTest, AProgramThatRecordsNothingLoadsNoCoreAndMakesNoFile) {
  ExpectExit("nothing", 0);
  EXPECT_THAT(CoreEvents(), IsEmpty());
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    files.push_back(entry.path().filename());
  }
  EXPECT_THAT(files, testing::UnorderedElementsAre("libgpubound.so", "libgpubound_core.so"));
}

TEST_F(ShimTest, TheRunIsNamedAfterTheProgramAndTheTimeAndTheProcess) {
  const Outcome outcome = Run("print environment");
  const std::string run = "GPUBOUND_RUN=" + directory_.string() +
                          "/shim_victim-20[0-9]{6}-[0-9]{6}-" + std::to_string(outcome.pid) +
                          "\\.gpubound\n";
  EXPECT_THAT(outcome.out, testing::ContainsRegex(run));
}

TEST_F(ShimTest, TheInjectionVariablesNameTheCoreBesideTheShim) {
  const std::string out = Run("print environment").out;
  EXPECT_THAT(out, HasSubstr("CUDA_INJECTION64_PATH=" + core().string() + "\n"));
  EXPECT_THAT(out, HasSubstr("NVTX_INJECTION64_PATH=" + core().string() + "\n"));
  EXPECT_THAT(out, HasSubstr("flags=0\n"));
}

TEST_F(ShimTest, ARelativePreloadPathBecomesAbsolute) {
  runner_.Set("LD_PRELOAD", "./libgpubound.so");
  EXPECT_THAT(Run("print environment").out,
              HasSubstr("CUDA_INJECTION64_PATH=" + core().string() + "\n"));
}

TEST_F(ShimTest, ARelativeFolderOfTheRunIsTheOneInWhichTheProgramBegins) {
  runner_.Set("GPUBOUND_RUN", "runs/mine.gpubound");
  EXPECT_THAT(Run("print environment").out,
              HasSubstr("GPUBOUND_RUN=" + directory_.string() + "/runs/mine.gpubound\n"));
}

TEST_F(ShimTest, WithoutACoreTheInjectionVariablesStayUnset) {
  fs::remove(core());
  EXPECT_THAT(Run("print environment").out, HasSubstr("CUDA_INJECTION64_PATH=(unset)\n"
                                                      "NVTX_INJECTION64_PATH=(unset)\n"));
}

TEST_F(ShimTest, VariablesOfOthersAreKeptAndNoted) {
  runner_.Set("GPUBOUND_RUN", "/somewhere/mine");
  runner_.Set("CUDA_INJECTION64_PATH", "/opt/other/libtool.so");
  const std::string out = Run("print environment").out;
  EXPECT_THAT(out, HasSubstr("GPUBOUND_RUN=/somewhere/mine\n"
                             "CUDA_INJECTION64_PATH=/opt/other/libtool.so\n"
                             "NVTX_INJECTION64_PATH=" +
                             core().string() + "\n"));
  EXPECT_THAT(out, HasSubstr("flags=" + std::to_string(GPUBOUND_SHIM_FOREIGN_CUDA_INJECTION)));
}

TEST_F(ShimTest, VariablesSetToNothingAreNotSet) {
  runner_.Set("GPUBOUND_RUN", "");
  runner_.Set("CUDA_INJECTION64_PATH", "");
  runner_.Set("NVTX_INJECTION64_PATH", "");
  const std::string out = Run("print environment").out;
  EXPECT_THAT(out, HasSubstr("GPUBOUND_RUN=" + directory_.string() + "/shim_victim-"));
  EXPECT_THAT(out, HasSubstr("CUDA_INJECTION64_PATH=" + core().string() + "\n"));
  EXPECT_THAT(out, HasSubstr("NVTX_INJECTION64_PATH=" + core().string() + "\n"));
  EXPECT_THAT(out, HasSubstr("flags=0\n"));
}

TEST_F(ShimTest, VariablesInheritedFromOurParentAreNotForeign) {
  runner_.Set("CUDA_INJECTION64_PATH", core());
  runner_.Set("NVTX_INJECTION64_PATH", core());
  EXPECT_THAT(Run("print environment").out, HasSubstr("flags=0\n"));
}

TEST_F(ShimTest, ShellsPassTheVariablesOn) {
  for (const std::string shell : {"bash", "sh"}) {
    const Outcome outcome =
        runner_.Run({shell, "-c", GPUBOUND_TEST_VICTIM " 'print environment'; true"});
    EXPECT_THAT(outcome.out, HasSubstr(directory_.string() + "/" + shell + "-20"));
    EXPECT_THAT(outcome.out, HasSubstr("NVTX_INJECTION64_PATH=" + core().string() + "\n"));
  }
}

TEST_F(ShimTest, TheRunDirectoryHoldsNoCharacterThatAShellWouldRead) {
  const fs::path odd = directory_ / "-odd $name;";
  fs::copy(GPUBOUND_TEST_VICTIM, odd);
  const Outcome outcome = runner_.Run({odd, "print environment"});
  EXPECT_THAT(outcome.out, HasSubstr("/_odd__name_-20")) << outcome.Describe();
}

TEST_F(ShimTest, GpuboundDisableMakesItInert) {
  runner_.Set("GPUBOUND_DISABLE", "1");
  EXPECT_THAT(Run("print environment").out,
              HasSubstr("GPUBOUND_RUN=(unset)\nCUDA_INJECTION64_PATH=(unset)\n"
                        "NVTX_INJECTION64_PATH=(unset)\n"));
  ExpectExit("scope and _exit", 13);
  EXPECT_THAT(CoreEvents(), IsEmpty());
}

TEST_F(ShimTest, GpuboundDisableSetToZeroIsNotOff) {
  runner_.Set("GPUBOUND_DISABLE", "0");
  ExpectExit("scope and return", 0);
  EXPECT_THAT(CoreEvents(), ElementsAre("load"));
}

TEST_F(ShimTest, GpuboundDisableSetToAWordForNoIsNotOff) {
  runner_.Set("GPUBOUND_DISABLE", "False");
  ExpectExit("scope and return", 0);
  EXPECT_THAT(CoreEvents(), ElementsAre("load"));
}

TEST_F(ShimTest, TheStampIsThatOfTheProcessAlsoInAForkChild) { ExpectExit("check stamps", 0); }

TEST_F(ShimTest, TheFirstScopeLoadsTheCore) {
  ExpectExit("scope and return", 0);
  EXPECT_THAT(CoreEvents(), ElementsAre("load"));
}

TEST_F(ShimTest, ThreadsThatRaceToTheFirstScopeLoadOneCore) {
  SetMode("slow");
  ExpectExit("threads race to load", 0);
  EXPECT_THAT(CoreEvents(), ElementsAre("load"));
}

TEST_F(ShimTest, ACoreThatAnnotatesWhileItLoadsIsGivenNoTable) {
  SetMode("asks back");
  ExpectExit("scope and return", 0);
  EXPECT_THAT(CoreEvents(), ElementsAre("load"));
}

TEST_F(ShimTest, ErrnoSurvivesLoading) { ExpectExit("errno is kept", 0); }

TEST_F(ShimTest, AMissingCoreIsSaidInOneLineAndTheProgramGoesOn) {
  fs::remove(core());
  const Outcome outcome = Run("threads race to load");
  EXPECT_EQ(outcome.exit_code, 1);  // there is no table
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, MatchesRegex("gpubound: process [0-9]+ is not recorded: .*"
                                        "libgpubound_core\\.so: [^\n]*\n"));
}

TEST_F(ShimTest, AForeignLibraryInTheCoresPlaceIsSaidInOneLine) {
  fs::copy_file(GPUBOUND_TEST_SHIM, core(), fs::copy_options::overwrite_existing);
  const Outcome outcome = Run("scope and _exit");
  EXPECT_EQ(outcome.exit_code, 13);
  EXPECT_THAT(outcome.err, MatchesRegex("gpubound: process [^\n]*gpubound_core_api_v1[^\n]*\n"));
}

TEST_F(ShimTest, ACoreWithoutATableIsNotClosed) {
  SetMode("no table");
  ExpectExit("scope and _exit", 13);
  EXPECT_THAT(CoreEvents(), ElementsAre("load"));
}

TEST_F(ShimTest, UnderscoreExitClosesTheTraceOnce) {
  ExpectExit("scope and _exit", 13);
  EXPECT_THAT(CoreEvents(), ElementsAre("load", "_exit"));
}

TEST_F(ShimTest, UnderscoreCapitalExitClosesTheTraceOnce) {
  ExpectExit("scope and _Exit", 14);
  EXPECT_THAT(CoreEvents(), ElementsAre("load", "_exit"));
}

TEST_F(ShimTest, ExitIsLeftToTheCore) {
  ExpectExit("scope and exit", 12);
  EXPECT_THAT(CoreEvents(), ElementsAre("load"));
}

TEST_F(ShimTest, UnderscoreExitWithoutACoreLeavesAtOnce) {
  ExpectExit("_exit", 15);
  EXPECT_THAT(CoreEvents(), IsEmpty());
}

TEST_F(ShimTest, ACoreThatTheDriverLoadedIsClosedToo) {
  ExpectExit("core loaded by the driver", 11);
  EXPECT_THAT(CoreEvents(), ElementsAre("load", "_exit"));
}

TEST_F(ShimTest, AVforkChildDoesNotCloseItsParentsTrace) {
  ExpectExit("vfork child leaves", 3);
  EXPECT_THAT(CoreEvents(), ElementsAre("load"));
}

TEST_F(ShimTest, AChildWithoutForkHandlersDoesNotCloseATrace) {
  ExpectExit("_Fork child leaves", 5);
  EXPECT_THAT(CoreEvents(), ElementsAre("load"));
}

TEST_F(ShimTest, AChildWithoutForkHandlersLoadsNoCore) {
  ExpectExit("_Fork child opens scopes", 6);
  EXPECT_THAT(CoreEvents(), IsEmpty());
}

TEST_F(ShimTest, AForkChildClosesItsOwnTrace) {
  ExpectExit("fork child leaves", 4);
  EXPECT_THAT(CoreEvents(), ElementsAre("load", "_exit"));
}

TEST_F(ShimTest, AChildForkedWhileAThreadLoadsTheCoreRunsOnUnrecorded) {
  SetMode("slow");
  const Outcome outcome = Run("fork while loading");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.err, HasSubstr("its parent forked while it was loading"));
}

TEST_F(ShimTest, ASecondThreadInUnderscoreExitWaitsForTheFirst) {
  SetMode("slow finish");
  ExpectExit("two threads leave", 7);
  EXPECT_THAT(CoreEvents(), ElementsAre("load", "_exit", "finished"));
}

TEST_F(ShimTest, ASignalHandlerInsideUnderscoreExitMayLeave) {
  SetMode("signal in finish");
  ExpectExit("signal handler leaves while leaving", 9);
  EXPECT_THAT(CoreEvents(), ElementsAre("load", "_exit"));
}

TEST_F(ShimTest, StandardToolsBehaveAsBefore) {
  for (const std::string script :
       {"echo out; echo err >&2; exit 3", "kill -TERM $$", "false || (exit 4)",
        "ls / | sort | head -n 2; exec sh -c 'exit 5'"}) {
    const Outcome injected = runner_.Run({"bash", "-c", script});
    ProcessRunner plain;
    plain.Unset("LD_PRELOAD");
    const Outcome expected = plain.Run({"bash", "-c", script});
    EXPECT_EQ(injected.exit_code, expected.exit_code);
    EXPECT_EQ(injected.signal, expected.signal);
    EXPECT_EQ(injected.out, expected.out);
    EXPECT_EQ(injected.err, expected.err);
  }
}

}  // namespace
}  // namespace gpubound
