// SPDX-License-Identifier: Apache-2.0
//
// A program that launches kernels as fast as it can, or in many threads: what the profiler takes of
// memory is bounded, however many they are and however slowly they are written out.
// GPUBOUND_TEST_KERNELS says how many (the long run: ten millions).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/integration/command_run.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

constexpr int kBufferMib = 16;
// Beside CUPTI's buffers: the pages of the live mapping and SQLite's cache (docs/architecture.md),
// and the reserve of buffers for a CUPTI that may not be declined.
constexpr long kOtherMib = 16 + 8 + 4;

// Of 300 threads, or of all buffers. A sanitizer keeps several bytes for each one.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr long kManyThreadsMib = 4 * 128;
constexpr bool kMemoryIsOurs = false;
#else
constexpr long kManyThreadsMib = 128;
constexpr bool kMemoryIsOurs = true;
#endif

int Kernels() {
  const char* given = std::getenv("GPUBOUND_TEST_KERNELS");
  return given == nullptr ? 300'000 : std::atoi(given);
}

class ReleaseOfCupti : public CommandRun, public testing::WithParamInterface<const char*> {
 protected:
  ReleaseOfCupti() {
    runner().SetDeadlineSeconds(3000);
    SetFlushNs(0);
  }
  void SetFlushNs(int64_t ns) {
    const Json script = {{"cupti", GetParam()},
                         {"device", {{"kernels", {{"policy_forward", 100}}}}},
                         {"overhead", {{"flush_ns", ns}}}};
    runner().Set("GPUBOUND_SIM_SCRIPT", script.dump());
  }
  static int KernelsIn(const gpubound::Run& run) {
    int kernels = 0;
    for (const ProcessTrace& process : run.processes) {
      for (const DeviceWork& work : process.device_work) {
        kernels += process.WorkOf(work.work).info.kind == WorkKind::kKernel ? 1 : 0;
      }
    }
    return kernels;
  }
  static int64_t LostIn(const Json& report) {
    return LedgerOf(report, LedgerCounter::cupti_records_dropped) +
           LedgerOf(report, LedgerCounter::device_records_dropped) +
           LedgerOf(report, LedgerCounter::cupti_zero_timestamps);
  }
};

// 12.4 may not be declined a buffer, 13.0 may.
class KernelStorm : public ReleaseOfCupti {
 protected:
  KernelStorm() { runner().Set("GPUBOUND_CUPTI_BUFFER_MB", std::to_string(kBufferMib)); }
  Outcome Storm() { return Victim("storm", Kernels()); }
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
  const int kernels = KernelsIn(run);
  EXPECT_LE(kernels, Kernels());
  EXPECT_GE(kernels + LostIn(Report()), Kernels());
}

// Where CUPTI's buffers come back only now and then, the limit is what there is to record into. The
// program launches for several flushes, on a fast machine too.
class SlowFlushes : public ReleaseOfCupti {
 protected:
  static constexpr int kSeconds = 3;
  static constexpr int kLaunches = 100'000 * kSeconds;
  struct Stormed {
    long resident_kib = 0;  // at the end; how much of it came late depends on the machine
    int64_t kernels = 0;
    int64_t records = 0;  // of kernels and of the calls that launched them
    int64_t lost = 0;
  };
  Stormed StormWithin(int mib) {
    std::filesystem::remove_all(run_path());
    SetFlushNs(1'500'000'000);
    runner().Set("GPUBOUND_CUPTI_BUFFER_MB", std::to_string(mib));
    const Outcome outcome = Victim("pressing", kSeconds);
    Stormed stormed;
    long early_kib = 0;
    long late_kib = 0;
    EXPECT_EQ(std::sscanf(outcome.out.c_str(), "resident %ld %ld", &early_kib, &late_kib), 2)
        << outcome.Describe();
    stormed.resident_kib = late_kib;
    const gpubound::Run run = Load();
    stormed.kernels = KernelsIn(run);
    stormed.records = stormed.kernels;
    for (const ProcessTrace& process : run.processes) {
      for (const ThreadTrace& thread : process.threads) {
        for (const ApiCall& call : thread.calls) {
          stormed.records += process.LabelOf(call.label).text.starts_with("cudaLaunchKernel");
        }
      }
    }
    stormed.lost = LostIn(Report());
    return stormed;
  }
  // What CUPTI before 13 may not be told to drop is counted by the mean size of a record.
  static void ExpectAllAccountedFor(const Stormed& stormed) {
    EXPECT_GE(stormed.records + stormed.lost, 2 * kLaunches);
    EXPECT_LE(stormed.records + stormed.lost, 2 * kLaunches + kLaunches / 20);
  }
};

INSTANTIATE_TEST_SUITE_P(Releases, SlowFlushes, testing::Values("12.4", "13.0"));

TEST_P(SlowFlushes, FillTheMemoryThatTheUserAllowsAndNoMore) {
  const Stormed little = StormWithin(4);
  const Stormed much = StormWithin(64);
  ExpectAllAccountedFor(little);
  ExpectAllAccountedFor(much);
  EXPECT_GT(little.lost, 0);
  EXPECT_GT(much.kernels, little.kernels + little.kernels / 10);
  if (!kMemoryIsOurs) return;
  EXPECT_GT(much.resident_kib, little.resident_kib + 8 * 1024);
  EXPECT_LT(much.resident_kib, little.resident_kib + (64 + 16) * 1024);
}

// CUPTI's own thread, which hands buffers back, gets no processor for seconds.
class StarvedCupti : public ReleaseOfCupti {
 protected:
  StarvedCupti() {
    const Json script = {{"cupti", GetParam()}, {"faults", {{"completion_delay_ms", 500}}}};
    runner().Set("GPUBOUND_SIM_SCRIPT", script.dump());
    runner().Set("GPUBOUND_CUPTI_BUFFER_MB", "4");
  }
};

INSTANTIATE_TEST_SUITE_P(Releases, StarvedCupti, testing::Values("12.4", "12.8"));

// It would crash, and the program with it.
TEST_P(StarvedCupti, IsDeclinedNothing) {
  constexpr int kSeconds = 3;
  const Outcome outcome = Victim("pressing", kSeconds);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const int kernels = KernelsIn(Load());
  const Json report = Report();
  EXPECT_GT(kernels, 0);
  // What is still with CUPTI when the program may wait no longer is counted by buffers.
  if (LedgerOf(report, LedgerCounter::undelivered_device_buffers) > 0) return;
  EXPECT_GE(kernels + LostIn(report), kSeconds * 100'000);
}

// 12.8 can keep a buffer for each thread and may not be declined one; 13.0 does so by default.
class ManyThreads : public ReleaseOfCupti {
 protected:
  // All of |kernels| are recorded, in less memory than buffers for all threads of a large size
  // take.
  void ExpectAllInLittleMemory(const Outcome& outcome, int kernels) {
    long early_kib = 0;
    long late_kib = 0;
    ASSERT_EQ(std::sscanf(outcome.out.c_str(), "resident %ld %ld", &early_kib, &late_kib), 2)
        << outcome.Describe();
    EXPECT_LE(late_kib - early_kib, kManyThreadsMib * 1024);
    EXPECT_EQ(KernelsIn(Load()), kernels);
    EXPECT_EQ(LostIn(Report()), 0);
  }
};

INSTANTIATE_TEST_SUITE_P(Releases, ManyThreads, testing::Values("12.8", "13.0"));

TEST_P(ManyThreads, ThatLiveAtOnceLoseNothing) {
  ExpectAllInLittleMemory(Victim("threads", 300), 300 * 100);
}

// More than there are buffers (2,240), so they have to come back while it runs.
TEST_P(ManyThreads, ThatComeAndGoLoseNothing) {
  ExpectAllInLittleMemory(Victim("brief", 4000), 4000);
}

}  // namespace
}  // namespace gpubound
