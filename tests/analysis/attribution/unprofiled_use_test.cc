// SPDX-License-Identifier: Apache-2.0
//
// Who else used the devices of a run, from what NVML listed.
#include "analysis/attribution/unprofiled_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSpanNs = 100'000'000'000;

class UnprofiledUseTest : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  UnprofiledUseTest() {
    AddProcess("host", 100);
    report_.run.gpu_busy_share = 0.4;
    ReportDevice& device = report_.devices.emplace_back();
    device.uuid = "GPU-a";
    device.name = "H100";
    device.used = true;
    device.span_ns = kSpanNs;
  }

  ProcessTrace& AddProcess(const std::string& host, int64_t pid) {
    ProcessTrace& process = run_.processes.emplace_back();
    process.identity = {host, pid, 1};
    process.span_end_ns = kSpanNs;
    processes_.push_back(processes_.size());
    Sees(&process, static_cast<uint32_t>(pid), 1);
    return process;
  }
  static void Sees(ProcessTrace* process, uint32_t pid, int64_t first_ns,
                   int64_t last_ns = INT64_MAX, bool through_mps = false,
                   const std::string& name = "python") {
    process->device_clients.push_back({"GPU-a", name, {pid, through_mps, first_ns, last_ns}});
  }
  ProcessTrace& process() { return run_.processes[0]; }
  std::vector<UnprofiledUse> Uses() { return CompanyOf(run_, processes_, {0, kSpanNs}).uses; }
  void Note() { NoteCompany(CompanyOf(run_, processes_, {0, kSpanNs}), &ledger_, &report_); }
  uint64_t Count(LedgerCounter counter) const { return ledger_[static_cast<size_t>(counter)]; }

  Run run_;
  std::vector<size_t> processes_;
  Ledger ledger_{};
  Report report_;
};

TEST_F(UnprofiledUseTest, AProcessAloneHasNoCompany) {
  EXPECT_THAT(Uses(), IsEmpty());
  Note();
  EXPECT_FALSE(report_.run.gpu_busy_is_lower_bound);
  EXPECT_THAT(report_.notes, IsEmpty());
}

TEST_F(UnprofiledUseTest, WhoIsNotOfTheRunIsNamedAndMarksTheDevice) {
  Sees(&process(), 7, 1'000'000'000, 3'000'000'000);
  Note();
  EXPECT_TRUE(report_.run.gpu_busy_is_lower_bound);
  ASSERT_THAT(report_.devices[0].not_profiled, SizeIs(1));
  EXPECT_EQ(report_.devices[0].not_profiled[0].pid, 7);
  EXPECT_EQ(report_.devices[0].not_profiled[0].ns, 2'000'000'000);
  EXPECT_EQ(Count(LedgerCounter::processes_not_profiled), 1u);
  EXPECT_THAT(
      report_.notes,
      ElementsAre("pid 7 (python) on host was on H100 GPU-a for 2.00 s meanwhile and is not "
                  "part of the run."));
}

TEST_F(UnprofiledUseTest, ProcessesOfTheRunAreNoStrangersToEachOther) {
  Sees(&process(), 101, 5);
  AddProcess("host", 101);
  EXPECT_THAT(Uses(), IsEmpty());
}

TEST_F(UnprofiledUseTest, TheSamePidOnAnotherHostIsAStranger) {
  Sees(&process(), 101, 5);
  AddProcess("other", 101);
  EXPECT_THAT(Uses(), SizeIs(1));
}

TEST_F(UnprofiledUseTest, WhatSeveralProcessesSawIsOneUse) {
  Sees(&process(), 7, 10, 30);
  Sees(&AddProcess("host", 101), 7, 20, 50);
  const std::vector<UnprofiledUse> uses = Uses();
  ASSERT_THAT(uses, SizeIs(1));
  EXPECT_EQ(uses[0].time.begin_ns, 10);
  EXPECT_EQ(uses[0].time.end_ns, 50);
}

TEST_F(UnprofiledUseTest, OneThatWasSeenOnceComesOrGoes) {
  Sees(&process(), 7, 10, 10);
  EXPECT_THAT(Uses(), IsEmpty());
  Sees(&process(), 8, 10);
  EXPECT_THAT(Uses(), SizeIs(1)) << "it is still there";
}

TEST_F(UnprofiledUseTest, WhoHasGoneBeforeTheSpanIsNoCompany) {
  Sees(&process(), 7, -50, -10);
  EXPECT_THAT(Uses(), IsEmpty());
}

// In a container with pids of its own NVML lists others, or nobody.
TEST_F(UnprofiledUseTest, AProcessThatIsNotListedItselfTellsNothing) {
  process().device_clients.clear();
  Sees(&process(), 7, 10);
  EXPECT_THAT(Uses(), IsEmpty());
}

TEST_F(UnprofiledUseTest, TheServerOfMpsIsNoUserAndMpsIsNamed) {
  Sees(&process(), 9, 10, INT64_MAX, false, "nvidia-cuda-mps");  // as /proc cuts it
  Note();
  EXPECT_THAT(report_.devices[0].not_profiled, IsEmpty());
  EXPECT_THAT(report_.notes, ElementsAre(HasSubstr("MPS")));
}

TEST_F(UnprofiledUseTest, DevicesThatTheRunDidNotUseAreNobodysConcern) {
  Sees(&process(), 7, 10);
  report_.devices[0].used = false;
  Note();
  EXPECT_EQ(Count(LedgerCounter::processes_not_profiled), 0u);
  EXPECT_FALSE(report_.run.gpu_busy_is_lower_bound);
}

TEST_F(UnprofiledUseTest, NvidiaSmiThatSawMoreThanWasRecordedIsCounted) {
  ReportDevice& device = report_.devices[0];
  device.nvml_utilization = 0.97;
  device.nvml_sampled_ns = kSpanNs;
  device.smi_model = 0.88;
  Note();
  EXPECT_EQ(Count(LedgerCounter::utilization_above_busy), 0u) << "windows differ a little";
  device.smi_model = 0.5;
  Note();
  EXPECT_EQ(Count(LedgerCounter::utilization_above_busy), 1u);
  EXPECT_THAT(report_.notes, ElementsAre("nvidia-smi said 97 % of GPU-a while it was asked; "
                                         "recorded work explains 50 % at most."));
}

// NVML is asked while a process uses CUDA: here for the second half of the run.
TEST_F(UnprofiledUseTest, WorkThatRanWhileNvmlWasAskedExplainsWhatItSaid) {
  ReportDevice& device = report_.devices[0];
  device.nvml_utilization = 0.95;
  device.nvml_sampled_ns = kSpanNs / 2;
  device.smi_model = 0.48;
  Note();
  EXPECT_EQ(Count(LedgerCounter::utilization_above_busy), 0u);
  device.nvml_sampled_ns = 5'000'000'000;
  device.smi_model = 0;
  Note();
  EXPECT_EQ(Count(LedgerCounter::utilization_above_busy), 0u) << "too short to tell";
}

TEST_F(UnprofiledUseTest, WhereGpuTimeIsUnknownMoreIsExpected) {
  report_.devices[0].nvml_utilization = 0.97;
  report_.devices[0].nvml_sampled_ns = kSpanNs;
  report_.processes.emplace_back().unknown_ns = 1;
  Note();
  EXPECT_EQ(Count(LedgerCounter::utilization_above_busy), 0u);
}

}  // namespace
}  // namespace gpubound
