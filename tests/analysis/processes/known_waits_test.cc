// SPDX-License-Identifier: Apache-2.0
//
// Which waits are kept, and what is inherited by them. Random runs are compared with a naive oracle
// (tests/oracle/waits_oracle_test.cc).
#include "analysis/processes/known_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/process_summing.h"
#include "analysis/processes/run_frame.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kMain = 0;
constexpr int64_t kPid = 1;  // of the main process
constexpr int64_t kWorkers = 64;

// A main process, the root, that opens operations, and workers that do not: pids 2 and on.
class KnownWaitsTest : public testing::Test {
 protected:
  KnownWaitsTest() {
    for (int64_t pid = kPid; pid <= kPid + kWorkers; ++pid) {
      ProcessTrace& process = run_.processes.emplace_back();
      process.identity = {"host", pid, pid};
      process.parent_pid = pid == kPid ? 0 : kPid;
      process.span_end_ns = 1000;
    }
    natures_.resize(run_.processes.size());
    natures_[kMain].opens_operations = true;
  }

  static ProcessWaits Waits(std::vector<int64_t> pids, std::vector<TimeUnder> times) {
    return {{kNoOperation, "a", "b"}, {{std::move(pids), std::move(times)}}};
  }
  KnownWaits Known(bool explained = true) const {
    return {run_, FrameOf(run_).root, natures_, explained};
  }
  static size_t TimesOf(const KnownWaits& known, size_t process) {
    size_t times = 0;
    for (const GroupWaits& group : known.WaitsOf(process).groups) times += group.times.size();
    return times;
  }
  static std::vector<std::string> LeftTo(const KnownWaits& known, size_t process) {
    const Heritage left = known.LeftTo(process);
    std::vector<std::string> words;
    for (const TimeUnder& time : left.times) {
      words.push_back(left.operations[time.operation] + " " + std::to_string(time.time.begin_ns) +
                      ".." + std::to_string(time.time.end_ns));
    }
    return words;
  }

  gpubound::Run run_;
  std::vector<ProcessNature> natures_;
};

TEST_F(KnownWaitsTest, AWaitForManyTakesThePlaceOfOne) {
  std::vector<int64_t> all;
  for (int64_t pid = kPid + 1; pid <= kPid + kWorkers; ++pid) all.push_back(pid);
  const std::vector<Peer> peers = {{{2}, false}, {all, false}};
  const std::vector<std::string> promoted;
  LabelRoles::Input input;
  input.promoted = &promoted;
  input.peers = &peers;
  const LabelRoles roles(run_.processes[kMain], input);
  std::vector<PeerWait> waits;
  for (int64_t i = 0; i < 100; ++i) waits.push_back({PeerIndex{1}, kNoOperationIndex, {i, i + 1}});
  KnownWaits known = Known();
  known.Tell(kMain, false, WaitsOf(waits, peers, roles));
  EXPECT_EQ(known.WaitsOf(kMain).groups.size(), 1u);
  EXPECT_EQ(TimesOf(known, kMain), 100u);
  EXPECT_LE(sizeof(TimeUnder), 24u);
}

TEST_F(KnownWaitsTest, ThoseAwaitedTogetherEachInherit) {
  KnownWaits known = Known();
  known.Tell(kMain, false, Waits({2, 3}, {{{10, 20}, 1}, {{30, 40}, 2}}));
  EXPECT_THAT(LeftTo(known, 1), ElementsAre("a 10..20", "b 30..40"));
  EXPECT_THAT(LeftTo(known, 2), ElementsAre("a 10..20", "b 30..40"));
  EXPECT_THAT(LeftTo(known, 3), IsEmpty());
}

TEST_F(KnownWaitsTest, OfTwoWaitsTheOneBegunLastIsInherited) {
  KnownWaits known = Known();
  known.Tell(kMain, false, Waits({2}, {{{10, 50}, 1}}));
  known.Tell(2, false, Waits({2, 4}, {{{20, 30}, 2}, {{30, 40}, 0}}));
  EXPECT_THAT(LeftTo(known, 1), ElementsAre("a 10..20", "b 20..30", "a 30..50"));
}

TEST_F(KnownWaitsTest, OnlyItsOwnTimeIsInherited) {
  run_.processes[1].span_begin_ns = 15;
  run_.processes[1].span_end_ns = 35;
  KnownWaits known = Known();
  known.Tell(kMain, false, Waits({2}, {{{0, 10}, 2}, {{10, 20}, 1}, {{30, 40}, 1}}));
  EXPECT_THAT(LeftTo(known, 1), ElementsAre("a 15..20", "a 30..35"));
}

// As of workers that wait for orders.
TEST_F(KnownWaitsTest, WaitsOfAnHeirForWhoInheritsNothingAreNotKept) {
  KnownWaits known = Known();
  known.Tell(1, true, Waits({kPid}, {{{10, 20}, 0}, {{30, 40}, 1}}));
  EXPECT_EQ(TimesOf(known, 1), 0u);
}

TEST_F(KnownWaitsTest, OfWaitsForWhoInheritsNothingThoseThatAreExplainedAreKept) {
  natures_[1].opens_operations = true;
  KnownWaits known = Known();
  known.Tell(kMain, false, Waits({2}, {{{10, 20}, 0}, {{30, 40}, 1}}));
  known.Tell(2, false, Waits({2}, {{{10, 20}, 0}, {{30, 40}, 1}}));
  EXPECT_EQ(TimesOf(known, kMain), 2u) << "all of the root's";
  EXPECT_EQ(TimesOf(known, 2), 1u) << "those under an operation";
  KnownWaits unexplained = Known(false);
  unexplained.Tell(kMain, false, Waits({2}, {{{10, 20}, 0}, {{30, 40}, 1}}));
  EXPECT_EQ(TimesOf(unexplained, kMain), 0u);
}

}  // namespace
}  // namespace gpubound
