// SPDX-License-Identifier: Apache-2.0
//
// Random runs are compared with a naive oracle (tests/oracle/waits_oracle_test.cc); here are the
// cases one by one.
#include "analysis/processes/wait_circles.h"
#include "analysis/trace/row_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kServer = 1;
constexpr int64_t kWorker = 2;
constexpr size_t kMain = 0;  // the process with operations, first of the run

class WaitCirclesTest : public testing::Test {
 protected:
  void MainWaits(int64_t pid, const Interval& time, const std::string& operation) {
    Add({pid}, time, operation, &main_);
  }
  void MainWaitsForBoth(const Interval& time, const std::string& operation) {
    Add({kServer, kWorker}, time, operation, &main_);
  }
  void ServerWaits(const Interval& time, const std::string& operation = kNoOperation) {
    Add({kWorker}, time, operation, &server_);
  }
  void WorkerWaits(const Interval& time, const std::string& operation = kNoOperation) {
    Add({kServer}, time, operation, &worker_);
  }

  // What one of them inherits, in words.
  std::vector<std::string> InheritedBy(int64_t pid) const {
    const std::vector<CircleMember> members = {
        {1, kServer, {0, 100}, false, &server_, MainFor(kServer)},
        {2, kWorker, {0, 100}, false, &worker_, MainFor(kWorker)}};
    const Heritage inherited =
        std::move(InheritInCircle(members)[static_cast<size_t>(pid - kServer)]);
    std::vector<std::string> words;
    for (const TimeUnder& left : inherited.times) {
      words.push_back(inherited.operations[left.operation] + " " +
                      std::to_string(left.time.begin_ns) + ".." + std::to_string(left.time.end_ns));
    }
    return words;
  }

 private:
  static void Add(const std::vector<int64_t>& pids, const Interval& time,
                  const std::string& operation, ProcessWaits* waits) {
    const auto own = std::find_if(waits->groups.begin(), waits->groups.end(),
                                  [&pids](const GroupWaits& group) { return group.pids == pids; });
    GroupWaits& group =
        own != waits->groups.end() ? *own : waits->groups.emplace_back(GroupWaits{pids, {}});
    group.times.push_back({time, static_cast<uint32_t>(waits->operations.size())});
    waits->operations.push_back(operation);
  }
  std::vector<WaitList> MainFor(int64_t pid) const {
    std::vector<WaitList> lists;
    for (const GroupWaits& group : main_.groups) {
      const bool is_for = std::count(group.pids.begin(), group.pids.end(), pid) != 0;
      if (is_for) lists.push_back({kMain, &main_.operations, &group});
    }
    return lists;
  }

  ProcessWaits main_;
  ProcessWaits server_;
  ProcessWaits worker_;
};

TEST_F(WaitCirclesTest, WhatIsInheritedIsLeftToThoseWaitedFor) {
  MainWaits(kWorker, {10, 80}, "a");
  WorkerWaits({30, 60});
  EXPECT_THAT(InheritedBy(kWorker), ElementsAre("a 10..80"));
  EXPECT_THAT(InheritedBy(kServer), ElementsAre("a 30..60"));
}

TEST_F(WaitCirclesTest, WhereBothWaitForEachOtherTheOneAwaitedFromOutsideComesFirst) {
  MainWaits(kWorker, {10, 80}, "a");
  MainWaits(kServer, {50, 70}, "b");
  WorkerWaits({0, 100});
  ServerWaits({0, 100});
  EXPECT_THAT(InheritedBy(kWorker), ElementsAre("a 10..80"));
  EXPECT_THAT(InheritedBy(kServer), ElementsAre("a 10..50", "b 50..70", "a 70..80"));
}

TEST_F(WaitCirclesTest, WhoIsAwaitedTogetherInheritsTheSame) {
  MainWaitsForBoth({10, 40}, "a");
  MainWaits(kServer, {40, 50}, "b");
  WorkerWaits({30, 60});
  EXPECT_THAT(InheritedBy(kWorker), ElementsAre("a 10..40"));
  EXPECT_THAT(InheritedBy(kServer), ElementsAre("a 10..40", "b 40..50"));
}

TEST_F(WaitCirclesTest, WithoutAnOperationNobodyInherits) {
  MainWaits(kWorker, {10, 80}, kNoOperation);
  WorkerWaits({0, 100});
  ServerWaits({0, 100});
  EXPECT_THAT(InheritedBy(kWorker), IsEmpty());
  EXPECT_THAT(InheritedBy(kServer), IsEmpty());
}

TEST_F(WaitCirclesTest, AWaitUnderAnotherOperationBeganWithThat) {
  MainWaits(kWorker, {0, 40}, "a");
  MainWaits(kWorker, {40, 80}, "b");
  MainWaits(kServer, {20, 80}, "c");
  WorkerWaits({10, 80});
  EXPECT_THAT(InheritedBy(kServer), ElementsAre("a 10..20", "c 20..40", "b 40..80"));
}

// A sweep that resumes knows the begin of the wait under what was inherited then.
TEST_F(WaitCirclesTest, AWaitThatGoesOnBehindSumsKeepsItsBegin) {
  MainWaits(kWorker, {0, 90}, "a");
  MainWaits(kServer, {20, 30}, "b");
  WorkerWaits({10, 25}, "a");
  WorkerWaits({25, 90});
  EXPECT_THAT(InheritedBy(kServer), ElementsAre("a 10..20", "b 20..30", "a 30..90"));
}

}  // namespace
}  // namespace gpubound
