// SPDX-License-Identifier: Apache-2.0
//
// Which time a run is, of processes on several hosts whose trace times have nothing in common.
#include "analysis/processes/run_frame.h"

#include <gtest/gtest.h>

#include "analysis/processes/clock_align.h"

namespace gpubound {
namespace {

constexpr int64_t kUp = 50'000'000'000'000;  // what "far" has been up longer than "near"
constexpr int64_t kNoon = 1'700'000'000'000'000'000;

class RunFrameTest : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  // Times are those of "near".
  ProcessTrace& AddProcess(const std::string& host, int64_t pid, int64_t begin_ns, int64_t end_ns) {
    const int64_t up_ns = host == "far" ? kUp : 0;
    ProcessTrace& process = run_.processes.emplace_back();
    process.identity = {host, pid, pid};
    process.span_begin_ns = begin_ns + up_ns;
    process.span_end_ns = end_ns + up_ns;
    ClockSample& sample = process.clock_samples.emplace_back();
    sample.monotonic_ns = begin_ns + up_ns;
    sample.realtime_ns = kNoon + begin_ns;
    return process;
  }
  RunInfo& Launch(int64_t begin_ns) {
    RunInfo& info = run_.info.emplace();
    info.host = "near";
    info.root_pid = 1;
    info.start_monotonic_ns = begin_ns;
    info.start_realtime_ns = kNoon + begin_ns;
    return info;
  }
  Interval Span() const { return FrameOf(run_).span; }

  Run run_;
};

TEST_F(RunFrameTest, WithoutARecordedRootItIsWhatTheLauncherMeasured) {
  Launch(1000).end_monotonic_ns = 5000;
  AddProcess("near", 10, 1100, 4800);
  AddProcess("far", 20, 1200, 4900);
  EXPECT_EQ(Span(), (Interval{1000, 5000}));
}

TEST_F(RunFrameTest, ItEndsWhereTheRecordingEndedAsAsked) {
  Launch(1000).end_monotonic_ns = 50'000;
  AddProcess("near", 10, 1100, 4800).span_end = SpanEnd::kAsked;
  AddProcess("far", 20, 1200, 4900).span_end = SpanEnd::kAsked;
  EXPECT_EQ(Span(), (Interval{1000, 4900}));
}

TEST_F(RunFrameTest, OfALauncherThatWasKilledProcessesSayHowLongItWas) {
  Launch(1000);
  AddProcess("near", 10, 1100, 4800);
  AddProcess("far", 20, 1200, 4900);
  EXPECT_EQ(Span(), (Interval{1000, 4900}));
}

TEST_F(RunFrameTest, WithoutALauncherTheFirstByTheTimeOfDayIsTheRoot) {
  AddProcess("near", 10, 1100, 4800);
  AddProcess("far", 20, 1000, 4900);
  EXPECT_EQ(FrameOf(run_).root, 1);
  run_.processes[1].span_begin_ns += 200;
  EXPECT_EQ(FrameOf(run_).root, 0);
}

// Pods of one node have names of their own. The clock of one is set while they run.
TEST_F(RunFrameTest, ContainersOfOneMachineShareItsClock) {
  AddProcess("near", 10, 1100, 4800).boot_id = "one kernel";
  ProcessTrace& other = AddProcess("beside it", 20, 1200, 4900);
  other.boot_id = "one kernel";
  other.clock_samples.front().realtime_ns -= 3600;
  const ClockAlignment clocks = AlignClocks(run_, "near");
  EXPECT_EQ(clocks.offset_ns, (std::vector<int64_t>{0, 0}));
  EXPECT_TRUE(clocks.unbounded_hosts.empty());
  EXPECT_EQ(FrameOf(run_).root, 0) << "by its clock, which was set, the other began before";
}

TEST_F(RunFrameTest, ALauncherWithoutProcessesOnItsHostTellsItsClocks) {
  Launch(1000).end_monotonic_ns = 5000;
  AddProcess("far", 20, 1200, 4900);
  EXPECT_EQ(AlignClocks(run_, "near").offset_ns, std::vector<int64_t>{-kUp});
  EXPECT_EQ(Span(), (Interval{1000, 5000}));
}

}  // namespace
}  // namespace gpubound
