// SPDX-License-Identifier: Apache-2.0
//
// What the page's timeline is made of: coarse levels, kept events, detail windows, iterations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/base/byte_column.h"
#include "analysis/output/page/counter_series.h"
#include "analysis/output/page/detail_window.h"
#include "analysis/output/page/event_keeper.h"
#include "analysis/output/page/iteration_series.h"
#include "analysis/output/page/share_band.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int> BytesOf(const ByteColumn& column) {
  std::vector<int> bytes;
  for (const char c : column.bytes()) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

TEST(ByteColumnTest, VarintsTakeSevenBitsAByteLowestFirst) {
  ByteColumn column;
  column.Varint(0);
  column.Varint(127);
  column.Varint(128);
  column.Varint(300);
  EXPECT_THAT(BytesOf(column), ElementsAre(0, 127, 0x80, 1, 0xac, 2));
}

TEST(ByteColumnTest, SignedNumbersOfSmallMagnitudeAreShort) {
  ByteColumn column;
  for (const int64_t value : {0, -1, 1, -2, 64}) column.Signed(value);
  EXPECT_THAT(BytesOf(column), ElementsAre(0, 1, 2, 3, 0x80, 1));
}

TEST(ByteColumnTest, Base64PadsToFourCharacters) {
  ByteColumn column;
  EXPECT_EQ(column.Base64(), "");
  for (const char* expected : {"TQ==", "TWE=", "TWFu", "TWFuTQ=="}) {
    column.Byte(static_cast<uint8_t>("ManM"[column.bytes().size()]));
    EXPECT_EQ(column.Base64(), expected);
  }
}

TEST(BucketGridTest, CoversTheSpanWithAtMostAsManyBuckets) {
  EXPECT_EQ(GridOver(100, 10).bucket_ns, 10);
  EXPECT_EQ(GridOver(101, 10).bucket_ns, 11);
  EXPECT_EQ(GridOver(101, 10).buckets, 10u);
  EXPECT_EQ(GridOver(3, 10).buckets, 3u);
  EXPECT_EQ(GridOver(0, 10).buckets, 1u);
}

class ShareBandTest : public testing::Test {
 protected:
  std::vector<int> Finished() { return BytesOf(band_.Finish()); }
  ShareBand band_{GridOver(1000, 10)};  // buckets of 100
};

TEST_F(ShareBandTest, NothingIsNothing) {
  EXPECT_TRUE(band_.empty());
  EXPECT_THAT(Finished(), IsEmpty());
}

TEST_F(ShareBandTest, EqualBucketsAreARun) {
  band_.Add(0, 300, 5);
  EXPECT_THAT(Finished(), ElementsAre(3, 1, 5, 255));
}

TEST_F(ShareBandTest, BucketsThatAreOneHaveOneShareAndKeepTheirNumber) {
  ShareBand band(GridOver(1000, 10), /*coarser=*/4);
  band.Add(0, 300, 5);
  band.Add(500, 900, 5);
  EXPECT_THAT(BytesOf(band.Finish()), ElementsAre(8, 1, 5, 191, 4, 1, 5, 64));
}

TEST_F(ShareBandTest, AnIntervalIsCutAtTheBucketsEdges) {
  band_.Add(150, 220, 5);
  EXPECT_THAT(Finished(), ElementsAre(1, 0, 1, 1, 5, 128, 1, 1, 5, 51));
}

TEST_F(ShareBandTest, TheShortestTimeIsStillSeen) {
  ShareBand band(GridOver(1'000'000, 10));
  band.Add(0, 1, 5);
  EXPECT_THAT(BytesOf(band.Finish()), ElementsAre(1, 1, 5, 1));
}

TEST_F(ShareBandTest, BeyondThreeNamesTheRestIsOther) {
  for (uint32_t name = 1; name <= 5; ++name) band_.Add(20 * name - 20, 20 * name - name, name);
  EXPECT_THAT(Finished(), ElementsAre(1, 4, 1, 48, 2, 46, 3, 43, 0, 79));
}

TEST_F(ShareBandTest, OfIntervalsThatOverlapTheFirstCounts) {
  band_.Add(0, 60, 1);
  band_.Add(40, 80, 2);
  band_.Add(50, 70, 3);
  EXPECT_THAT(Finished(), ElementsAre(1, 2, 1, 153, 2, 51));
}

TEST_F(ShareBandTest, WhatLiesOutsideTheSpanIsLeftOut) {
  band_.Add(-50, 100, 1);
  band_.Add(900, 5000, 1);
  EXPECT_THAT(Finished(), ElementsAre(1, 1, 1, 255, 8, 0, 1, 1, 1, 255));
}

class EventKeeperTest : public testing::Test {
 protected:
  static std::vector<int64_t> Begins(const std::vector<KeptEvent>& events) {
    std::vector<int64_t> begins;
    for (const KeptEvent& event : events) begins.push_back(event.begin_ns);
    return begins;
  }
  // Ten events of 5 ns, one every 10.
  static void AddTen(EventKeeper* keeper) {
    for (int64_t i = 0; i < 10; ++i) keeper->Add({10 * i, 10 * i + 5, 1, 0});
  }
};

TEST_F(EventKeeperTest, KeepsEverythingThatFits) {
  DetailPlan plan({{{42, 58}, "window"}}, 10, 100);
  EventKeeper keeper(&plan);
  AddTen(&keeper);
  EXPECT_TRUE(plan.whole());
  EXPECT_EQ(keeper.Take().size(), 10u);
}

TEST_F(EventKeeperTest, OneEventTooManyLeavesTheWindows) {
  DetailPlan plan({{{42, 58}, "window"}}, 9, 100);
  EventKeeper keeper(&plan);
  AddTen(&keeper);
  EXPECT_FALSE(plan.whole());
  EXPECT_EQ(keeper.seen(), 10u);
  EXPECT_THAT(Begins(keeper.Take()), ElementsAre(40, 50));
}

TEST_F(EventKeeperTest, AFullWindowEndsWhereTheFirstEventWasLeftOut) {
  DetailPlan plan({{{0, 100}, "window"}}, 0, 3);
  EventKeeper keeper(&plan);
  AddTen(&keeper);
  EXPECT_THAT(Begins(keeper.Take()), ElementsAre(0, 10, 20));
  ASSERT_EQ(plan.Kept().size(), 1u);
  EXPECT_EQ(plan.Kept()[0].time, (Interval{0, 30}));
}

TEST_F(EventKeeperTest, WhatFramesAWindowIsKeptHoweverFullItIs) {
  DetailPlan plan({{{0, 100}, "window"}}, 0, 3);
  EventKeeper keeper(&plan);
  AddTen(&keeper);
  keeper.Add({-500, 500, 2, 0});
  EXPECT_THAT(Begins(keeper.Take()), ElementsAre(-500, 0, 10, 20));
}

TEST_F(EventKeeperTest, OuterScopesComeBeforeInnerOnesThatBeginWithThem) {
  DetailPlan plan({}, 10, 10);
  EventKeeper keeper(&plan);
  keeper.Add({5, 10, 1, 1});  // closes first
  keeper.Add({5, 20, 2, 0});
  const std::vector<KeptEvent> events = keeper.Take();
  EXPECT_EQ(events[0].depth, 0u);
  EXPECT_EQ(events[1].depth, 1u);
}

class DetailWindowTest : public testing::Test {
 protected:
  DetailWindowTest() {
    ReportProcess& process = report_.processes.emplace_back();
    process.kernels.emplace_back().count = 50'000;  // a call and a kernel every 10 ns
  }
  void AddGap(int64_t begin_ns, int64_t ns) {
    ReportGap& gap = report_.processes[0].gaps.emplace_back();
    gap.begin_ns = begin_ns;
    gap.ns = ns;
  }
  std::vector<DetailWindow> Choose() {
    return ChooseWindows(report_, {0}, 1'000'000, thinned_, 100);
  }
  Report report_;
  std::vector<Interval> thinned_;
};

TEST_F(DetailWindowTest, BeginAndMiddleAreAlwaysThere) {
  const std::vector<DetailWindow> windows = Choose();
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[0].time, (Interval{0, 499}));
  EXPECT_EQ(windows[1].time, (Interval{499'501, 500'499}));
}

TEST_F(DetailWindowTest, AShortGapIsShownWithItsEdges) {
  AddGap(200'000, 100);
  EXPECT_EQ(Choose()[1].time, (Interval{199'501, 200'599}));
}

TEST_F(DetailWindowTest, OfALongGapTheEdgesAreShown) {
  AddGap(200'000, 50'000);
  const std::vector<DetailWindow> windows = Choose();
  ASSERT_EQ(windows.size(), 4u);
  EXPECT_EQ(windows[1].time, (Interval{199'501, 200'499}));
  EXPECT_EQ(windows[2].time, (Interval{249'501, 250'499}));
}

TEST_F(DetailWindowTest, WindowsThatMeetAreOneWithBothReasons) {
  AddGap(200'000, 100);
  report_.processes[0].iterations.emplace().slowest.push_back({7, 200'000, 300, 0});
  const std::vector<DetailWindow> windows = Choose();
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_EQ(windows[1].why, "idle gap, slow iteration 7");
}

TEST_F(DetailWindowTest, TimesAreThoseOfTheRun) {
  AddGap(200'000, 100);
  EXPECT_EQ(ChooseWindows(report_, {1'000}, 1'000'000, {}, 100)[1].time,
            (Interval{200'501, 201'599}));
}

TEST_F(DetailWindowTest, WhereDetailWasThinnedTheNewestHasThem) {
  thinned_ = {{0, 600'000}};
  const std::vector<DetailWindow> windows = Choose();
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[0].time, (Interval{600'000, 600'499}));
  EXPECT_EQ(windows[0].why, "begin of the newest detail");
  EXPECT_EQ(windows[1].time, (Interval{799'501, 800'499}));
}

TEST_F(DetailWindowTest, AWindowEndsWhereDetailWasThinned) {
  AddGap(200'000, 100);
  thinned_ = {{0, 200'010}, {200'050, 600'000}};
  EXPECT_EQ(Choose()[0].time, (Interval{200'010, 200'050}));
}

TEST_F(DetailWindowTest, AnEmptyRunHasNone) {
  EXPECT_THAT(ChooseWindows(Report{}, {}, 0, {}, 100), IsEmpty());
}

// Numbers 5, 7, 8, of which the second was slow.
ReportIterations Iterations() {
  ReportIterations iterations;
  iterations.every = {{5, 0, 10, 4, true}, {7, 10, 20, 5, false}, {8, 30, 12, 6, false}};
  return iterations;
}

TEST(IterationSeriesTest, EachIterationIsAPointAtTheRunsTime) {
  const auto points = IterationSeries(Iterations(), 100, 10);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[1].first, 7u);
  EXPECT_EQ(points[1].last, 7u);
  EXPECT_EQ(points[1].time, (Interval{110, 130}));
  EXPECT_EQ(points[1].busy_ns, 5);
}

TEST(IterationSeriesTest, NeighboursShareAPointWhenThereAreTooMany) {
  const auto points = IterationSeries(Iterations(), 0, 2);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].count, 2u);
  EXPECT_EQ(points[0].first, 5u);
  EXPECT_EQ(points[0].last, 7u);
  EXPECT_EQ(points[0].time, (Interval{0, 30}));
  EXPECT_EQ(points[0].shortest_ns, 10);
  EXPECT_EQ(points[0].longest_ns, 20);
  EXPECT_EQ(points[0].busy_ns, 9);
  EXPECT_EQ(points[1].count, 1u);
}

TEST(IterationSeriesTest, APointHasTheMeanOfTheOperationsOfItsIterations) {
  ReportIterations iterations = Iterations();
  iterations.series.iterations = {1, 2};
  iterations.series.operation_wall_ns = {{15, 8}, {5, 4}};
  EXPECT_THAT(IterationSeries(iterations, 0, 10)[0].operation_ns, IsEmpty());
  EXPECT_THAT(IterationSeries(iterations, 0, 10)[1].operation_ns, ElementsAre(15, 5));
  EXPECT_THAT(IterationSeries(iterations, 0, 1)[0].operation_ns, ElementsAre(11, 4));
}

TEST(IterationSeriesTest, OperationsWithLessTimeAreOne) {
  ReportIterations iterations = Iterations();
  iterations.series.iterations = {1};
  for (int64_t i = 0; i < 10; ++i) iterations.series.operation_wall_ns.push_back({10 - i});
  EXPECT_THAT(IterationSeries(iterations, 0, 10)[1].operation_ns,
              ElementsAre(10, 9, 8, 7, 6, 5, 4, 3 + 2 + 1));
}

TEST(FewerPointsTest, OfNeighboursTheLowestAndTheHighestStayInTheirOrder) {
  std::vector<CounterPoint> points;
  for (int i = 0; i < 100; ++i) points.push_back({i, i == 30 ? 90.0 : i == 60 ? -5.0 : 1.0});
  const std::vector<CounterPoint> fewer = FewerPoints(points, 8);
  ASSERT_LE(fewer.size(), 8u);
  EXPECT_TRUE(std::is_sorted(fewer.begin(), fewer.end(),
                             [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; }));
  const auto has = [&](double value) {
    return std::any_of(fewer.begin(), fewer.end(),
                       [value](const CounterPoint& point) { return point.value == value; });
  };
  EXPECT_TRUE(has(90));
  EXPECT_TRUE(has(-5));
  EXPECT_EQ(FewerPoints(points, 100).size(), 100u);
}

TEST(IterationSeriesTest, OfNoneThereIsNoPoint) {
  EXPECT_THAT(IterationSeries({}, 0, 10), IsEmpty());
}

}  // namespace
}  // namespace gpubound
