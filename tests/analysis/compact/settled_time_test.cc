// SPDX-License-Identifier: Apache-2.0
#include "analysis/compact/settled_time.h"

#include <gtest/gtest.h>

#include "proto/schema.h"

namespace gpubound {
namespace {

constexpr int64_t kMs = 1'000'000;

class SettledTimeTest : public testing::Test {
 protected:
  // One that goes on and has written all of what it says late, too, until |written_ns|.
  ProcessTrace& AddProcess(int64_t written_ns) {
    ProcessTrace& process = run_.processes.emplace_back();
    process.span_end_ns = kOpenEnded;
    ClockSample& sample = process.clock_samples.emplace_back();
    sample.monotonic_ns = written_ns + kLatestCpuTimeNs;
    return process;
  }
  static void Deliver(int64_t until_ns, ProcessTrace* process) {
    process->unknown.push_back({until_ns, kOpenEnded, kUndeliveredReason});
  }

  gpubound::Run run_;
};

TEST_F(SettledTimeTest, IsThatOfTheProcessThatWroteLongestAgo) {
  AddProcess(700 * kMs);
  AddProcess(500 * kMs);
  run_.processes.emplace_back().span_end_ns = 900 * kMs;
  EXPECT_EQ(SettledUntil(run_), 500 * kMs);
}

TEST_F(SettledTimeTest, WhereAllHaveEndedItIsTheLastEnd) {
  for (const int64_t end_ns : {300 * kMs, 200 * kMs}) {
    run_.processes.emplace_back().span_end_ns = end_ns;
  }
  EXPECT_EQ(SettledUntil(run_), 300 * kMs);
}

// Else the sums would call unknown what is delivered a moment later.
TEST_F(SettledTimeTest, DeviceWorkIsSettledOnceItWasDelivered) {
  AddProcess(500 * kMs);
  Deliver(420 * kMs, &AddProcess(500 * kMs));
  EXPECT_EQ(SettledUntil(run_), 420 * kMs);
  run_.processes[0].unknown.push_back({100 * kMs, 200 * kMs, "lost"});
  EXPECT_EQ(SettledUntil(run_), 420 * kMs) << "of what is lost nothing is to come";
}

TEST_F(SettledTimeTest, AMinuteLaterNobodyWaitsForIt) {
  Deliver(100 * kMs, &AddProcess(kLongestDeliveryNs - kLatestCpuTimeNs + 500 * kMs));
  EXPECT_EQ(SettledUntil(run_), 500 * kMs);
}

}  // namespace
}  // namespace gpubound
