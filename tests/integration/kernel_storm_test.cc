// SPDX-License-Identifier: Apache-2.0
//
// A program that launches kernels as fast as it can: what the profiler takes of memory is bounded,
// however many they are and however slowly they are written out. GPUBOUND_TEST_KERNELS says how
// many (the long run: ten millions).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

constexpr int kBufferMib = 16;
// Beside CUPTI's buffers: the pages of the live mapping and SQLite's cache (docs/architecture.md).
constexpr long kOtherMib = 16 + 8;

int Kernels() {
  const char* given = std::getenv("GPUBOUND_TEST_KERNELS");
  return given == nullptr ? 300'000 : std::atoi(given);
}

// 12.4 may not be declined a buffer, 13.0 may.
class KernelStorm : public CommandRun, public testing::WithParamInterface<const char*> {
 protected:
  KernelStorm() {
    runner().SetDeadlineSeconds(3000);
    runner().Set("GPUBOUND_CUPTI_BUFFER_MB", std::to_string(kBufferMib));
  }
  Outcome Storm() {
    runner().Set("GPUBOUND_SIM_SCRIPT",
                 R"({"cupti": ")" + std::string(GetParam()) +
                     R"(", "device": {"kernels": {"policy_forward": 100}}})");
    return Victim("storm", Kernels());
  }
  static int64_t LedgerOf(const Json& report, const std::string& counter) {
    for (const Json& entry : report["ledger"]) {
      if (entry["counter"] == counter) return entry["value"];
    }
    return 0;
  }
};

INSTANTIATE_TEST_SUITE_P(Releases, KernelStorm, testing::Values("12.4", "13.0"));

TEST_P(KernelStorm, LeavesMemoryFlat) {
  const Outcome outcome = Storm();
  long early_kib = 0;
  long late_kib = 0;
  ASSERT_EQ(std::sscanf(outcome.out.c_str(), "resident %ld %ld", &early_kib, &late_kib), 2)
      << outcome.Describe();
  EXPECT_LE(late_kib - early_kib, (kBufferMib + kOtherMib) * 1024);
}

TEST_P(KernelStorm, IsRecordedOrCounted) {
  ASSERT_EQ(Storm().exit_code, 0);
  const gpubound::Run run = Load();
  ASSERT_EQ(run.processes.size(), 1u);
  int64_t kernels = 0;
  for (const DeviceWork& work : run.processes[0].device_work) {
    kernels += run.processes[0].WorkOf(work.work).info.kind == WorkKind::kKernel ? 1 : 0;
  }
  const Json report = Report();
  const int64_t lost = LedgerOf(report, "cupti_records_dropped") +
                       LedgerOf(report, "device_records_dropped") +
                       LedgerOf(report, "cupti_zero_timestamps");
  EXPECT_LE(kernels, Kernels());
  EXPECT_GE(kernels + lost, Kernels());
}

}  // namespace
}  // namespace gpubound
