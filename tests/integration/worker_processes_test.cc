// SPDX-License-Identifier: Apache-2.0
//
// Python programs whose worker processes use the GPU: none hangs, and every kernel of each worker
// is in the trace.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

// Python's ways to make worker processes: each uses the GPU for itself, but a data loader's.
class PythonWorkers : public CommandRun, public testing::WithParamInterface<const char*> {
 protected:
  static constexpr int kWorkers = 3;
  static constexpr int kLaunches = 10;  // of each

  Outcome RunWorkers() {
    return Profile({GPUBOUND_TEST_PYTHON, GPUBOUND_TEST_WORKER_KERNELS, GetParam(),
                    std::to_string(kWorkers), std::to_string(kLaunches)});
  }
};
INSTANTIATE_TEST_SUITE_P(Methods, PythonWorkers,
                         testing::Values("fork", "spawn", "forkserver", "subprocess", "preexec",
                                         "loader"),
                         [](const auto& method) { return std::string(method.param); });

TEST_P(PythonWorkers, EveryKernelOfEachIsRecorded) {
  const Outcome outcome = RunWorkers();
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const Json said = Json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_EQ(said["exit_codes"], Json(std::vector<int>(kWorkers, 0))) << outcome.Describe();
  std::map<int64_t, int64_t> kernels;
  for (const ProcessTrace& process : Load().processes) {
    for (const DeviceWork& work : process.device_work) {
      kernels[process.identity.pid] += process.WorkOf(work.work).name == "worker_kernel" ? 1 : 0;
    }
  }
  std::map<int64_t, int64_t> expected;
  for (const Json& pid : said["workers"]) expected[pid] = kLaunches;
  EXPECT_EQ(kernels, expected);
}

TEST_P(PythonWorkers, NothingOfThemIsLostOrUnknown) {
  ASSERT_EQ(RunWorkers().exit_code, 0);
  const Json report = Report();
  ExpectExactPartition(report);
  for (const Json& process : report["processes"]) {
    for (const Json& row : process["operations"]) EXPECT_EQ(row["unknown_ns"], 0) << row;
  }
  ExpectNoLoss(report);
}

}  // namespace
}  // namespace gpubound
