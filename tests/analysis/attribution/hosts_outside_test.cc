// SPDX-License-Identifier: Apache-2.0
#include "analysis/attribution/hosts_outside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gpubound {
namespace {

// Of three devices the far host's process used the second, and saw the third.
TEST(HostsOutsideTest, BoundsWhatTheirProcessesUsed) {
  gpubound::Run run;
  run.processes.resize(2);
  run.processes[0].identity.host = "near";
  run.processes[1].identity.host = "far";
  std::vector<DeviceUsage> devices(3);
  devices[0].used = devices[1].used = true;
  devices[0].seen_by = {0};
  devices[1].seen_by = {1};
  devices[2].seen_by = {0, 1};
  Report report;
  report.devices.resize(3);
  Ledger ledger{};
  NoteHostsOutside(run, {{"far", 60'000'000'000}}, devices, &ledger, &report);
  for (size_t d = 0; d < report.devices.size(); ++d) {
    EXPECT_EQ(report.devices[d].host_outside_run, d == 1) << d;
    EXPECT_EQ(report.devices[d].busy_is_lower_bound, d == 1) << d;
  }
  EXPECT_TRUE(report.run.gpu_busy_is_lower_bound);
  EXPECT_EQ(ledger[static_cast<size_t>(LedgerCounter::host_outside_run_ns)], 60'000'000'000u);
  EXPECT_EQ(report.notes.size(), 1u);
}

class WorkOutsideTest : public testing::Test {
 protected:
  // Of a process: its work in all, and what of it lies in the run.
  void Add(const char* host, int64_t pid, int64_t all_ns, int64_t inside_ns) {
    ReportProcess& process = report_.processes.emplace_back();
    process.host = host;
    process.pid = pid;
    process.device_shares.push_back({"GPU-1", 0, "act", all_ns, all_ns, 0, 0, {}});
    report_.devices[0].processes.push_back({host, pid, "python3", inside_ns / 2, inside_ns / 2});
  }
  std::vector<std::string> Notes() {
    NoteWorkOutside(&report_);
    return report_.notes;
  }
  WorkOutsideTest() : report_() {
    report_.run.root_host = "near";
    report_.devices.emplace_back();
  }
  Report report_;
};

TEST_F(WorkOutsideTest, OfAProcessThatOutlivedTheRunIsNoted) {
  Add("near", 100, 1'000'000, 1'000'000);
  Add("near", 101, 3'000'000, 1'000'000);
  const std::vector<std::string> notes = Notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with("pid 101: of its GPU work 2.00 ms lie outside the run"))
      << notes[0];
}

TEST_F(WorkOutsideTest, OfLessThanAHundredthNobodySpeaks) {
  Add("near", 101, 1'000'000, 990'000);
  EXPECT_TRUE(Notes().empty());
}

TEST_F(WorkOutsideTest, OfAnotherHostItMayBeItsClock) {
  Add("far", 101, 3'000'000, 1'000'000);
  EXPECT_TRUE(Notes().empty());
}

TEST_F(WorkOutsideTest, OfProgramsThatOnePidExecutedCountsTogether) {
  Add("near", 100, 1'000'000, 1'000'000);
  Add("near", 100, 3'000'000, 3'000'000);
  EXPECT_TRUE(Notes().empty());
}

TEST(ContradictedHostsTest, MakeARunLessThanComplete) {
  ClockAlignment clocks;
  clocks.contradicted_hosts = {{"far", 200'000'000}, {"farther", 1'500'000'000}};
  Ledger ledger{};
  Report report;
  NoteContradictedHosts(clocks, &ledger, &report);
  constexpr auto kCounter = static_cast<size_t>(LedgerCounter::clocks_contradicted_ns);
  EXPECT_EQ(ledger[kCounter], 1'500'000'000u);
  EXPECT_EQ(kLedgerCounters[kCounter].severity, Severity::kError);
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_THAT(report.notes[1], testing::HasSubstr("host farther"));
  EXPECT_THAT(report.notes[1], testing::HasSubstr("contradict each other by 1.50 s"));
}

}  // namespace
}  // namespace gpubound
