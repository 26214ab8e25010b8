// SPDX-License-Identifier: Apache-2.0
//
// What a program is started with, given what is set already.
#include "tools/launch/run_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

using testing::Contains;
using testing::ElementsAre;

const LibraryFiles kLibraries = {"/opt/lib/libgpubound.so", "/opt/lib/libgpubound_core.so"};

std::vector<Assignment> AssignmentsIn(std::map<std::string, std::string> variables) {
  const GetVariable environment = FakeVariables(std::move(variables));
  return RunAssignments(kLibraries, "/tmp/x.gpubound", environment);
}

TEST(RunEnvironment, InACleanOneSetsAll) {
  EXPECT_THAT(AssignmentsIn({}),
              ElementsAre(Assignment{"LD_PRELOAD", "/opt/lib/libgpubound.so"},
                          Assignment{"GPUBOUND_RUN", "/tmp/x.gpubound"},
                          Assignment{"CUDA_INJECTION64_PATH", "/opt/lib/libgpubound_core.so"},
                          Assignment{"NVTX_INJECTION64_PATH", "/opt/lib/libgpubound_core.so"},
                          Assignment{"ASAN_OPTIONS", "verify_asan_link_order=0"}));
}

TEST(RunEnvironment, AddressSanitizerIsToldThatAnotherLibraryMayComeFirst) {
  EXPECT_THAT(AssignmentsIn({{"ASAN_OPTIONS", "detect_leaks=0"}}),
              Contains(Assignment{"ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0"}));
  EXPECT_THAT(AssignmentsIn({{"ASAN_OPTIONS", "verify_asan_link_order=1"}}),
              Contains(Assignment{"ASAN_OPTIONS", "verify_asan_link_order=1"}));
}

TEST(RunEnvironment, KeepsAnExistingPreloadInFront) {
  EXPECT_THAT(AssignmentsIn({{"LD_PRELOAD", "/lib/libjemalloc.so"}}),
              Contains(Assignment{"LD_PRELOAD", "/lib/libjemalloc.so:/opt/lib/libgpubound.so"}));
}

TEST(RunEnvironment, DoesNotPreloadTwice) {
  for (const char* preload : {"/opt/lib/libgpubound.so", "a.so /opt/lib/libgpubound.so",
                              "/opt/lib/libgpubound.so:b.so"}) {
    EXPECT_EQ(AppendPreload(preload, kLibraries.shim), preload);
  }
}

TEST(RunEnvironment, AnotherLibraryThatEndsAlikeIsNotOurs) {
  EXPECT_EQ(AppendPreload("/x/opt/lib/libgpubound.so", kLibraries.shim),
            "/x/opt/lib/libgpubound.so:/opt/lib/libgpubound.so");
}

TEST(RunEnvironment, LeavesTheInjectionOfAnotherToolAlone) {
  const auto assignments = AssignmentsIn({{"CUDA_INJECTION64_PATH", "/nsys.so"}});
  for (const Assignment& assignment : assignments) {
    EXPECT_NE(assignment.name, "CUDA_INJECTION64_PATH");
  }
}

TEST(RunEnvironment, OfOneThatIsComparedWithAPlainRunThePreloadAloneIsKept) {
  const GetVariable preload =
      PreloadOf(FakeVariables({{"LD_PRELOAD", "/lib/libjemalloc.so"}, {"GPUBOUND_PYTHON", "0"}}));
  EXPECT_STREQ(preload("LD_PRELOAD"), "/lib/libjemalloc.so");
  EXPECT_EQ(preload("GPUBOUND_PYTHON"), nullptr);
  EXPECT_EQ(PreloadOf(FakeVariables({}))("LD_PRELOAD"), nullptr);
}

TEST(RunEnvironment, ThePythonHookIsNamedUnlessSomebodyHasChosen) {
  LibraryFiles libraries = kLibraries;
  libraries.python_startup = "/opt/python/gpubound/startup";
  EXPECT_THAT(RunAssignments(libraries, "", FakeVariables({})),
              Contains(Assignment{"GPUBOUND_PYTHON", "/opt/python/gpubound/startup"}));
  for (const Assignment& assignment :
       RunAssignments(libraries, "", FakeVariables({{"GPUBOUND_PYTHON", "0"}}))) {
    EXPECT_NE(assignment.name, "GPUBOUND_PYTHON");
  }
}

TEST(RunEnvironment, ARunThatIsNotRecordedHasThePythonPackageBehindItsOwnPath) {
  const Assignment off = {"GPUBOUND_DISABLE", "1"};
  const auto plain = [](const char* folder, std::map<std::string, std::string> variables) {
    const GetVariable environment = FakeVariables(std::move(variables));
    return PlainAssignments(folder, environment);
  };
  EXPECT_THAT(plain("/tmp/p", {}), ElementsAre(off, Assignment{"PYTHONPATH", "/tmp/p"}));
  EXPECT_THAT(plain("/tmp/p", {{"PYTHONPATH", ""}}),
              ElementsAre(off, Assignment{"PYTHONPATH", "/tmp/p"}));
  EXPECT_THAT(plain("/tmp/p", {{"PYTHONPATH", "/a:/b"}}),
              ElementsAre(off, Assignment{"PYTHONPATH", "/a:/b:/tmp/p"}));
  EXPECT_THAT(plain("", {}), ElementsAre(off));
}

TEST(RunEnvironment, AnEmptyInjectionCountsAsUnset) {
  EXPECT_THAT(AssignmentsIn({{"NVTX_INJECTION64_PATH", ""}}),
              Contains(Assignment{"NVTX_INJECTION64_PATH", "/opt/lib/libgpubound_core.so"}));
}

TEST(RunEnvironment, ReplacesInPlaceAndAppendsTheRest) {
  EXPECT_THAT(WithAssignments({"A=1", "B=2", "C=3"}, {{"B", "x"}, {"D", "y"}}),
              ElementsAre("A=1", "B=x", "C=3", "D=y"));
}

TEST(RunEnvironment, TakesANameForItselfOnly) {
  EXPECT_THAT(WithAssignments({"AB=1"}, {{"A", "x"}}), ElementsAre("AB=1", "A=x"));
}

TEST(RunEnvironment, RemovesASecondEntryOfTheSameName) {
  EXPECT_THAT(WithAssignments({"A=1", "B=2", "A=3"}, {{"A", "x"}}), ElementsAre("A=x", "B=2"));
}

}  // namespace
}  // namespace gpubound
