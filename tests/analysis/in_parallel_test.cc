// SPDX-License-Identifier: Apache-2.0
#include "analysis/in_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace gpubound {
namespace {

Error Failure(const std::string& doing) { return {doing, "", "", "", ""}; }

TEST(InParallel, DoesEveryJobOnce) {
  std::vector<std::atomic<int>> done(100);
  std::vector<std::function<Status()>> jobs;
  for (std::atomic<int>& times : done) {
    jobs.emplace_back([&times]() -> Status {
      ++times;
      return Ok{};
    });
  }
  EXPECT_TRUE(InParallel(jobs).ok());
  for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
}

TEST(InParallel, OfNothingIsDone) { EXPECT_TRUE(InParallel({}).ok()); }

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
