// SPDX-License-Identifier: Apache-2.0
//
// What the devices of a run did over all its processes (SPEC section 2, the run), on random runs:
// their true busy time and each process's band, counted nanosecond by nanosecond.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "analysis/attribution/process_report.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/device_usage.h"
#include "tests/oracle/random_trace.h"
#include "tests/oracle/seeds.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kRuns = 3000;
constexpr int64_t kBeyondAll = 200;

// By "uuid busy", "uuid process alone" and "uuid process contended"; none is zero.
using Times = std::map<std::string, int64_t>;

std::string Key(const std::string& uuid, size_t process, const char* what) {
  return uuid + " " + std::to_string(process) + " " + what;
}

std::set<size_t> BusyWith(const gpubound::Run& run, uint32_t device, int64_t time_ns) {
  std::set<size_t> processes;
  for (size_t i = 0; i < run.processes.size(); ++i) {
    const ProcessTrace& process = run.processes[i];
    for (const DeviceWork& work : process.device_work) {
      const bool there = Raw(process.streams[Raw(work.stream)].device) == device;
      if (there && work.start_ns <= time_ns && time_ns < work.end_ns) processes.insert(i);
    }
  }
  return processes;
}

Times CountedNaively(const gpubound::Run& run, const Interval& window) {
  Times times;
  for (uint32_t device = 1; device <= 2; ++device) {
    const std::string uuid = "GPU-" + std::to_string(device);
    for (int64_t now_ns = window.begin_ns; now_ns < window.end_ns; ++now_ns) {
      const std::set<size_t> processes = BusyWith(run, device, now_ns);
      if (!processes.empty()) ++times[uuid + " busy"];
      for (const size_t process : processes) {
        ++times[Key(uuid, process, processes.size() == 1 ? "alone" : "contended")];
      }
    }
  }
  return times;
}

Times Measured(const gpubound::Run& run, const Interval& window) {
  RunActivity activity;
  for (const ProcessTrace& process : run.processes) {
    const Result<ProcessAnalysis> analysis = AnalyzeProcess(process, {});
    EXPECT_TRUE(analysis.ok());
    activity.push_back(analysis.ok() ? analysis->activity : nullptr);
  }
  std::vector<size_t> processes(run.processes.size());
  std::iota(processes.begin(), processes.end(), size_t{0});
  const Result<std::vector<DeviceUsage>> devices =
      MeasureDevices(run, processes, activity, AlignClocks(run, "host").offset_ns, {window},
                     RunUnknown(run.processes.size()));
  EXPECT_TRUE(devices.ok()) << (devices.ok() ? "" : devices.error().ToString());
  Times times;
  if (!devices.ok()) return times;
  for (const DeviceUsage& device : *devices) {
    times[device.uuid + " busy"] = device.windows.front().busy_ns;
    for (const DeviceBand& band : device.bands) {
      times[Key(device.uuid, band.process, "alone")] = band.alone_ns;
      times[Key(device.uuid, band.process, "contended")] = band.contended_ns;
    }
  }
  std::erase_if(times, [](const auto& entry) { return entry.second == 0; });
  return times;
}

TEST(DevicesOracleTest, BusyTimeAndBandsAreThoseCountedNaively) {
  for (const uint64_t seed : Seeds(kRuns)) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(ToReproduce(seed));
    const gpubound::Run run = MakeRandomRun(seed);
    const auto cut_ns = static_cast<int64_t>(seed % 60);
    for (const Interval& window : {Interval{0, kBeyondAll}, Interval{cut_ns / 2, cut_ns}}) {
      EXPECT_EQ(Measured(run, window), CountedNaively(run, window));
    }
  }
}

}  // namespace
}  // namespace gpubound::oracle
