// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/in_parallel.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace gpubound {
namespace {

Error Failure(const std::string& doing) { return {doing, "", "", "", ""}; }

// Jobs that count how often each was done.
class Counted {
 public:
  explicit Counted(size_t jobs) : done_(jobs) {}

  std::vector<std::function<Status()>> Jobs() {
    std::vector<std::function<Status()>> jobs;
    for (std::atomic<int>& times : done_) {
      jobs.emplace_back([&times]() -> Status {
        ++times;
        return Ok{};
      });
    }
    return jobs;
  }
  void ExpectEachDone(int times) const {
    for (const std::atomic<int>& done : done_) EXPECT_EQ(done, times);
  }

 private:
  std::vector<std::atomic<int>> done_;
};

size_t ThreadsOfThisProcess() {
  return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

TEST(InParallel, DoesEveryJobOnce) {
  Counted counted(100);
  EXPECT_TRUE(InParallel(counted.Jobs()).ok());
  counted.ExpectEachDone(1);
}

TEST(InParallel, KeepsItsThreadsWhileSomebodyWantsThem) {
  const size_t before = ThreadsOfThisProcess();
  const size_t most = before + std::max(1u, std::thread::hardware_concurrency()) - 1;
  Counted counted(1000);
  {
    const HelpersKept kept;
    EXPECT_EQ(ThreadsOfThisProcess(), before) << "none before there is something to do";
    for (int i = 0; i < 20; ++i) {
      const HelpersKept kept_too;
      EXPECT_TRUE(InParallel(counted.Jobs()).ok());
      EXPECT_EQ(ThreadsOfThisProcess(), most);
    }
    // Those that found nothing for a while sleep, and wake up.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(ThreadsOfThisProcess(), most);
    EXPECT_TRUE(InParallel(counted.Jobs()).ok());
  }
  EXPECT_EQ(ThreadsOfThisProcess(), before);
  counted.ExpectEachDone(21);
}

TEST(InParallel, WaitsForThreadsThatTakeLong) {
  const std::thread::id caller = std::this_thread::get_id();
  const bool alone = std::thread::hardware_concurrency() < 2;
  std::atomic<bool> begun = false;
  std::atomic<bool> ended = false;
  const auto job = [&]() -> Status {
    if (std::this_thread::get_id() == caller) {
      while (!alone && !begun) std::this_thread::yield();
      return Ok{};
    }
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ended = true;
    return Ok{};
  };
  const HelpersKept kept;  // or the call would wait for the ends of its threads
  EXPECT_TRUE(InParallel({job, job}).ok());
  EXPECT_EQ(ended, !alone);
}

TEST(InParallel, AJobMayHaveJobs) {
  Counted counted(50);
  const auto with_jobs = [&]() -> Status { return InParallel(counted.Jobs()); };
  EXPECT_TRUE(InParallel({with_jobs, with_jobs, with_jobs, with_jobs}).ok());
  counted.ExpectEachDone(4);
}

TEST(InParallel, ManyThreadsMayCallIt) {
  Counted counted(50);
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int call = 0; call < 20; ++call) EXPECT_TRUE(InParallel(counted.Jobs()).ok());
    });
  }
  for (std::thread& caller : callers) caller.join();
  counted.ExpectEachDone(160);
}

TEST(InParallel, ItsThreadsMayRunWhereTheCallerMay) {
  cpu_set_t own;
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof(own), &own), 0);
  std::atomic<int> elsewhere = 0;
  const auto job = [&]() -> Status {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    cpu_set_t of_thread;
    pthread_getaffinity_np(pthread_self(), sizeof(of_thread), &of_thread);
    if (!CPU_EQUAL(&own, &of_thread)) ++elsewhere;
    return Ok{};
  };
  const HelpersKept kept;
  const std::vector<std::function<Status()>> jobs(50, job);
  EXPECT_TRUE(InParallel(jobs).ok());  // places them
  elsewhere = 0;
  EXPECT_TRUE(InParallel(jobs).ok());
  EXPECT_EQ(elsewhere, 0);
}

TEST(InParallel, DoesEachNumberOnce) {
  std::vector<std::atomic<int>> done(100);
  ForEachInParallel(done.size(), [&done](size_t i) { ++done[i]; });
  for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
}

TEST(InParallel, OfNothingIsDone) { EXPECT_TRUE(InParallel({}).ok()); }

// On whichever thread it is thrown; nothing of the list is left behind.
TEST(InParallel, WhatAJobThrowsComesOutOfTheCallAndTheRestIsDone) {
  const HelpersKept kept;
  Counted counted(100);
  std::vector<std::function<Status()>> jobs = counted.Jobs();
  for (size_t place = 0; place < jobs.size(); place += 10) {
    jobs.insert(jobs.begin() + static_cast<std::ptrdiff_t>(place), []() -> Status {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the others come too
      throw std::bad_alloc();
    });
  }
  EXPECT_THROW((void)InParallel(jobs), std::bad_alloc);
  EXPECT_THROW((void)InParallel({jobs.front()}), std::bad_alloc);
  counted.ExpectEachDone(1);
  Counted again(100);
  EXPECT_TRUE(InParallel(again.Jobs()).ok());
  again.ExpectEachDone(1);
}

TEST(InParallel, TheFirstErrorOfTheListIsSaidAndTheRestIsDone) {
  std::atomic<int> done = 0;
  const auto fails_with = [&done](const char* what) {
    return [&done, what]() -> Status {
      ++done;
      return Failure(what);
    };
  };
  const auto succeeds = [&done]() -> Status {
    ++done;
    return Ok{};
  };
  const Status status = InParallel({succeeds, fails_with("first"), succeeds, fails_with("second")});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().doing, "first");
  EXPECT_EQ(done, 4);
}

}  // namespace
}  // namespace gpubound
