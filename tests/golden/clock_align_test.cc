// SPDX-License-Identifier: Apache-2.0
//
// Clocks of two hosts whose ranks run collectives together, on traces written down as text.
#include "analysis/processes/clock_align.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/trace/plausible_time.h"
#include "tests/golden/scenario.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kWallNs = 1'000'000'000'000;
constexpr int64_t kMinuteNs = 60'000'000'000;
constexpr int64_t kEveryNs = 1'000'000'000;

class ClockAlignTest : public testing::Test {
 protected:
  // A rank of |host|, whose clock says |wall_ns| at 0, enters |count| collectives, one a second,
  // |enters_ns| after the second began, leaves the k-th |leaves_ns| + k * |drift_ns| after that.
  void AddRank(const std::string& host, int64_t wall_ns, int count, int64_t enters_ns,
               int64_t leaves_ns, int64_t drift_ns = 0) {
    const std::string kernel = " " + kernel_;
    if (!text_.empty()) text_ += "process " + std::to_string(++pid_) + " 1\n";
    text_ += "host " + host + " " + std::to_string(wall_ns) + "\n";
    text_ += "span 0 1000000000000\nthread main\n";
    for (int k = 0; k < count; ++k) {
      const int64_t second_ns = k * kEveryNs + k * drift_ns;
      const std::string number = " #" + std::to_string(k + 1) + "\n";
      text_ += "call main " + std::to_string(second_ns) + " " + std::to_string(second_ns + 2) +
               " cudaLaunchKernel" + number;
      text_ += "kernel " + std::to_string(second_ns + enters_ns) + " " +
               std::to_string(second_ns + leaves_ns) + kernel + number;
    }
  }
  ClockAlignment Align() {
    golden::Scenario scenario = golden::ParseScenario(text_);
    EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
    return AlignClocks(scenario.run, "near");
  }

  std::string text_;
  std::string kernel_ = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  int pid_ = 199;
};

TEST_F(ClockAlignTest, CollectivesTellHowFarClocksAgree) {
  AddRank("near", kWallNs, 20, 10'000, 60'000);
  AddRank("far", kWallNs, 20, 50'000, 61'000);
  const ClockAlignment clocks = Align();
  EXPECT_THAT(clocks.offset_ns, ElementsAre(0, 0));
  EXPECT_THAT(clocks.unbounded_hosts, IsEmpty());
  ASSERT_THAT(clocks.bounded_hosts, SizeIs(1));
  EXPECT_EQ(clocks.bounded_hosts[0].host, "far");
  EXPECT_EQ(clocks.bounded_hosts[0].ahead_ns, 0);
  EXPECT_EQ(clocks.bounded_hosts[0].error_ns, 51'000) << "from entering here to leaving there";
  EXPECT_EQ(clocks.bounded_hosts[0].collectives, 20u);
}

TEST_F(ClockAlignTest, AClockThatCollectivesProveWrongIsSetRight) {
  AddRank("near", kWallNs, 20, 10'000, 60'000);
  AddRank("far", kWallNs + kMinuteNs, 20, 50'000, 61'000);
  const ClockAlignment clocks = Align();
  ASSERT_THAT(clocks.bounded_hosts, SizeIs(1));
  EXPECT_NEAR(static_cast<double>(clocks.bounded_hosts[0].ahead_ns), kMinuteNs, 31'000);
  EXPECT_NEAR(static_cast<double>(clocks.offset_ns[1]), 0, 31'000);
  EXPECT_EQ(clocks.bounded_hosts[0].error_ns, 30'500);
}

TEST_F(ClockAlignTest, ClocksThatNoDifferenceCanHoldSayNothing) {
  constexpr int64_t kFarNs = kFarthestNs - 1;
  AddRank("near", -kFarNs, 1, 10'000, 60'000);
  AddRank("far", kFarNs, 1, 50'000, 61'000);
  EXPECT_THAT(Align().offset_ns, ElementsAre(0, 0));
}

TEST_F(ClockAlignTest, AFewMayAgreeByChance) {
  AddRank("near", kWallNs, 15, 10'000, 60'000);
  AddRank("far", kWallNs + kMinuteNs, 15, 50'000, 61'000);
  const ClockAlignment clocks = Align();
  EXPECT_THAT(clocks.unbounded_hosts, ElementsAre("far"));
  EXPECT_EQ(clocks.offset_ns[1], kMinuteNs);
}

TEST_F(ClockAlignTest, RanksThatRanAnotherNumberOfThemDidNotRunThemTogether) {
  AddRank("near", kWallNs, 40, 10'000, 60'000);
  AddRank("far", kWallNs, 20, 50'000, 61'000);
  EXPECT_THAT(Align().unbounded_hosts, ElementsAre("far"));
}

// By two thousandths and more, which no clock does that a time service holds.
TEST_F(ClockAlignTest, CollectivesThatDriftApartContradictTheClock) {
  AddRank("near", kWallNs, 200, 10'000, 60'000);
  AddRank("far", kWallNs, 200, 50'000, 61'000, 2'000'000);
  const ClockAlignment clocks = Align();
  EXPECT_THAT(clocks.unbounded_hosts, ElementsAre("far"));
  EXPECT_THAT(clocks.bounded_hosts, IsEmpty());
  ASSERT_THAT(clocks.contradicted_hosts, SizeIs(1));
  EXPECT_EQ(clocks.contradicted_hosts[0].host, "far");
  EXPECT_NEAR(static_cast<double>(clocks.contradicted_hosts[0].ns), 199 * 2e6, 1e5);
}

TEST_F(ClockAlignTest, ATenthOfASecondIsNoContradiction) {
  AddRank("near", kWallNs, 40, 10'000, 60'000);
  AddRank("far", kWallNs, 40, 50'000, 61'000, 2'000'000);
  EXPECT_THAT(Align().contradicted_hosts, IsEmpty());
}

// By 50 millionths, as bad oscillators do: 10 ms in 200 s, while ranks leave within 1 us.
TEST_F(ClockAlignTest, ClocksThatDriftAreFollowedThroughTheRun) {
  AddRank("near", kWallNs, 200, 10'000, 60'000);
  AddRank("far", kWallNs, 200, 50'000, 61'000, 50'000);
  const ClockAlignment clocks = Align();
  ASSERT_THAT(clocks.bounded_hosts, SizeIs(1));
  const BoundedHost& far = clocks.bounded_hosts[0];
  ASSERT_TRUE(far.drift_ppm);
  EXPECT_NEAR(*far.drift_ppm, 50, 0.1);
  EXPECT_LT(far.track_error_ns, 1'000);
  ASSERT_THAT(clocks.tracks, SizeIs(1));
  const OffsetTrack& track = clocks.tracks.at("far");
  for (const int64_t second : {0, 50, 199}) {
    const int64_t far_ns = second * (kEveryNs + 50'000);
    EXPECT_NEAR(static_cast<double>(track.At(far_ns)), -50'000.0 * static_cast<double>(second),
                2'000)
        << second;
  }
  EXPECT_LT(far.error_ns, 10'000'000);
  EXPECT_NEAR(static_cast<double>(clocks.offset_ns[1]), -5'000'000, 200'000);
}

TEST_F(ClockAlignTest, AClockThatIsOffAndDriftsIsSetRightPartByPart) {
  AddRank("near", kWallNs, 5000, 10'000, 60'000);
  AddRank("far", kWallNs + kMinuteNs, 5000, 50'000, 61'000, 1'000);
  const ClockAlignment clocks = Align();
  ASSERT_THAT(clocks.bounded_hosts, SizeIs(1));
  EXPECT_NEAR(static_cast<double>(clocks.bounded_hosts[0].ahead_ns), kMinuteNs, 5'000'000);
  EXPECT_NEAR(static_cast<double>(clocks.tracks.at("far").At(4000 * kEveryNs)), -4'000'000, 2'000);
}

// Ranks of two groups here and there: the wrong pairs miss each other by a little.
TEST_F(ClockAlignTest, GroupsThatAreMistakenForEachOtherProveOnlyWhatIsFarOff) {
  AddRank("near", kWallNs, 20, 10'000, 60'000);
  AddRank("near", kWallNs, 20, 30'010'000, 30'060'000);
  AddRank("far", kWallNs, 20, 50'000, 61'000);
  AddRank("far", kWallNs, 20, 30'050'000, 30'061'000);
  EXPECT_EQ(Align().offset_ns[2], 0);
  text_.clear();
  AddRank("near", kWallNs, 20, 10'000, 60'000);
  AddRank("near", kWallNs, 20, 30'010'000, 30'060'000);
  AddRank("far", kWallNs + kMinuteNs, 20, 50'000, 61'000);
  const ClockAlignment clocks = Align();
  EXPECT_NEAR(static_cast<double>(clocks.offset_ns[2]), 0, 31'000'000);
}

// The root of a broadcast leaves before the others enter.
TEST_F(ClockAlignTest, BroadcastsProveNothing) {
  kernel_ = "ncclDevKernel_Broadcast_RING_LL";
  AddRank("near", kWallNs, 20, 10'000, 60'000);
  AddRank("far", kWallNs, 20, 900'050'000, 900'061'000);
  EXPECT_THAT(Align().unbounded_hosts, ElementsAre("far"));
}

TEST_F(ClockAlignTest, NorDoThoseOfAProcessOfWhichWorkIsMissing) {
  AddRank("near", kWallNs, 20, 10'000, 60'000);
  text_ += "unknown 5000000000 6000000000\n";
  AddRank("far", kWallNs + kMinuteNs, 20, 50'000, 61'000);
  EXPECT_THAT(Align().unbounded_hosts, ElementsAre("far"));
}

TEST_F(ClockAlignTest, AProcessWhosePythonWasNotHookedHasAllItsCollectives) {
  AddRank("near", kWallNs, 20, 10'000, 60'000);
  AddRank("far", kWallNs, 20, 50'000, 61'000);
  golden::Scenario scenario = golden::ParseScenario(text_);
  for (ProcessTrace& process : scenario.run.processes) {
    process.Count(LedgerCounter::python_without_extension) = 1;
  }
  EXPECT_THAT(AlignClocks(scenario.run, "near").bounded_hosts, SizeIs(1));
}

TEST_F(ClockAlignTest, TimesThatAReplayMovedAreAlignedAsTheyWereRecorded) {
  AddRank("near", kWallNs, 20, 10'000, 60'000);
  AddRank("far", kWallNs, 20, 50'000, 61'000);
  golden::Scenario scenario = golden::ParseScenario(text_);
  scenario.run.recorded_offsets_ns = {{"near", 5}, {"far", 12}};
  EXPECT_THAT(AlignClocks(scenario.run, "near").offset_ns, ElementsAre(0, 7));
  EXPECT_THAT(AlignClocks(scenario.run, "far").offset_ns, ElementsAre(-7, 0));
}

TEST_F(ClockAlignTest, ARunOfOneHostNeedsNone) {
  AddRank("near", kWallNs, 20, 10'000, 60'000);
  const ClockAlignment clocks = Align();
  EXPECT_THAT(clocks.bounded_hosts, IsEmpty());
  EXPECT_THAT(clocks.unbounded_hosts, IsEmpty());
}

}  // namespace
}  // namespace gpubound
