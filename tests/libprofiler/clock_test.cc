// SPDX-License-Identifier: Apache-2.0
//
// The machine's clocks, and the conversion that never changes its mind.
#include "libprofiler/clock.h"

#include <gtest/gtest.h>

#include "libprofiler/clock_track.h"
#include "libprofiler/device_source.h"
#include "proto/invariant_tsc.h"

namespace gpubound {
namespace {

TEST(SystemClockTest, ASampleLiesBetweenTheReadingsAroundIt) {
  SystemClock clock(TscIsInvariant());
  const uint64_t ticks_before = clock.Ticks();
  const int64_t before_ns = clock.MonotonicNs();
  const ClockSample sample = clock.Sample(nullptr);
  EXPECT_GE(sample.monotonic_ns, before_ns);
  EXPECT_LE(sample.monotonic_ns, clock.MonotonicNs());
  EXPECT_GE(sample.ticks, ticks_before);
  EXPECT_LE(sample.ticks, clock.Ticks());
  EXPECT_GT(sample.width_ns, 0u);
  EXPECT_EQ(sample.source_ns, 0);
}

TEST(SystemClockTest, WithoutAnInvariantTscTicksAreMonotonicTime) {
  SystemClock clock(/*use_tsc=*/false);
  const ClockSample sample = clock.Sample(nullptr);
  EXPECT_EQ(sample.ticks, static_cast<uint64_t>(sample.monotonic_ns));
}

// A clock that takes long to read: it says the time of the middle.
class SlowSource final : public DeviceSource {
 public:
  static constexpr int64_t kHalfNs = 20'000;
  const char* name() const override { return "slow"; }
  bool Start(DeviceHost*) override { return true; }
  bool ReadClock(int64_t* now_ns) override {
    Spin();
    *now_ns = static_cast<int64_t>(ReadMonotonicNs());
    Spin();
    return true;
  }
  bool Stop(int64_t, AfterStop) override { return true; }
  bool HasStopped() const override { return true; }
  void AbandonInForkChild() noexcept override {}

 private:
  static void Spin() {
    const uint64_t until = ReadMonotonicNs() + kHalfNs;
    while (ReadMonotonicNs() < until) continue;
  }
};

// What is read first must not seem to be later than what is read last.
TEST(SystemClockTest, ASampleIsOneInstantOfAllClocksHoweverLongReadingOneTakes) {
  SystemClock clock(TscIsInvariant());
  SlowSource source;
  const ClockSample early = clock.Sample(&source);
  constexpr int64_t kTolerance = SlowSource::kHalfNs / 4;
  EXPECT_NEAR(static_cast<double>(early.source_ns - early.monotonic_ns), 0, kTolerance);
  EXPECT_GE(early.width_ns, 2 * static_cast<uint64_t>(SlowSource::kHalfNs));
  // Ticks and wall clock lie to the others as they do without the source.
  const ClockSample quick = clock.Sample(nullptr);
  EXPECT_NEAR(static_cast<double>((early.realtime_ns - early.monotonic_ns) -
                                  (quick.realtime_ns - quick.monotonic_ns)),
              0, kTolerance);
  const ClockSample late = clock.Sample(&source);
  const double ticks_per_ns = static_cast<double>(late.ticks - early.ticks) /
                              static_cast<double>(late.monotonic_ns - early.monotonic_ns);
  const double between = static_cast<double>(quick.monotonic_ns - early.monotonic_ns);
  EXPECT_NEAR(static_cast<double>(quick.ticks - early.ticks) / ticks_per_ns, between, kTolerance);
}

class ClockTrackTest : public testing::Test {
 protected:
  static constexpr int64_t kTolerance = 20'000;
  static constexpr int64_t kSecond = 1'000'000'000;
  bool Add(uint64_t clock, int64_t ns) { return track_.AddSample(clock, ns, kTolerance); }
  int64_t At(uint64_t clock) { return track_.conversion().ToMonotonic(clock); }
  ClockTrack track_;
};

TEST_F(ClockTrackTest, TwoSamplesGiveTheExactLineInBetweenAndBeyond) {
  Add(3'000, 1'000);
  Add(6'000, 2'000);
  EXPECT_EQ(At(4'500), 1'500);
  EXPECT_EQ(At(9'000), 3'000);
}

TEST_F(ClockTrackTest, SamplesOnTheLineLeaveItExact) {
  for (int64_t i = 0; i < 200; ++i) Add(static_cast<uint64_t>(3 * i * kSecond), 500 + i * kSecond);
  EXPECT_EQ(At(static_cast<uint64_t>(3 * 199 * kSecond)), 500 + 199 * kSecond);
  EXPECT_EQ(At(static_cast<uint64_t>(3 * 250 * kSecond)), 500 + 250 * kSecond);
}

TEST_F(ClockTrackTest, WhatWasSaidOfAnInstantStaysTrueWhenLaterSamplesDisagree) {
  Add(0, 0);
  Add(kSecond, kSecond);
  const uint64_t beyond = 3 * kSecond / 2;
  const int64_t said = At(beyond);
  EXPECT_TRUE(Add(2 * kSecond, 2 * kSecond + 9'000));
  EXPECT_EQ(At(beyond), said);
  EXPECT_EQ(At(2 * kSecond), 2 * kSecond) << "continuous at the sample";
}

TEST_F(ClockTrackTest, AnErrorIsWorkedOffWithinASecond) {
  Add(0, 0);
  Add(kSecond, kSecond);
  Add(2 * kSecond, 2 * kSecond + 9'000);
  const int64_t error = At(3 * kSecond) - (3 * kSecond + 13'500);  // its own slope, 4.5 ppm more
  EXPECT_LT(std::abs(error), 10);
}

TEST_F(ClockTrackTest, TimeNeverRunsBackwardsUnderNoise) {
  uint64_t seed = 42;
  int64_t last = INT64_MIN;
  for (int64_t i = 0; i < 1000; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const int64_t noise = static_cast<int64_t>(seed >> 60) * 50;
    Add(static_cast<uint64_t>(i * 3'000'000), i * 1'000'000 + noise);
    if (i == 0) continue;  // one sample has no slope, and promises nothing
    for (uint64_t step = 0; step < 3; ++step) {
      const int64_t now = At(static_cast<uint64_t>(i * 3'000'000) + step * 1'000'000);
      ASSERT_GE(now, last) << i;
      last = now;
    }
  }
}

TEST_F(ClockTrackTest, AStepForwardIsReportedAndLeavesThePastAlone) {
  Add(0, 0);
  Add(kSecond, kSecond);
  EXPECT_FALSE(Add(3602 * kSecond, 2 * kSecond));  // the wall clock jumped by an hour
  EXPECT_EQ(At(kSecond / 2), kSecond / 2);
  EXPECT_EQ(At(3602 * kSecond), 2 * kSecond);
  EXPECT_EQ(At(3603 * kSecond), 3 * kSecond);
}

TEST_F(ClockTrackTest, AStepBackwardIsReportedAndTheNewMeaningTaken) {
  Add(3600 * kSecond, kSecond);
  Add(3601 * kSecond, 2 * kSecond);
  EXPECT_FALSE(Add(kSecond, 3 * kSecond));
  EXPECT_TRUE(Add(2 * kSecond, 4 * kSecond));
  EXPECT_EQ(At(2 * kSecond), 4 * kSecond);
  EXPECT_EQ(At(3 * kSecond), 5 * kSecond);
}

}  // namespace
}  // namespace gpubound
