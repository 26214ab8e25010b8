// SPDX-License-Identifier: Apache-2.0
//
// A program that launches 20,000 kernels a second, for as long as GPUBOUND_TEST_SECONDS says, while
// everything goes wrong that a long run meets: correlation ids wrap around, CUPTI's device buffers
// run out, records are dropped, the system's clock is set. Memory stays flat and every loss is in
// the ledger.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/integration/command_run.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

constexpr int kKernelsPerSecond = 20'000;
constexpr int kBufferMib = 16;
// Beside CUPTI's buffers: the live mapping's pages and SQLite's cache (docs/architecture.md), which
// a short run may not have filled when memory is looked at first.
constexpr long kOtherMib = 16 + 8;
constexpr int kZeroTimesEvery = 1'000;
constexpr int kDropEvery = 10'007;
constexpr uint64_t kCorrelationIds = uint64_t{1} << 32;

int Seconds() {
  const char* given = std::getenv("GPUBOUND_TEST_SECONDS");
  return given == nullptr ? 60 : std::atoi(given);
}

class Endurance : public CommandRun {
 protected:
  Endurance() {
    runner().SetDeadlineSeconds(2 * Seconds() + 600);
    runner().Set("GPUBOUND_CUPTI_BUFFER_MB", std::to_string(kBufferMib));
  }
  static int64_t Kernels() { return int64_t{Seconds()} * kKernelsPerSecond; }

  // |faults| on top of ids that wrap around half way and a clock that is set after a quarter.
  Outcome Endure(Json faults) {
    faults["realtime_step_ns"] = 5'000'000'000;
    faults["realtime_step_after_ns"] = int64_t{Seconds()} * 250'000'000;
    const auto half = static_cast<uint64_t>(Kernels()) / 2;
    const Json script = {{"correlation_start", kCorrelationIds - half},
                         {"device", {{"kernels", {{"policy_forward", 100}}}}},
                         {"faults", faults}};
    runner().Set("GPUBOUND_SIM_SCRIPT", script.dump());
    return Victim("steady", Seconds());
  }
  int64_t Ledger(LedgerCounter counter) {
    if (report_.is_null()) report_ = Report();
    return LedgerOf(report_, counter);
  }
  // Counted as a stream: an hour's events do not fit into memory.
  int64_t Recorded() {
    const Outcome outcome = Gpubound({"sql", run_path(), "SELECT count(*) FROM gpu", "--json"});
    const Json rows = Json::parse(outcome.out, nullptr, false);
    return rows.is_array() && !rows.empty() ? rows[0].begin().value().get<int64_t>() : -1;
  }

  Json report_;
};

TEST_F(Endurance, LeavesMemoryFlatAndFindsTheLaunchOfEveryKernelAcrossTheWrap) {
  const Outcome outcome = Endure(Json::object());
  long early_kib = 0;
  long late_kib = 0;
  ASSERT_EQ(std::sscanf(outcome.out.c_str(), "resident %ld %ld", &early_kib, &late_kib), 2)
      << outcome.Describe();
  EXPECT_LE(late_kib - early_kib, (kBufferMib + kOtherMib) * 1024);
  EXPECT_EQ(Recorded(), Kernels());
  // The one launch whose id is 0, which says that there is none.
  EXPECT_LE(Ledger(LedgerCounter::kernels_without_launch), 1);
  ExpectExactPartition(report_);
}

TEST_F(Endurance, CountsTheStepOfTheClock) {
  ASSERT_EQ(Endure(Json::object()).exit_code, 0);
  EXPECT_EQ(Ledger(LedgerCounter::clock_steps), 1);
}

TEST_F(Endurance, CountsEveryLoss) {
  ASSERT_EQ(
      Endure({{"zero_timestamps_every", kZeroTimesEvery}, {"drop_every", kDropEvery}}).exit_code,
      0);
  EXPECT_NEAR(static_cast<double>(Ledger(LedgerCounter::cupti_zero_timestamps)),
              Kernels() / kZeroTimesEvery,
              1.0 + static_cast<double>(Kernels()) / kZeroTimesEvery / kDropEvery * 2);
  EXPECT_GT(Ledger(LedgerCounter::cupti_records_dropped), 0);
  const int64_t lost = Ledger(LedgerCounter::cupti_zero_timestamps) +
                       Ledger(LedgerCounter::cupti_records_dropped) +
                       Ledger(LedgerCounter::device_records_dropped);
  const int64_t recorded = Recorded();
  EXPECT_LT(recorded, Kernels());
  EXPECT_GE(recorded + lost, Kernels());
  const Json& process = report_["processes"][0];
  EXPECT_GT(UnknownNsOf(process), 0);
}

}  // namespace
}  // namespace gpubound
