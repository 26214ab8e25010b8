// SPDX-License-Identifier: Apache-2.0
//
// How long CUPTI takes to enter calls: which calls are timed, what counts as behind other work, and
// what is said of them.
#include "cupti_hooks/cupti/entry_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "proto/other_work.h"
#include "tests/cupti_hooks/allocation_count.h"

namespace gpubound {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr uint32_t kLaunch = 211;
constexpr uint32_t kCopy = 41;
constexpr uint64_t kTicksPerNs = 2;
constexpr uint64_t kClose = 1'000;  // ns between two calls
constexpr uint64_t kFar = 20'000;

uint64_t g_now_ns = 0;

uint64_t Ticks() noexcept { return g_now_ns * kTicksPerNs; }
// Time goes by while somebody waits for it.
uint64_t Ns() noexcept { return g_now_ns += 10; }

std::string_view NameOf(uint32_t function) {
  return function == kLaunch ? "cudaLaunchKernel" : "cudaMemcpyAsync";
}

struct Line {
  std::string function;
  uint64_t calls = 0, calls_behind_work = 0;
  double ns = 0, ns_behind_work = 0;
};

class EntryTimesTest : public testing::Test {
 protected:
  // On this thread.
  void Call(uint32_t function, uint64_t since_ns, uint64_t entry_ns, bool has_driver = true) {
    g_now_ns += since_ns;
    times_.OnRuntimeBegin(function);
    g_now_ns += entry_ns;
    if (has_driver) times_.OnDriverBegin();
    g_now_ns += 5'000;
    if (has_driver) times_.OnDriverBegin();  // it calls another one
    times_.OnRuntimeEnd();
  }
  void Calls(int count, uint32_t function, uint64_t since_ns, uint64_t entry_ns) {
    for (int i = 0; i < count; ++i) Call(function, since_ns, entry_ns);
  }
  std::vector<Line> Said() const {
    std::istringstream text(times_.Text(&NameOf));
    std::vector<Line> lines;
    for (Line line; text >> line.function >> line.calls >> line.ns >> line.calls_behind_work >>
                    line.ns_behind_work;) {
      lines.push_back(line);
    }
    return lines;
  }

  EntryTimes times_{{&Ticks, &Ns}};
};

TEST_F(EntryTimesTest, SaysHowManyWereTimedAndHowLongTheyTookInBothConditions) {
  Calls(16'000, kLaunch, kClose, 200);
  Calls(1'600, kCopy, kFar, 900);
  Calls(8'000, kLaunch, kFar, 400);
  const std::vector<Line> said = Said();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].function, "cudaMemcpyAsync");
  EXPECT_EQ(said[0].calls, 0u);
  EXPECT_NEAR(said[0].calls_behind_work, 100, 15);
  EXPECT_NEAR(said[0].ns_behind_work, 900, 60);
  EXPECT_EQ(said[1].function, "cudaLaunchKernel");
  EXPECT_NEAR(said[1].calls, 1'000, 50);
  EXPECT_NEAR(said[1].ns, 200, 12);
  EXPECT_NEAR(said[1].calls_behind_work, 500, 40);
  EXPECT_NEAR(said[1].ns_behind_work, 400, 24);
  EXPECT_EQ(times_.count(), said[0].calls_behind_work + said[1].calls + said[1].calls_behind_work);
}

TEST_F(EntryTimesTest, AFewThatTakeAHundredTimesAsLongDoNotCount) {
  for (int i = 0; i < 50'000; ++i) Call(kLaunch, kClose, i % 200 == 7 ? 20'000 : 200);
  const std::vector<Line> said = Said();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NEAR(said[0].ns, 200, 12);
}

TEST_F(EntryTimesTest, OtherWorkIsToldByTheCallBefore) {
  Calls(2'000, kLaunch, kOtherWorkBeforeCallNs - 20, 200);
  ASSERT_EQ(Said().size(), 1u);
  EXPECT_EQ(Said()[0].calls_behind_work, 0u);
  Calls(2'000, kLaunch, kOtherWorkBeforeCallNs + 20, 200);
  EXPECT_GT(Said()[0].calls_behind_work, 100u);
}

TEST_F(EntryTimesTest, CallsThatDoNotCallTheDriverAndTheDriversOwnCallsAreNotTimed) {
  for (int i = 0; i < 2'000; ++i) Call(kLaunch, kClose, 200, /*has_driver=*/false);
  for (int i = 0; i < 2'000; ++i) times_.OnDriverBegin();
  EXPECT_EQ(times_.count(), 0u);
  EXPECT_THAT(times_.Text(&NameOf), IsEmpty());
}

TEST_F(EntryTimesTest, FunctionsBeyondTheTableAndTheLongestTimesAreNoFault) {
  Calls(1'000, EntryTimes::kFunctions, kClose, 200);
  EXPECT_EQ(times_.count(), 0u);
  Calls(1'000, kLaunch, kClose, uint64_t{1} << 40);
  EXPECT_GT(Said()[0].ns, 1'000);
}

TEST_F(EntryTimesTest, EveryThreadHasItsCallBefore) {
  const auto calls = [this] { Calls(4'000, kLaunch, kClose, 200); };
  std::thread(calls).join();
  std::thread(calls).join();
  EXPECT_NEAR(times_.count(), 500, 40);
  EXPECT_EQ(Said()[0].calls_behind_work, 0u);
}

TEST_F(EntryTimesTest, TimingACallDoesNotAllocate) {
  Calls(100, kLaunch, kClose, 200);
  const uint64_t before = AllocationsOfThisThread();
  Calls(1'000, kLaunch, kClose, 200);
  EXPECT_EQ(AllocationsOfThisThread(), before);
}

TEST_F(EntryTimesTest, AFunctionWithoutANameIsLeftOut) {
  Calls(1'000, kLaunch, kClose, 200);
  EXPECT_THAT(times_.Text([](uint32_t) { return std::string_view(); }), IsEmpty());
}

TEST_F(EntryTimesTest, NobodyLooksAtAThousandFunctionsThatTheProgramDoesNotCall) {
  Calls(1'000, kLaunch, kClose, 200);
  int looked_at = 0;
  times_.Text([&looked_at](uint32_t function) {
    ++looked_at;
    return NameOf(function);
  });
  EXPECT_EQ(looked_at, 1);
}

TEST(EntryTimesOnThisMachine, ReadsItsClocks) {
  EntryTimes times;
  for (int i = 0; i < 1'000; ++i) {
    times.OnRuntimeBegin(kLaunch);
    times.OnDriverBegin();
    times.OnRuntimeEnd();
  }
  EXPECT_GT(times.count(), 0u);
  EXPECT_THAT(times.Text(&NameOf), StartsWith("cudaLaunchKernel "));
}

}  // namespace
}  // namespace gpubound
