// SPDX-License-Identifier: Apache-2.0
//
// Programs that use the GPU and end in each of the ways that processes end, fork or change: none
// hangs, their exit status is their own, and every kernel that was done is in the trace; where the
// process is killed or replaced before CUPTI delivered its records, that time is unknown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/integration/command_run.h"
#include "tests/integration/device_truth.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

constexpr int kIterations = 10;
constexpr int kKernels = 3;  // of an iteration

class ProcessLife : public CommandRun {
 protected:
  Outcome Live(const std::string& way, int status = 0) {
    return Profile({GPUBOUND_TEST_PROCESS_LIFE_VICTIM, way, std::to_string(kIterations)}, status);
  }
  int64_t Count(const std::string& what) {
    const Outcome outcome =
        Gpubound({"sql", run_path(), "SELECT count(*) AS n FROM " + what, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
    const Json rows = Json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
    return rows.is_array() && !rows.empty() ? rows[0]["n"].get<int64_t>() : -1;
  }
  int64_t Kernels() { return Count("gpu WHERE kind = 'kernel'"); }
  size_t Processes() { return Report()["processes"].size(); }
  // Of a process that is gone before CUPTI delivered, unless it lived for as long as a flush takes.
  void ExpectUnknown(const Json& process) {
    EXPECT_EQ(RowOf(process, "simulation")["count"], kIterations);
    const Json inference = RowOf(process, "inference");
    if (Kernels() == kIterations * kKernels * static_cast<int64_t>(Processes())) return;
    EXPECT_GT(inference["unknown_ns"], 0);
  }
  void ExpectEveryKernel(int trainings = 1) {
    EXPECT_EQ(Kernels(), int64_t{trainings} * kIterations * kKernels);
  }
};

// Ways in which the process may close its trace, and the exit status that is its own.
struct End {
  const char* way;
  int exit_code;
};

class ProcessEnd : public ProcessLife, public testing::WithParamInterface<End> {};

TEST_P(ProcessEnd, HasItsStatusAndEveryKernel) {
  Live(GetParam().way, GetParam().exit_code);
  ExpectEveryKernel();
}

INSTANTIATE_TEST_SUITE_P(Ways, ProcessEnd,
                         testing::Values(End{"return", 0}, End{"exit-in-thread", 7},
                                         End{"_exit", 3}, End{"short-threads", 0},
                                         End{"daemon", 0}),
                         [](const auto& end) {
                           std::string name = end.param.way;
                           std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
                           return name;
                         });

TEST_F(ProcessLife, TheMainThreadEndsFirst) {
  const Outcome outcome = Live("main-first");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(Count("scope WHERE name = 'in the thread'"), kIterations);
}

TEST_F(ProcessLife, MainReturnsWhileAThreadLaunches) {
  const Outcome outcome = Live("busy-thread");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_GT(Kernels(), kIterations * kKernels);
}

// The command ends as its program did: by the shell's rule, 128 and the signal.
TEST_F(ProcessLife, Abort) {
  Live("abort", 128 + SIGABRT);
  ExpectUnknown(Report()["processes"][0]);
}

TEST_F(ProcessLife, Crash) {
  Live("crash", 128 + SIGSEGV);
  ExpectUnknown(Report()["processes"][0]);
}

TEST_F(ProcessLife, Terminated) {
  Live("term", 128 + SIGTERM);
  ExpectUnknown(Report()["processes"][0]);
}

TEST_F(ProcessLife, AForkAfterCudaLeavesTheParentRecording) {
  const Outcome outcome = Live("fork");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  ExpectEveryKernel(/*trainings=*/2);
  EXPECT_EQ(Processes(), 2U);
  EXPECT_EQ(Count("scope WHERE name = 'in the child'"), kIterations);
}

TEST_F(ProcessLife, ExecutedInPlace) {
  const Outcome outcome = Live("exec");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  ASSERT_EQ(Processes(), 2U);
  EXPECT_GE(Kernels(), kIterations * kKernels);
  ExpectUnknown(Report()["processes"][0]);
}

TEST_F(ProcessLife, AModuleWithNvtxIsUnloaded) {
  runner().Set("GPUBOUND_TEST_NVTX_MODULE", GPUBOUND_TEST_NVTX_MODULE);
  const Outcome outcome = Live("unload");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  ExpectEveryKernel();
  EXPECT_EQ(Count("scope WHERE name = 'range of a module'"), kIterations);
}

TEST_F(ProcessLife, NvtxThatTheUserGaveToAnotherToolStaysItsOwnAndThatIsSaid) {
  runner().Set("GPUBOUND_TEST_NVTX_MODULE", GPUBOUND_TEST_NVTX_MODULE);
  runner().Set("NVTX_INJECTION64_PATH", GPUBOUND_TEST_OTHER_NVTX_TOOL);
  const Outcome outcome = Live("unload");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.out, testing::HasSubstr("the other tool was asked"));
  EXPECT_EQ(LedgerOf(Report(), LedgerCounter::nvtx_not_injected), 1);
  EXPECT_EQ(Count("scope WHERE name = 'range of a module'"), 0);
  ExpectEveryKernel();
}

}  // namespace
}  // namespace gpubound
