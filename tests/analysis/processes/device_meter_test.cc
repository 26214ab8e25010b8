// SPDX-License-Identifier: Apache-2.0
#include "analysis/processes/device_meter.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <vector>

namespace gpubound {
namespace {

constexpr size_t kProcess = 0;
const std::vector<Interval> kWindows = {
    {0, 2'000'000'000}, {0, 300'000'000}, {300'000'000, 900'000'000}};

struct Told {
  int64_t time_ns;
  RunningWork now;
};

// From before the first window until after the last one.
std::vector<Told> DrawChanges() {
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same each time
  std::vector<Told> changes;
  for (int64_t now_ns = -5'000'000; now_ns < 2'500'000'000;) {
    changes.push_back({now_ns, static_cast<RunningWork>(random() % (2 * kGraphRuns))});
    now_ns += static_cast<int64_t>(random() % 1'000'000);
  }
  return changes;
}

// Sums up where that is said to be enough.
size_t TellSummed(const std::vector<Told>& changes, DeviceMeter* meter) {
  size_t summed = 0;
  const size_t band = meter->Use(kProcess);
  for (size_t i = 0; i < changes.size(); ++i) {
    meter->Change(band, changes[i].time_ns, changes[i].now);
    const uint64_t most_ns = meter->PlainNs(changes[i].time_ns);
    const auto passed_ns = [&, begin_ns = changes[i].time_ns](size_t at) {
      return static_cast<uint64_t>(changes[at].time_ns - begin_ns);
    };
    RunningTimes times{};
    for (; i + 1 < changes.size() && passed_ns(i + 1) <= most_ns; ++i, ++summed) {
      times[changes[i].now] += changes[i + 1].time_ns - changes[i].time_ns;
    }
    if (most_ns != 0) meter->Change(times, changes[i].time_ns, changes[i].now);
  }
  return summed;
}

void ExpectSame(const DeviceMeter& meter, const DeviceMeter& expected) {
  const std::vector<DeviceTime> of_expected = expected.Times();
  const std::vector<DeviceTime> times = meter.Times();
  for (size_t i = 0; i < kWindows.size(); ++i) {
    EXPECT_EQ(times[i].busy_ns, of_expected[i].busy_ns);
    EXPECT_EQ(times[i].compute_ns, of_expected[i].compute_ns);
    EXPECT_EQ(times[i].copy_ns, of_expected[i].copy_ns);
    EXPECT_EQ(times[i].graph_ns, of_expected[i].graph_ns);
    EXPECT_EQ(times[i].smi_model, of_expected[i].smi_model);
  }
  for (size_t band = 0; band < expected.bands().size(); ++band) {
    EXPECT_EQ(meter.bands()[band].alone_ns, expected.bands()[band].alone_ns);
    EXPECT_EQ(meter.bands()[band].contended_ns, expected.bands()[band].contended_ns);
  }
}

TEST(DeviceMeterTest, WhatIsSummedUpCountsAsWhatIsToldOneByOne) {
  const std::vector<Told> changes = DrawChanges();
  DeviceMeter one_by_one(kWindows);
  const size_t band = one_by_one.Use(kProcess);
  for (const Told& told : changes) one_by_one.Change(band, told.time_ns, told.now);
  DeviceMeter summed(kWindows);
  EXPECT_GT(TellSummed(changes, &summed), changes.size() * 9 / 10);
  ExpectSame(summed, one_by_one);
}

struct ToldOf {
  size_t band;
  Told told;
};

std::vector<ToldOf> DrawChangesOfMany(size_t bands) {
  std::mt19937_64 random(bands);  // NOLINT(cert-msc51-cpp): the same each time
  std::vector<ToldOf> changes;
  for (const Told& told : DrawChanges()) {
    const bool ends = random() % 2 == 0;
    changes.push_back({random() % bands, {told.time_ns, ends ? 0 : told.now}});
  }
  return changes;
}

// In stretches where they are possible.
size_t TellInStretches(const std::vector<ToldOf>& changes, DeviceMeter* meter) {
  size_t in_stretches = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    meter->Change(changes[i].band, changes[i].told.time_ns, changes[i].told.now);
    DeviceMeter::Stretch stretch(*meter);
    if (!stretch.possible()) continue;
    for (; i + 1 < changes.size() && changes[i + 1].told.time_ns < stretch.until_ns(); ++i) {
      stretch.Change(changes[i + 1].band, changes[i + 1].told.time_ns, changes[i + 1].told.now);
      ++in_stretches;
    }
    meter->Take(stretch);
  }
  return in_stretches;
}

TEST(DeviceMeterTest, WhatFewProcessesDoCountsInAStretchAsOneByOne) {
  for (size_t bands = 1; bands <= DeviceMeter::Stretch::kMostBands; ++bands) {
    const std::vector<ToldOf> changes = DrawChangesOfMany(bands);
    DeviceMeter one_by_one(kWindows);
    DeviceMeter together(kWindows);
    for (size_t band = 0; band < bands; ++band) {
      ASSERT_EQ(one_by_one.Use(band), band);
      ASSERT_EQ(together.Use(band), band);
    }
    for (const ToldOf& of : changes) one_by_one.Change(of.band, of.told.time_ns, of.told.now);
    EXPECT_GT(TellInStretches(changes, &together), changes.size() * 9 / 10);
    ExpectSame(together, one_by_one);
  }
}

// The log of what one band does.
std::unique_ptr<DeviceActivity> LogOf(const std::vector<ToldOf>& changes, size_t band) {
  auto log = std::make_unique<DeviceActivity>("/tmp");
  for (const ToldOf& of : changes) {
    if (of.band == band) log->Add(/*device=*/1, of.told.time_ns, of.told.now);
  }
  log->Finish();
  return log;
}

// Where the log of a band has been read to.
struct LogPlace {
  explicit LogPlace(const DeviceActivity& log) : reader(log) { Read(); }
  void Read() {
    DeviceActivity::Change change;
    lane.next_ns = reader.Next(&change) ? change.time_ns : kOpenEnded;
    lane.next = change.now;
  }
  DeviceActivity::Reader reader;
  DeviceMeter::Stretch::Lane lane;
};

// In pairs where these are possible; returns how many changes were.
size_t TellInPairs(std::array<LogPlace, 2>* places, DeviceMeter* meter) {
  size_t in_pairs = 0;
  for (;;) {
    const size_t first = (*places)[1].lane.next_ns < (*places)[0].lane.next_ns ? 1 : 0;
    LogPlace& place = (*places)[first];
    if (place.lane.next_ns == kOpenEnded) return in_pairs;
    meter->Change(first, place.lane.next_ns, place.lane.next);
    place.Read();
    DeviceMeter::Stretch stretch(*meter);
    if (!stretch.possible()) continue;
    for (LogPlace& each : *places) each.lane.ahead = each.reader.ahead();
    stretch.RunPair({&(*places)[0].lane, &(*places)[1].lane}, stretch.until_ns());
    for (LogPlace& each : *places) {
      each.reader.Skip(each.lane.taken, static_cast<uint64_t>(each.lane.step_ns));
      in_pairs += each.lane.taken;
    }
    meter->Take(stretch);
  }
}

TEST(DeviceMeterTest, APairCountsAsOneByOne) {
  const std::vector<ToldOf> changes = DrawChangesOfMany(2);
  DeviceMeter one_by_one(kWindows);
  DeviceMeter together(kWindows);
  for (DeviceMeter* meter : {&one_by_one, &together}) {
    meter->Use(0);
    meter->Use(1);
  }
  for (const ToldOf& of : changes) one_by_one.Change(of.band, of.told.time_ns, of.told.now);
  const std::unique_ptr<DeviceActivity> log_0 = LogOf(changes, 0);
  const std::unique_ptr<DeviceActivity> log_1 = LogOf(changes, 1);
  std::array<LogPlace, 2> places{LogPlace(*log_0), LogPlace(*log_1)};
  EXPECT_GT(TellInPairs(&places, &together), changes.size() * 9 / 10);
  ExpectSame(together, one_by_one);
}

TEST(DeviceMeterTest, OfMoreProcessesThereIsNoStretch) {
  DeviceMeter meter(kWindows);
  for (size_t process = 0; process <= DeviceMeter::Stretch::kMostBands; ++process) {
    meter.Change(meter.Use(process), 10, 2);
  }
  meter.Change(0, 20, 0);
  EXPECT_FALSE(DeviceMeter::Stretch(meter).possible());
}

TEST(DeviceMeterTest, WhereProcessesShareADeviceNothingIsPlain) {
  DeviceMeter meter(kWindows);
  const size_t first = meter.Use(1);
  meter.Change(first, 10, 2);
  meter.Change(first, 20, 0);
  EXPECT_GT(meter.PlainNs(20), 0u);
  meter.Change(meter.Use(2), 30, 2);
  EXPECT_EQ(meter.PlainNs(30), 0u);
}

}  // namespace
}  // namespace gpubound
