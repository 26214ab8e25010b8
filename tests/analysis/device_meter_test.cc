// SPDX-License-Identifier: Apache-2.0
#include "analysis/device_meter.h"

#include <gtest/gtest.h>

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

TEST(DeviceMeterTest, WhatIsSummedUpCountsAsWhatIsToldOneByOne) {
  const std::vector<Told> changes = DrawChanges();
  DeviceMeter one_by_one(kWindows);
  const size_t band = one_by_one.Use(kProcess);
  for (const Told& told : changes) one_by_one.Change(band, told.time_ns, told.now);
  DeviceMeter summed(kWindows);
  EXPECT_GT(TellSummed(changes, &summed), changes.size() * 9 / 10);
  const std::vector<DeviceTime> expected = one_by_one.Times();
  const std::vector<DeviceTime> times = summed.Times();
  for (size_t i = 0; i < kWindows.size(); ++i) {
    EXPECT_EQ(times[i].busy_ns, expected[i].busy_ns);
    EXPECT_EQ(times[i].compute_ns, expected[i].compute_ns);
    EXPECT_EQ(times[i].copy_ns, expected[i].copy_ns);
    EXPECT_EQ(times[i].graph_ns, expected[i].graph_ns);
    EXPECT_EQ(times[i].smi_model, expected[i].smi_model);
  }
  EXPECT_EQ(summed.bands().front().alone_ns, one_by_one.bands().front().alone_ns);
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
    const std::vector<DeviceTime> expected = one_by_one.Times();
    const std::vector<DeviceTime> times = together.Times();
    for (size_t i = 0; i < kWindows.size(); ++i) {
      EXPECT_EQ(times[i].busy_ns, expected[i].busy_ns);
      EXPECT_EQ(times[i].compute_ns, expected[i].compute_ns);
      EXPECT_EQ(times[i].graph_ns, expected[i].graph_ns);
      EXPECT_EQ(times[i].smi_model, expected[i].smi_model);
    }
    for (size_t band = 0; band < bands; ++band) {
      EXPECT_EQ(together.bands()[band].alone_ns, one_by_one.bands()[band].alone_ns);
      EXPECT_EQ(together.bands()[band].contended_ns, one_by_one.bands()[band].contended_ns);
    }
  }
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
