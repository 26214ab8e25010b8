// SPDX-License-Identifier: Apache-2.0
#include "analysis/hosts_outside.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gpubound
