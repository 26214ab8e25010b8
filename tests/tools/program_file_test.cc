// SPDX-License-Identifier: Apache-2.0
//
// Explaining why a program recorded nothing.
#include "tools/launch/program_file.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class ProgramFileTest : public testing::Test {
 protected:
  // An ELF head with one program header of |segment_type|.
  std::string WriteElf(unsigned char elf_class, uint16_t machine, uint32_t segment_type) {
    Elf64_Ehdr head = {};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = elf_class;
    head.e_machine = machine;
    head.e_phoff = sizeof(head);
    head.e_phnum = 1;
    head.e_phentsize = sizeof(Elf64_Phdr);
    Elf64_Phdr segment = {};
    segment.p_type = segment_type;
    std::string bytes(reinterpret_cast<const char*>(&head), sizeof(head));
    bytes.append(reinterpret_cast<const char*>(&segment), sizeof(segment));
    const std::string path = folder_.Write("program", bytes);
    chmod(path.c_str(), 0755);
    return path;
  }
  std::vector<std::string> Reasons(const ProgramFile& program,
                                   std::map<std::string, std::string> variables = {}) {
    const GetVariable environment = FakeVariables(std::move(variables));
    return WhyNothingRecorded(program, hooks_python_, environment);
  }

  TemporaryFolder folder_;
  bool hooks_python_ = true;
};

#if defined(__x86_64__)
constexpr uint16_t kOurs = EM_X86_64, kTheirs = EM_AARCH64;
#else
constexpr uint16_t kOurs = EM_AARCH64, kTheirs = EM_X86_64;
#endif

TEST_F(ProgramFileTest, ADynamicProgramHasNoObstacle) {
  const ProgramFile program = InspectProgram(WriteElf(ELFCLASS64, kOurs, PT_INTERP));
  EXPECT_TRUE(program.is_elf);
  EXPECT_FALSE(program.is_static || program.other_machine || program.other_rights);
  EXPECT_FALSE(InspectProgram("/proc/self/exe").is_static);
}

TEST_F(ProgramFileTest, AStaticProgramIsRecognised) {
  const ProgramFile program = InspectProgram(WriteElf(ELFCLASS64, kOurs, PT_LOAD));
  EXPECT_TRUE(program.is_static);
  EXPECT_THAT(Reasons(program), ElementsAre(HasSubstr("statically linked")));
}

TEST_F(ProgramFileTest, AnotherMachineIsRecognised) {
  EXPECT_TRUE(InspectProgram(WriteElf(ELFCLASS64, kTheirs, PT_INTERP)).other_machine);
  EXPECT_TRUE(InspectProgram(WriteElf(ELFCLASS32, EM_386, PT_INTERP)).other_machine);
}

TEST_F(ProgramFileTest, SetUserIdIsRecognised) {
  const std::string path = WriteElf(ELFCLASS64, kOurs, PT_INTERP);
  chmod(path.c_str(), 04755);
  EXPECT_THAT(Reasons(InspectProgram(path)), ElementsAre(HasSubstr("set-user-ID")));
}

TEST_F(ProgramFileTest, AScriptOrAStubOfAFileIsNoElf) {
  EXPECT_FALSE(InspectProgram(folder_.Write("s", "#!/bin/sh\nexit 0\n")).is_elf);
  EXPECT_FALSE(InspectProgram(folder_.Write("e", "")).is_elf);
  EXPECT_FALSE(InspectProgram(folder_.Write("m",
                                            "\x7f"
                                            "ELF"))
                   .is_elf);
}

TEST_F(ProgramFileTest, TheSwitchIsNamedFirst) {
  EXPECT_THAT(Reasons({}, {{"GPUBOUND_DISABLE", "1"}}), ElementsAre(HasSubstr("GPUBOUND_DISABLE")));
}

TEST_F(ProgramFileTest, WithoutAnObstacleTheLikelyOnesAreNamed) {
  EXPECT_THAT(Reasons({}, {{"GPUBOUND_DISABLE", "0"}}), SizeIs(testing::Ge(2u)));
}

TEST_F(ProgramFileTest, AnotherToolThatTakesTheRangesIsNamed) {
  EXPECT_THAT(Reasons({}, {{"NVTX_INJECTION64_PATH", "/opt/other/libtool.so"}}),
              testing::Contains(HasSubstr("/opt/other/libtool.so")));
  EXPECT_THAT(Reasons({}, {{"NVTX_INJECTION64_PATH", "/usr/lib/gpubound/libgpubound_core.so"}}),
              testing::Each(testing::Not(HasSubstr("libgpubound_core.so"))));
}

TEST_F(ProgramFileTest, WhatAPythonProgramMayLackIsNamed) {
  EXPECT_THAT(Reasons({}), testing::Contains(HasSubstr("with gpubound.operation(")));
  EXPECT_THAT(Reasons({}), testing::Contains(HasSubstr("-I, -E or -S")));
}

TEST_F(ProgramFileTest, WhatGoesOnInTheBackgroundIsNamed) {
  EXPECT_THAT(Reasons({}), testing::Contains(HasSubstr("in the background")));
}

TEST_F(ProgramFileTest, AnAllocatorThatIsPreloadedInOurPlaceIsNamed) {
  EXPECT_THAT(Reasons({}), testing::Contains(HasSubstr("set LD_PRELOAD anew (for jemalloc")));
}

TEST_F(ProgramFileTest, APythonThatIsPartOfItsProgramIsNamed) {
  EXPECT_THAT(Reasons({}), testing::Contains(HasSubstr("frozen with its program")));
}

TEST_F(ProgramFileTest, ABuildWithoutPythonHooksIsNamedFirst) {
  hooks_python_ = false;
  EXPECT_THAT(Reasons({}).front(), HasSubstr("has no Python hooks"));
  hooks_python_ = true;
  EXPECT_THAT(Reasons({}), testing::Each(testing::Not(HasSubstr("no Python hooks"))));
}

TEST_F(ProgramFileTest, AVariableThatLeavesPythonAloneIsNamed) {
  EXPECT_THAT(Reasons({}, {{"GPUBOUND_PYTHON", "0"}}),
              testing::Contains(HasSubstr("GPUBOUND_PYTHON is set to 0")));
  EXPECT_THAT(Reasons({}, {{"GPUBOUND_PYTHON", "/nonexistent"}}),
              testing::Contains(HasSubstr("GPUBOUND_PYTHON is set to /nonexistent")));
}

TEST_F(ProgramFileTest, TheFolderThatHooksPythonIsNoReason) {
  folder_.Write("sitecustomize.py", "");
  EXPECT_THAT(Reasons({}, {{"GPUBOUND_PYTHON", folder_.path()}}),
              testing::Each(testing::Not(HasSubstr("GPUBOUND_PYTHON"))));
}

TEST_F(ProgramFileTest, IsLookedUpAsExecWouldDoIt) {
  const std::string path = WriteElf(ELFCLASS64, kOurs, PT_INTERP);
  const GetVariable environment = FakeVariables({{"PATH", "/nonexistent:" + folder_.path()}});
  EXPECT_EQ(FindProgram("program", environment), path);
  EXPECT_EQ(FindProgram(path, environment), path);
  EXPECT_EQ(FindProgram("absent", environment), "");
  chmod(path.c_str(), 0644);
  EXPECT_EQ(FindProgram("program", environment), "");
}

}  // namespace
}  // namespace gpubound
