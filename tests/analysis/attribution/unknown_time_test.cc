// SPDX-License-Identifier: Apache-2.0
//
// How much of a run's device time is unknown: of one process exactly, of several at most.
#include "analysis/attribution/unknown_time.h"
#include "analysis/attribution/build_report.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/compact/run_summing.h"
#include "analysis/report/report.h"
#include "analysis/segments/run_sums.h"

namespace gpubound {
namespace {

constexpr int64_t kSpanNs = 1'000;

class UnknownTimeTest : public testing::Test {
 protected:
  // A process with a device of that uuid, on which it works for the first 100 ns.
  ProcessTrace& AddProcess(const std::string& uuid) {
    ProcessTrace& process = run_.processes.emplace_back();
    process.identity.host = "host";
    process.identity.pid = static_cast<int64_t>(run_.processes.size());
    process.span_end_ns = kSpanNs;
    process.labels.resize(2);
    process.labels[1] = {LabelKind::kOperation, Layer::kUnset, "", "train"};
    process.threads.resize(1);
    if (uuid.empty()) return process;
    process.devices.push_back({{}, "H100", uuid});
    process.streams.resize(2);
    process.works.resize(1);
    DeviceWork work;
    work.start_ns = 0;
    work.end_ns = 100;
    work.stream = StreamId{1};
    process.device_work.push_back(work);
    return process;
  }

  ReportRun Summary() {
    Result<Report> report = BuildReport(run_);
    EXPECT_TRUE(report.ok());
    return report.ok() ? report->run : ReportRun{};
  }

  void Put(ProcessTrace* process, SlotKind kind, int64_t time_ns) {
    ThreadEvent event;
    event.kind = kind;
    event.time_ns = time_ns;
    process->threads.front().events.push_back(event);
  }

  void AddUnknownBeforeTheIterations();

  void Sum(int64_t until_ns) {
    Result<SummedRun> summed = SumRun(run_, {}, until_ns);
    ASSERT_TRUE(summed.ok()) << summed.error().ToString();
    run_.sums = std::make_shared<RunSums>(std::move(summed->sums));
  }

  gpubound::Run run_;
};

// Of 1000 ns the one host has recorded the first 400, the other those behind 700.
TEST_F(UnknownTimeTest, WhereHostsRecordedIterationsAtDifferentTimesTheRestIsUnknown) {
  AddProcess("GPU-a");
  ProcessTrace& second = AddProcess("GPU-b");
  second.before_span_ns = second.span_begin_ns = 700;
  second.device_work.front().start_ns = 800;
  second.device_work.front().end_ns = 900;
  second.identity.host = "other";
  run_.processes[0].span_end_ns = 400;
  run_.processes[0].span_end = SpanEnd::kAsked;
  RunInfo& info = run_.info.emplace();
  info.host = "host";
  run_.steps = "5:10";
  const Report report = BuildReport(run_).value();
  EXPECT_EQ(report.run.wall_ns, kSpanNs);
  EXPECT_DOUBLE_EQ(report.run.whole_unknown.share, (600.0 + 700) / (2 * kSpanNs));
  EXPECT_DOUBLE_EQ(report.run.whole_gpu_busy_share, (100.0 + 100) / (2 * kSpanNs));
  EXPECT_TRUE(report.devices.at(0).has_unknown_time);
  EXPECT_TRUE(report.devices.at(1).has_unknown_time);
}

TEST_F(UnknownTimeTest, OfOneProcessIsKnownExactly) {
  AddProcess("GPU-a").unknown = {{50, 300, "lost"}};
  const ReportRun run = Summary();
  EXPECT_DOUBLE_EQ(run.whole_unknown.share, 0.2) << "work was recorded in the first 100 ns";
  EXPECT_FALSE(run.whole_unknown.is_upper_bound);
}

// Four ranks with a device each, unknown for a fifth of the time each.
TEST_F(UnknownTimeTest, OfRanksIsOfTheDevicesOfAll) {
  for (const char* uuid : {"GPU-a", "GPU-b", "GPU-c", "GPU-d"}) {
    AddProcess(uuid).unknown = {{200, 400, "lost"}};
  }
  const ReportRun run = Summary();
  EXPECT_EQ(run.devices_used, 4);
  EXPECT_DOUBLE_EQ(run.whole_unknown.share, 0.2);
  EXPECT_TRUE(run.whole_unknown.is_upper_bound);
}

TEST_F(UnknownTimeTest, TheVerdictSaysTheShareOfTheFirstLineHoweverManyUseNoDevice) {
  AddProcess("GPU-a").unknown = {{100, 300, "lost"}};
  for (int i = 0; i < 3; ++i) AddProcess("");
  EXPECT_DOUBLE_EQ(Summary().whole_unknown.share, 0.2);
  EXPECT_EQ(Summary().verdict,
            "incomplete: GPU unknown for 20 % of the time, so GPU shares are lower bounds.");
  AddProcess("GPU-a").unknown = {{200, 400, "lost"}};
  EXPECT_EQ(
      Summary().verdict,
      "incomplete: GPU unknown for at most 30 % of the time, so GPU shares are lower bounds.");
}

TEST_F(UnknownTimeTest, OfProcessesThatShareADeviceCountsOnce) {
  AddProcess("GPU-a").unknown = {{200, 400, "lost"}};
  AddProcess("GPU-a").unknown = {{300, 600, "lost"}};
  EXPECT_DOUBLE_EQ(Summary().whole_unknown.share, 0.4);
}

TEST_F(UnknownTimeTest, IsNoMoreThanWhatIsNotBusy) {
  AddProcess("GPU-a").unknown = {{0, kSpanNs, "lost"}};
  AddProcess("GPU-a");
  EXPECT_DOUBLE_EQ(Summary().whole_unknown.share, 0.9);
}

TEST_F(UnknownTimeTest, OfAProcessWhoseDevicesNobodyKnowsIsThatOfAll) {
  AddProcess("GPU-a");
  AddProcess("GPU-b");
  AddProcess("").unknown = {{500, 600, "not injected"}};
  EXPECT_DOUBLE_EQ(Summary().whole_unknown.share, 0.1);
}

TEST_F(UnknownTimeTest, WithoutADeviceIsThatOfAnyProcess) {
  AddProcess("").unknown = {{200, 400, "not injected"}};
  AddProcess("").unknown = {{300, 600, "not injected"}};
  const ReportRun run = Summary();
  EXPECT_DOUBLE_EQ(run.unknown.share, 0.4);
  EXPECT_FALSE(run.unknown.is_upper_bound);
}

TEST_F(UnknownTimeTest, OfSumsIsAnUpperBoundWhereThereIsSome) {
  AddProcess("");
  for (const bool some : {false, true}) {
    if (some) AddProcess("").unknown = {{200, 400, "not injected"}};
    Result<Report> report = BuildReport(run_);
    ASSERT_TRUE(report.ok());
    gpubound::Run summed = run_;
    summed.sums = std::make_shared<RunSums>();
    const ClockAlignment clocks = {{0, 0}, {}, {}, {}, {}};
    const RunUnknown unknown(summed.processes.size());
    AddUnknownTime(summed, unknown, clocks, {}, {{{0, kSpanNs}}, {}, 0}, 0, &*report);
    EXPECT_DOUBLE_EQ(report->run.unknown.share, some ? 0.2 : 0);
    EXPECT_EQ(report->run.unknown.is_upper_bound, some);
  }
}

// The first device is idle and unknown while the second is busy: of the process as a whole nothing
// is unknown then, and of the second neither.
TEST_F(UnknownTimeTest, OneDeviceMayBeUnknownWhileAnotherIsBusy) {
  ProcessTrace& process = AddProcess("GPU-a");
  process.unknown = {{200, 400, "lost"}};
  process.devices.push_back({{}, "H100", "GPU-b"});
  process.devices.back().info.index = 1;
  process.streams.push_back({DeviceId{1}});
  process.device_work.push_back(process.device_work.front());
  process.device_work.back().start_ns = 200;
  process.device_work.back().end_ns = 400;
  process.device_work.back().stream = StreamId{2};
  const Report whole = BuildReport(run_).value();
  ASSERT_EQ(whole.processes.front().unknown_ns, 0);
  EXPECT_DOUBLE_EQ(whole.run.whole_unknown.share, 200.0 / (2 * kSpanNs));
  Sum(500);
  EXPECT_DOUBLE_EQ(Summary().whole_unknown.share, 200.0 / (2 * kSpanNs));
  EXPECT_TRUE(Summary().whole_unknown.is_upper_bound);
}

// It sees a second device and never used it.
TEST_F(UnknownTimeTest, OfSumsADeviceThatIsNotUsedMayBeUnknownWhileTheOtherIsBusy) {
  ProcessTrace& process = AddProcess("GPU-a");
  process.unknown = {{50, 300, "lost"}};
  process.devices.push_back({{}, "H100", "GPU-b"});
  process.devices.back().info.index = 1;
  AddProcess("GPU-b");
  Sum(500);
  EXPECT_DOUBLE_EQ(Summary().whole_unknown.share, (200.0 + 300) / (2 * kSpanNs))
      << "50 ns before those in which the first device was busy may be unknown of the second";
}

// Each device by itself: the first one's work is in its first window, the second one's too, and
// nobody knows what happened in the third. Pauses and lost records alike.
TEST_F(UnknownTimeTest, AtMostNvidiaSmiWouldHaveShownEachWindowWithUnknownTime) {
  constexpr int64_t kWindowNs = 166'666'667;
  for (const char* uuid : {"GPU-a", "GPU-b"}) AddProcess(uuid).span_end_ns = 10 * kWindowNs;
  ProcessTrace& second = run_.processes[1];
  second.unknown = {{2 * kWindowNs, 2 * kWindowNs + 1, "lost"}};
  EXPECT_DOUBLE_EQ(Summary().smi_model, 0.1);
  EXPECT_DOUBLE_EQ(Summary().most_smi_model, (0.1 + 0.2) / 2);
  Put(&second, SlotKind::kPause, 5 * kWindowNs - 1);
  Put(&second, SlotKind::kResume, 6 * kWindowNs + 1);
  EXPECT_DOUBLE_EQ(Summary().most_smi_model, (0.1 + 0.5) / 2);
  const Report whole = BuildReport(run_).value();
  EXPECT_DOUBLE_EQ(whole.processes.at(0).most_smi_model, 0.1);
  EXPECT_DOUBLE_EQ(whole.processes.at(1).most_smi_model, 0.5);
  Sum(5 * kWindowNs + 7);
  for (ProcessTrace& process : run_.processes) process.device_work.clear();
  std::erase_if(second.threads.front().events,
                [](const ThreadEvent& event) { return event.kind == SlotKind::kPause; });
  EXPECT_DOUBLE_EQ(Summary().most_smi_model, (0.1 + 0.5) / 2);
}

// Of which the events of a thread tell.
TEST_F(UnknownTimeTest, PausesOfTheRecordingAreUnknown) {
  for (const char* uuid : {"GPU-a", "GPU-b"}) {
    ProcessTrace& process = AddProcess(uuid);
    Put(&process, SlotKind::kPause, 200);
    Put(&process, SlotKind::kResume, 400);
    Put(&process, SlotKind::kPause, 900);
  }
  EXPECT_DOUBLE_EQ(Summary().whole_unknown.share, 0.3);
}

// It steps from 500 ns on; another process on its device is unknown before.
void UnknownTimeTest::AddUnknownBeforeTheIterations() {
  ProcessTrace& stepping = AddProcess("GPU-a");
  for (const int64_t end_ns : {500, 600, 700, 800, 900}) {
    Put(&stepping, SlotKind::kStep, end_ns);
  }
  AddProcess("GPU-a").unknown = {{100, 400, "lost"}};
}

TEST_F(UnknownTimeTest, OfAProcessThatEndedBeforeTheIterationsIsNoneOfTheirsInSumsEither) {
  AddUnknownBeforeTheIterations();
  run_.processes.back().span_end_ns = 450;
  const ReportRun whole = Summary();
  Sum(950);
  const ReportRun summed = Summary();
  EXPECT_DOUBLE_EQ(summed.unknown.share, 0);
  EXPECT_DOUBLE_EQ(summed.whole_unknown.share, whole.whole_unknown.share);
}

TEST_F(UnknownTimeTest, BesideTheIterationsIsNoneOfTheirs) {
  AddUnknownBeforeTheIterations();
  const ReportRun run = Summary();
  ASSERT_EQ(run.headline, "iterations");
  EXPECT_DOUBLE_EQ(run.unknown.share, 0);
  EXPECT_FALSE(run.unknown.is_upper_bound);
  EXPECT_DOUBLE_EQ(run.whole_unknown.share, 0.3);
}

}  // namespace
}  // namespace gpubound
