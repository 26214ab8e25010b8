// SPDX-License-Identifier: Apache-2.0
#include "analysis/timeline/device_activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace gpubound {
namespace {

using Changes = std::vector<std::tuple<int64_t, uint32_t, RunningWork>>;

class DeviceActivityTest : public testing::Test {
 protected:
  void Write(const Changes& changes) {
    for (const auto& [time_ns, device, now] : changes) activity_.Add(device, time_ns, now);
    activity_.Finish();
  }
  Changes Read() const {
    Changes changes;
    DeviceActivity::Reader reader(activity_);
    for (DeviceActivity::Change change; reader.Next(&change);) {
      changes.emplace_back(change.time_ns, change.device, change.now);
    }
    return changes;
  }

  DeviceActivity activity_{testing::TempDir()};
};

TEST_F(DeviceActivityTest, OfNothingIsNothing) {
  Write({});
  EXPECT_EQ(Read(), Changes());
}

TEST_F(DeviceActivityTest, ChangesOfOneInstantStayInOrder) {
  const Changes changes = {{5, 1, 2}, {5, 2, 3}, {5, 1, 0}, {5, 1, 2 | kGraphRuns}};
  Write(changes);
  EXPECT_EQ(Read(), changes);
}

TEST_F(DeviceActivityTest, TheFirstChangeMayBeOfAnyDeviceAtAnyTime) {
  const Changes changes = {{INT64_MIN + 5, 0, 1}, {INT64_MIN + 9, 0, 0}};
  Write(changes);
  EXPECT_EQ(Read(), changes);
}

TEST_F(DeviceActivityTest, TimesMayBeNegativeAndFarApart) {
  const Changes changes = {{-7'000'000'000, 1, 1},
                           {-1, 1, 0},
                           {(int64_t{1} << 27) - 2, 1, 1},
                           {int64_t{1} << 28, 1, 0},
                           {int64_t{1} << 61, 1, 1}};
  Write(changes);
  EXPECT_EQ(Read(), changes);
}

TEST_F(DeviceActivityTest, IsReadAsOftenAsWanted) {
  const Changes changes = {{1, 3, 4}, {9, 3, 0}};
  Write(changes);
  EXPECT_EQ(Read(), Read());
}

TEST_F(DeviceActivityTest, IsSummedUpAsFarAsOneDeviceAndTheTimeGo) {
  Write({{10, 1, 2}, {15, 1, 0}, {18, 1, 2}, {25, 1, 3}, {26, 1, 0}, {27, 2, 1}});
  DeviceActivity::Reader reader(activity_);
  DeviceActivity::Change change;
  ASSERT_TRUE(reader.Next(&change));
  RunningTimes times{};
  reader.Sum(15, &change, &times);
  EXPECT_EQ(change.time_ns, 25);
  EXPECT_EQ(change.now, 3u);
  EXPECT_EQ(times, (RunningTimes{3, 0, 12}));
  reader.Sum(100, &change, &times);
  EXPECT_EQ(change.time_ns, 26);
  EXPECT_EQ(times, (RunningTimes{3, 0, 12, 1}));
  EXPECT_FALSE(reader.GoesOn());
  ASSERT_TRUE(reader.Next(&change));
  EXPECT_EQ(change.device, 2u);
}

// What runs on each device before |time_ns|, those that run nothing left out.
std::map<uint32_t, RunningWork> RunningBefore(const RunningOnDevices& at_begin,
                                              const Changes& changes, int64_t time_ns) {
  std::map<uint32_t, RunningWork> running(at_begin.begin(), at_begin.end());
  for (const auto& [at_ns, device, now] : changes) {
    if (at_ns < time_ns) running[device] = now;
  }
  std::erase_if(running, [](const auto& of) { return of.second == 0; });
  return running;
}

TEST_F(DeviceActivityTest, CanBeReadFromAnyTimeOn) {
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same each time
  Changes changes;
  int64_t now_ns = -3'000'000;
  uint32_t device = 1;
  for (int i = 0; i < 30'000; ++i) {  // some blocks
    now_ns += static_cast<int64_t>(random() % 3);
    if (random() % 1000 == 0) now_ns += int64_t{1} << 40;
    if (random() % 50 == 0) device = 1 + random() % 3;
    changes.emplace_back(now_ns, device, static_cast<RunningWork>(random() % 16));
  }
  const RunningOnDevices at_begin = {{2, 1}, {3, 0}};
  for (const auto& [of, now] : at_begin) activity_.BeginWith(of, now);
  Write(changes);
  std::vector<int64_t> times_ns = {INT64_MIN, -3'000'000, now_ns, now_ns + 1, INT64_MAX};
  for (size_t i = 1; i < changes.size(); i += 397) {
    times_ns.push_back(std::get<0>(changes[i]));
    times_ns.push_back(std::get<0>(changes[i]) + 1);
  }
  for (const int64_t time_ns : times_ns) {
    SCOPED_TRACE(time_ns);
    DeviceActivity::Reader reader(activity_);
    std::map<uint32_t, RunningWork> running;
    for (const auto& [of, now] : reader.Seek(time_ns)) {
      EXPECT_TRUE(running.emplace(of, now).second);
    }
    std::erase_if(running, [](const auto& of) { return of.second == 0; });
    EXPECT_EQ(running, RunningBefore(at_begin, changes, time_ns));
    const auto rest = std::find_if(changes.begin(), changes.end(), [time_ns](const auto& change) {
      return std::get<0>(change) >= time_ns;
    });
    Changes read;
    for (DeviceActivity::Change change; reader.Next(&change);) {
      read.emplace_back(change.time_ns, change.device, change.now);
    }
    ASSERT_TRUE(read == Changes(rest, changes.end()));
  }
}

TEST_F(DeviceActivityTest, SaysWhenAPartOfItIsOver) {
  Changes changes;
  for (int64_t i = 1; i <= 10'000; ++i) changes.emplace_back(7 * i, 0, 1);
  Write(changes);
  ASSERT_EQ(activity_.size(), changes.size());
  for (const size_t words : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, changes.size()}) {
    EXPECT_EQ(activity_.TimeBehind(words), static_cast<int64_t>(7 * words));
  }
}

TEST_F(DeviceActivityTest, WhatMemoryDoesNotHoldComesBackFromTheFile) {
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same each time
  Changes changes;
  int64_t now_ns = 0;
  for (int i = 0; i < 6'000'000; ++i) {
    now_ns += static_cast<int64_t>(random() % 10'000);
    changes.emplace_back(now_ns, 1 + random() % 2, static_cast<RunningWork>(random() % 16));
  }
  Write(changes);
  EXPECT_TRUE(Read() == changes);
  EXPECT_FALSE(activity_.error().has_value());
}

TEST(DeviceActivityFileTest, SaysWhereItCannotBeMade) {
  DeviceActivity activity("/dev/null");
  for (int64_t i = 0; i < 6'000'000; ++i) activity.Add(1, i, static_cast<RunningWork>(i % 2));
  activity.Finish();
  ASSERT_TRUE(activity.error().has_value());
  EXPECT_EQ(activity.error()->object, "/dev/null");
  // Commands that read a run have no option for it.
  EXPECT_THAT(activity.error()->remedy, testing::HasSubstr("TMPDIR"));
}

}  // namespace
}  // namespace gpubound
