// SPDX-License-Identifier: Apache-2.0
//
// A profiler inside the program that wants CUPTI while we have it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/command_run.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

using testing::HasSubstr;

constexpr int kIterations = 10;  // before the other tool starts, and again while it records

class SecondTool : public CommandRun {
 protected:
  Outcome RunBoth() {
    runner().Set("GPUBOUND_TEST_SECOND_TOOL", GPUBOUND_TEST_SECOND_TOOL);
    return Victim("second_tool", kIterations);
  }
  int64_t Ledger(LedgerCounter counter) const { return LedgerOf(report_, counter); }
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(File(name)).parent_path());
    std::ofstream(File(name)) << text;
  }
  // Kernels that we recorded.
  int64_t Recorded() {
    const gpubound::Run run = Load();
    int64_t kernels = 0;
    for (const DeviceWork& work : run.processes.at(0).device_work) {
      kernels += run.processes[0].WorkOf(work.work).info.kind == WorkKind::kKernel ? 1 : 0;
    }
    return kernels;
  }

  Json report_;
};

TEST_F(SecondTool, IsGivenCuptiAsIfWeHadNeverBeen) {
  const Outcome outcome = RunBoth();
  EXPECT_THAT(outcome.out, HasSubstr("second tool: 0, kernels " + std::to_string(3 * kIterations)))
      << outcome.Describe();
}

TEST_F(SecondTool, LeavesUsWhatWasBeforeAndUnknownTimeBehind) {
  RunBoth();
  report_ = Report();
  EXPECT_EQ(Recorded(), 3 * kIterations);
  EXPECT_EQ(Ledger(LedgerCounter::cupti_yielded), 1);
  EXPECT_EQ(Ledger(LedgerCounter::undelivered_device_buffers), 0);
  const Json& process = report_["processes"][0];
  ExpectExactPartition(report_);
  EXPECT_GT(RowOf(process, "inference")["unknown_ns"], 0);
  EXPECT_GT(RowOf(process, "inference")["gpu_busy_ns"], 0);
}

// What it has CUPTI tell as the time is no step of the clock, and moves nothing.
TEST_F(SecondTool, LeavesWhatWasBeforeWhereItWas) {
  RunBoth();
  report_ = Report();
  EXPECT_EQ(Ledger(LedgerCounter::clock_steps), 0);
  const Json inference = RowOf(report_["processes"][0], "inference");
  const int64_t known_ns =
      inference["wall_ns"].get<int64_t>() - inference["unknown_ns"].get<int64_t>();
  EXPECT_GT(inference["gpu_busy_ns"],
            known_ns / 40);  // half of it, where the machine has nothing else to do
}

TEST_F(SecondTool, WhenItHasEndedCuptiListensToNothing) {
  EXPECT_THAT(RunBoth().out, HasSubstr("\nlistening 0 0 0\n"));
}

TEST_F(SecondTool, IsNamedInOneLine) {
  EXPECT_THAT(RunBoth().err, HasSubstr("CUPTI was handed to libsecond_tool.so"));
}

TEST_F(SecondTool, IsGivenCuptiByTheCallThatTellsNamesToo) {
  runner().Set("GPUBOUND_TEST_SUBSCRIBE_V2", "1");
  const Outcome outcome = RunBoth();
  EXPECT_THAT(outcome.out, HasSubstr("second tool: 0, kernels " + std::to_string(3 * kIterations)))
      << outcome.Describe();
  EXPECT_THAT(outcome.err, HasSubstr("CUPTI was handed to libsecond_tool.so"));
}

TEST_F(SecondTool, GetsNothingWhereTheUserKeepsCupti) {
  runner().Set("GPUBOUND_KEEP_CUPTI", "1");
  const Outcome outcome = RunBoth();
  EXPECT_THAT(outcome.out, HasSubstr("second tool: 39"));
  EXPECT_THAT(outcome.err, HasSubstr("GPUBOUND_KEEP_CUPTI is 1"));
  report_ = Report();
  EXPECT_EQ(Recorded(), 6 * kIterations);
  EXPECT_EQ(Ledger(LedgerCounter::cupti_yielded), 0);
}

// As JAX does: no call of the dynamic linker's tells, so the function that starts it is hooked.
TEST_F(SecondTool, ThatFindsCuptiByItselfIsGivenItByItsHook) {
  Write("jax-0.6.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: jax\nVersion: 0.6.0\n");
  Write("jax/__init__.py", "");
  Write("jax/_src/__init__.py", "");
  Write("jax/_src/profiler.py",
        "import ctypes\n"
        "def start_trace(folder):\n"
        "    handle = ctypes.c_void_p()\n"
        "    cupti = ctypes.CDLL('libcupti.so.13')\n"
        "    print('second tool:', cupti.cuptiSubscribe(ctypes.byref(handle), None, None))\n");
  Write("train.py",
        "import ctypes\n"
        "ctypes.CDLL('libcudart.so.13').cudaDeviceSynchronize()\n"
        "import jax._src.profiler\n"
        "jax._src.profiler.start_trace('/tmp')\n");
  runner().Set("PYTHONPATH", File(""));
#ifdef GPUBOUND_TEST_SANITIZER_RUNTIME
  runner().Set("LD_PRELOAD", GPUBOUND_TEST_SANITIZER_RUNTIME);
#endif
  const Outcome outcome = Profile({GPUBOUND_TEST_PYTHON, "-B", File("train.py")});
  EXPECT_THAT(outcome.out, HasSubstr("second tool: 0")) << outcome.Describe();
  EXPECT_THAT(outcome.err, HasSubstr("CUPTI was handed to jax._src.profiler.start_trace"));
  report_ = Report();
  EXPECT_EQ(Ledger(LedgerCounter::cupti_yielded), 1);
}

// As one that was started with the program, or that torch.profiler left behind.
TEST_F(SecondTool, ThatCameFirstIsNamedAndTheRestIsRecorded) {
  runner().Set("GPUBOUND_SIM_SCRIPT",
               R"({"faults": {"subscribe_error": 39, "held_by": "CUPTI for Kineto"}})");
  const Outcome outcome = Victim("train", kIterations);
  EXPECT_THAT(outcome.err, HasSubstr("CUPTI for Kineto holds CUPTI"));
  report_ = Report();
  EXPECT_EQ(Ledger(LedgerCounter::cupti_held_by_other), 1);
  EXPECT_THAT(report_["run"]["verdict"].get<std::string>(), HasSubstr("incomplete"));
  EXPECT_THAT(report_["notes"].dump(), HasSubstr("CUPTI for Kineto holds CUPTI"));
  const Json& process = report_["processes"][0];
  ExpectExactPartition(report_);
  EXPECT_EQ(process["gpu_busy_ns"], 0);
  for (const char* operation : {"simulation", "inference", "backpropagation"}) {
    const Json row = RowOf(process, operation);
    EXPECT_EQ(row["count"], kIterations);
    EXPECT_EQ(row["unknown_ns"], row["wall_ns"]) << operation;
  }
}

TEST_F(SecondTool, ThatTheDriverLoadsInsteadOfUsLeavesGpuTimeUnknown) {
  runner().Set("CUDA_INJECTION64_PATH", "/opt/another/libtool.so");
  runner().Set("LD_PRELOAD", GPUBOUND_TEST_CUDA_DRIVER);
  Victim("train", kIterations);
  report_ = Report();
  EXPECT_EQ(Ledger(LedgerCounter::cupti_held_by_other), 1);
  const Json& process = report_["processes"][0];
  ExpectExactPartition(report_);
  EXPECT_EQ(process["gpu_busy_ns"], 0);
  EXPECT_EQ(RowOf(process, "inference")["unknown_ns"], RowOf(process, "inference")["wall_ns"]);
}

TEST_F(SecondTool, ThatWasTakenOutOfTheEnvironmentLeavesGpuTimeUnknown) {
  Victim("uninjected", kIterations);
  report_ = Report();
  EXPECT_EQ(Ledger(LedgerCounter::cupti_unavailable), 1);
  const Json& process = report_["processes"][0];
  ExpectExactPartition(report_);
  EXPECT_EQ(process["gpu_busy_ns"], 0);
  EXPECT_EQ(RowOf(process, "inference")["unknown_ns"], RowOf(process, "inference")["wall_ns"]);
}

TEST_F(SecondTool, ThatIsNoneLeavesTheVariableToUs) {
  runner().Set("CUDA_INJECTION64_PATH", "");
  Victim("train", kIterations);
  EXPECT_GT(Report()["processes"][0]["gpu_busy_ns"], 0);
}

TEST_F(SecondTool, WithoutUsFindsCuptiAsBefore) {
  runner().Set("GPUBOUND_DISABLE", "1");
  EXPECT_THAT(RunBoth().out, HasSubstr("second tool: 0"));
}

}  // namespace
}  // namespace gpubound
