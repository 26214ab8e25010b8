// SPDX-License-Identifier: Apache-2.0
//
// Whose iterations are the run's: by the report, by the sums that a run is compacted to, and by
// what is said of the report.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/compact/run_summing.h"
#include "analysis/report/main_process.h"
#include "analysis/report/report.h"
#include "analysis/segments/run_sums.h"

namespace gpubound {
namespace {

constexpr size_t kRoot = 0;
constexpr int64_t kEndNs = 1000;

// One that has come to |any| iteration, and to |steady| after warm-up.
Stepped After(bool any, size_t steady) { return {any, steady}; }

TEST(SteppingProcessTest, IsTheRootWhereItHasIterationsAfterWarmUp) {
  EXPECT_EQ(SteppingProcess({After(true, 1), After(true, 9)}, kRoot), 0u);
}

TEST(SteppingProcessTest, ElseHasTheMostOfThem) {
  EXPECT_EQ(SteppingProcess({After(true, 0), After(true, 1), After(true, 2), After(true, 2)}, 0),
            2u);
  EXPECT_EQ(SteppingProcess({After(true, 1), After(true, 2)}, 2), 1u) << "without a root";
}

TEST(SteppingProcessTest, IsTheRootWhereNobodyIsOutOfWarmUp) {
  EXPECT_EQ(SteppingProcess({After(true, 0), After(true, 0)}, 1), 1u);
  EXPECT_EQ(SteppingProcess({After(false, 0), After(true, 0), After(true, 0)}, 0), 1u);
}

TEST(SteppingProcessTest, IsNoneWhereNobodySteps) {
  EXPECT_EQ(SteppingProcess({After(false, 0), After(false, 0)}, kRoot), 2u);
  EXPECT_EQ(SteppingProcess(Report()), nullptr);
}

// A root that steps once, and a learner that goes on with it.
class SteppingRunTest : public testing::Test {
 protected:
  SteppingRunTest() {
    run_.processes.push_back(Process(1, {200}));
    run_.processes.push_back(Process(2, {150, 250, 350, 450, 550, 650, 750, 850}));
    run_.processes.back().parent_pid = 1;
  }

  static ProcessTrace Process(int64_t pid, const std::vector<int64_t>& steps_ns) {
    ProcessTrace process;
    process.identity = {"host", pid, pid};
    process.main_tid = static_cast<uint32_t>(pid);
    process.device_kind = "real";
    process.begin_is_known = true;
    process.span_end_ns = kEndNs;
    process.labels.resize(1);
    process.labels.push_back({LabelKind::kOperation, Layer::kUnset, "", "train"});
    process.devices.resize(2);
    process.devices[1].uuid = "GPU-1";
    process.streams = {{}, {DeviceId{1}, 1, 7}};
    process.works.resize(2);
    process.works[1].name = "kernel";
    for (int64_t i = 0; i < 9; ++i) {
      DeviceWork work;
      work.start_ns = 100 * i + 10 * pid;
      work.end_ns = work.start_ns + 30;
      work.stream = StreamId{1};
      work.work = WorkId{1};
      process.device_work.push_back(work);
    }
    ThreadTrace& thread = process.threads.emplace_back();
    thread.ordinal = ThreadId{1};
    thread.tid = static_cast<uint32_t>(pid);
    thread.events.push_back({50, 0, LabelId{1}, SlotKind::kBegin});
    uint64_t number = 0;
    for (const int64_t step_ns : steps_ns) {
      thread.events.push_back({step_ns, ++number, LabelId{}, SlotKind::kStep});
    }
    thread.events.push_back({950, 0, LabelId{1}, SlotKind::kEnd});
    return process;
  }
  Report Reported() const {
    const Result<Report> report = BuildReport(run_);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().ToString());
    return report.ok() ? *report : Report();
  }
  void Sum(int64_t until_ns) {
    Result<SummedRun> summed = SumRun(run_, {}, until_ns);
    ASSERT_TRUE(summed.ok()) << summed.error().ToString();
    run_.sums = std::make_shared<RunSums>(std::move(summed->sums));
  }

  gpubound::Run run_;
};

std::vector<std::string> PartsOf(const Report& report) {
  std::vector<std::string> parts;
  for (const ReportPart& part : report.run.parts) {
    parts.push_back(part.part + " " + std::to_string(part.wall_ns) + " " +
                    std::to_string(part.gpu_busy_ns));
  }
  return parts;
}

TEST_F(SteppingRunTest, TheHeadlineCoversIterationsAfterWarmUpWhoeverHasThem) {
  const Report report = Reported();
  EXPECT_EQ(report.run.headline, "iterations");
  EXPECT_EQ(report.run.headline_ns, 850 - 150);
  ASSERT_NE(SteppingProcess(report), nullptr);
  EXPECT_EQ(SteppingProcess(report)->pid, 2);
}

TEST_F(SteppingRunTest, SumsAreCutWhereTheReportIs) {
  const Report whole = Reported();
  for (const int64_t until_ns : {300, 500, 900}) {
    run_.sums = nullptr;
    Sum(until_ns);
    const Report report = Reported();
    EXPECT_EQ(PartsOf(report), PartsOf(whole)) << until_ns;
    EXPECT_EQ(report.run.headline_ns, whole.run.headline_ns) << until_ns;
  }
}

TEST_F(SteppingRunTest, SumsAreCutAtTheBeginOfTheRootsFirstIterationBeforeItHasEnded) {
  run_.processes.pop_back();
  const Report whole = Reported();
  Sum(120);
  EXPECT_EQ(PartsOf(Reported()), PartsOf(whole));
}

}  // namespace
}  // namespace gpubound
