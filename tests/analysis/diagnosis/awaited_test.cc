// SPDX-License-Identifier: Apache-2.0
#include "analysis/diagnosis/awaited.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

// A process whose GPU was idle 330 ns while it simulated, or waited for who does.
class AwaitedTest : public testing::Test {
 protected:
  AwaitedTest() {
    report_.run.headline_ns = 1000;
    ReportProcess& process = report_.processes.emplace_back();
    process.span_ns = 1000;
    AddOperation("act", 0);
    process.operations[0].device_idle = {{"simulation", 330}, {"launch", 20}};
  }
  ReportProcess& process() { return report_.processes[0]; }
  void AddOperation(const std::string& name, int64_t wall_ns) {
    ReportOperation& row = process().operations.emplace_back();
    row.operation = name;
    row.wall_ns = wall_ns;
    row.device_idle = {{"waiting", wall_ns}};
  }
  // |pids| were waited for under |operation| while the GPU was idle, and did |activity| meanwhile.
  void Wait(const std::vector<int64_t>& pids, const std::string& operation, int64_t ns,
            const std::string& activity) {
    process().waits.push_back({pids, operation, ns});
    for (const int64_t pid : pids) {
      process().awaited.push_back({pid, operation, true, ns, {{activity, "python", ns}}});
    }
    for (ReportOperation& row : process().operations) {
      if (row.operation == operation) row.waiting_ns += ns;
    }
  }
  AwaitedWhileIdle For(const std::string& cause) const {
    return AwaitedFor(report_, report_.processes[0], cause);
  }

  Report report_;
};

TEST_F(AwaitedTest, WorkersAreThoseThatSimulatedMeanwhile) {
  Wait({101}, "act", 100, "simulation");
  Wait({101, 102}, "act", 220, "simulation");
  Wait({103}, "act", 10, "logging");
  EXPECT_EQ(For("simulation").pids, (std::set<int64_t>{101, 102}));
  EXPECT_NEAR(For("simulation").share, 320.0 / 330, 1e-9);
}

TEST_F(AwaitedTest, OthersAreWaitedForWhateverTheyDo) {
  Wait({101}, "act", 330, "logging");
  process().operations[0].device_idle = {{"waiting", 330}, {"simulation", 20}};
  EXPECT_EQ(For("waiting").pids, (std::set<int64_t>{101}));
  EXPECT_TRUE(For("simulation").pids.empty());
}

TEST_F(AwaitedTest, AWorkerThatIsWaitedForElsewhereDoesNotExplainItsOwnSimulation) {
  AddOperation("log", 100);
  Wait({101}, "log", 100, "logging");
  EXPECT_EQ(For("simulation").share, 0);
}

TEST_F(AwaitedTest, WaitsWhileTheGpuWorksDoNotExplainItsIdleTime) {
  Wait({101}, "act", 330, "simulation");
  process().operations[0].waiting_ns = 100;
  EXPECT_NEAR(For("simulation").share, 100.0 / 330, 1e-9);
}

TEST_F(AwaitedTest, WaitsOutsideTheIterationsDoNotExplainTheirIdleTime) {
  process().operations[0].wall_ns = 500;
  AddOperation("shutdown", 2000);
  process().operations[1].device_idle = {{"simulation", 2000}};
  Wait({101}, "shutdown", 2000, "simulation");
  report_.run.headline = "iterations";
  ReportIterations& iterations = process().iterations.emplace();
  iterations.operations.push_back({"act", 400, 0, 0});
  EXPECT_EQ(For("simulation").share, 0);
}

}  // namespace
}  // namespace gpubound
