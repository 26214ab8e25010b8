// SPDX-License-Identifier: Apache-2.0
//
// The report of a run: devices over processes, the headline, the verdict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/attribution/build_report.h"
#include "analysis/report/main_process.h"
#include "analysis/report/report.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;

class RunReportTest : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  // A process from |begin_ns| to |end_ns| that sees device |uuid| and lets kernels run on it.
  ProcessTrace& AddProcess(int64_t pid, int64_t begin_ns, int64_t end_ns, const std::string& uuid,
                           const std::vector<std::pair<int64_t, int64_t>>& kernels) {
    ProcessTrace& process = run_.processes.emplace_back();
    process.identity = {"host", pid, pid};
    process.device_kind = "real";
    process.span_begin_ns = begin_ns;
    process.span_end_ns = end_ns;
    process.devices.resize(2);
    process.devices[1].uuid = uuid;
    process.devices[1].name = "Model";
    process.streams.resize(2);
    process.streams[1].device = static_cast<DeviceId>(1);
    process.works.resize(2);
    process.works[1].info.kind = WorkKind::kKernel;
    for (const auto& [start_ns, stop_ns] : kernels) {
      DeviceWork work;
      work.start_ns = start_ns;
      work.end_ns = stop_ns;
      work.stream = static_cast<StreamId>(1);
      work.work = static_cast<WorkId>(1);
      process.device_work.push_back(work);
    }
    return process;
  }

  Report Build() {
    Result<Report> report = BuildReport(run_);
    EXPECT_TRUE(report.ok());
    return report.ok() ? std::move(*report) : Report{};
  }

  Run run_;
};

TEST_F(RunReportTest, UnitesProcessesOnOneDevice) {
  AddProcess(1, 0, 100, "GPU-a", {{10, 30}});
  AddProcess(2, 0, 100, "GPU-a", {{20, 50}}).parent_pid = 1;
  const Report report = Build();
  ASSERT_EQ(report.devices.size(), 1u);
  EXPECT_EQ(report.devices[0].busy_ns, 40);
  EXPECT_EQ(report.run.devices_used, 1);
  EXPECT_DOUBLE_EQ(report.run.gpu_busy_share, 0.4);
}

TEST_F(RunReportTest, KnowsWhenInTheRunAProcessBegan) {
  AddProcess(1, 1000, 2000, "GPU-a", {});
  AddProcess(2, 1300, 1900, "GPU-a", {}).parent_pid = 1;
  const Report report = Build();
  EXPECT_EQ(report.processes[0].after_run_began_ns, 0);
  EXPECT_EQ(report.processes[1].after_run_began_ns, 300);
}

TEST_F(RunReportTest, NvmlsUtilisationIsTheMeanOfTheSamplesInTheSpan) {
  AddProcess(1, 0, 100, "GPU-a", {{10, 30}});
  const auto said = [this](const char* uuid, int64_t time_ns, int32_t percent) {
    DeviceSample& read = run_.processes[0].utilization.emplace_back();
    read.uuid = uuid;
    read.sample.time_ns = time_ns;
    read.sample.gpu_percent = percent;
  };
  said("GPU-a", 10, 90);
  said("GPU-a", 20, 80);
  said("GPU-a", 30, -1);   // not known
  said("GPU-a", 100, 10);  // after the span
  said("GPU-b", 20, 10);
  const Report report = Build();
  ASSERT_EQ(report.devices.size(), 1u);
  ASSERT_TRUE(report.devices[0].nvml_utilization);
  EXPECT_DOUBLE_EQ(*report.devices[0].nvml_utilization, 0.85);
}

TEST_F(RunReportTest, ThreeSamplesAreAStatementOfNvidiaSmi) {
  AddProcess(1, 0, 100, "GPU-a", {{10, 30}});
  std::vector<DeviceSample>& samples = run_.processes[0].utilization;
  samples.push_back({"GPU-a", {.time_ns = 10, .gpu_percent = 90}});
  samples.push_back({"GPU-a", {.time_ns = 20, .gpu_percent = 60}});
  EXPECT_FALSE(Build().run.nvml_utilization);
  samples.push_back({"GPU-a", {.time_ns = 30, .gpu_percent = 30}});
  EXPECT_DOUBLE_EQ(Build().run.nvml_utilization.value_or(-1), 0.6);
}

TEST_F(RunReportTest, WhatAStandInSaysOfASimulatedDeviceIsNoStatementOfNvidiaSmi) {
  AddProcess(1, 0, 100, "GPU-a", {{10, 30}});
  for (int64_t time_ns : {10, 20, 30}) {
    run_.processes[0].utilization.push_back({"GPU-a", {.time_ns = time_ns, .gpu_percent = 50}});
  }
  for (Device& device : run_.processes[0].devices) device.info.simulated = true;
  const Report report = Build();
  EXPECT_FALSE(report.run.nvml_utilization);
  EXPECT_FALSE(report.devices.at(0).nvml_utilization);
  EXPECT_DOUBLE_EQ(report.devices[0].simulated_utilization.value_or(-1), 0.5);
}

TEST_F(RunReportTest, OfSeveralProcessesThatSampledADeviceOneIsEnough) {
  AddProcess(1, 0, 100, "GPU-a", {{10, 30}});
  AddProcess(2, 0, 100, "GPU-a", {}).parent_pid = 1;
  for (int64_t time_ns : {10, 20}) {
    run_.processes[0].utilization.push_back({"GPU-a", {.time_ns = time_ns, .gpu_percent = 50}});
  }
  run_.processes[1].utilization.push_back({"GPU-a", {.time_ns = 20, .gpu_percent = 100}});
  EXPECT_DOUBLE_EQ(Build().devices.at(0).nvml_utilization.value_or(-1), 0.5);
}

TEST_F(RunReportTest, MemoryIsTheMostThatAnySampleOfTheSpanSays) {
  AddProcess(1, 0, 100, "GPU-a", {{10, 30}});
  AddProcess(2, 0, 100, "GPU-a", {}).parent_pid = 1;
  const auto said = [this](size_t process, int64_t time_ns, int64_t bytes) {
    run_.processes[process].utilization.push_back(
        {"GPU-a", {.time_ns = time_ns, .memory_used_bytes = bytes}});
  };
  EXPECT_FALSE(Build().devices.at(0).memory_peak_bytes) << "nobody said anything";
  said(0, 10, 500);
  said(0, 20, -1);    // not known
  said(0, 100, 900);  // after the span
  said(1, 30, 700);
  for (ProcessTrace& process : run_.processes) process.devices.at(1).info.memory_bytes = 2000;
  const Report report = Build();
  EXPECT_EQ(report.devices.at(0).memory_peak_bytes, 700);
  EXPECT_EQ(report.devices[0].memory_bytes, 2000);
  EXPECT_FALSE(report.devices[0].nvml_utilization) << "no sample has a percentage";
  for (ProcessTrace& process : run_.processes) process.devices[1].info.simulated = true;
  EXPECT_FALSE(Build().devices.at(0).memory_peak_bytes) << "a stand-in said so";
  EXPECT_FALSE(Build().devices[0].memory_bytes);
}

TEST_F(RunReportTest, WithoutSamplesNvmlSaidNothing) {
  AddProcess(1, 0, 100, "GPU-a", {{10, 30}});
  EXPECT_FALSE(Build().devices.at(0).nvml_utilization);
}

TEST_F(RunReportTest, CountsEveryUsedDeviceOverTheRootsSpan) {
  AddProcess(1, 0, 100, "GPU-a", {{0, 100}});
  AddProcess(2, 50, 100, "GPU-b", {}).parent_pid = 1;
  AddProcess(3, 50, 200, "GPU-c", {{60, 160}}).parent_pid = 1;
  const Report report = Build();
  EXPECT_EQ(report.run.root, 1);
  EXPECT_EQ(report.run.wall_ns, 100);
  EXPECT_EQ(report.devices.size(), 3u);
  EXPECT_EQ(report.run.devices_used, 2);
  EXPECT_DOUBLE_EQ(report.run.gpu_busy_share, (100.0 + 40.0) / 200.0);
}

TEST_F(RunReportTest, CountsFromTheFirstBeginToTheLastEndWhereATraceNamesNoRoot) {
  AddProcess(1, 0, 10, "GPU-a", {}).device_kind = "imported";
  AddProcess(2, 5, 105, "GPU-a", {{5, 50}}).device_kind = "imported";
  AddProcess(3, 20, 200, "GPU-b", {{150, 200}}).device_kind = "imported";
  const Report report = Build();
  EXPECT_FALSE(report.run.root);
  EXPECT_EQ(report.run.wall_ns, 200);
  EXPECT_EQ(report.devices.at(0).busy_ns, 45);
  EXPECT_DOUBLE_EQ(report.run.gpu_busy_share, (45.0 + 50.0) / 400.0);
  EXPECT_EQ(MainProcess(report)->pid, 3) << "the longest";
}

TEST_F(RunReportTest, AProcessOfPidZeroIsNobodysParent) {
  AddProcess(0, 0, 10, "GPU-a", {}).device_kind = "imported";
  AddProcess(2, 5, 105, "GPU-a", {}).device_kind = "imported";
  const Report report = Build();
  EXPECT_FALSE(report.processes.at(1).parent);
  EXPECT_EQ(report.run.wall_ns, 105);
}

TEST_F(RunReportTest, TheOnlyProcessOfATraceIsItsRoot) {
  AddProcess(7, 5, 105, "GPU-a", {}).device_kind = "imported";
  EXPECT_EQ(Build().run.root, 7);
}

TEST_F(RunReportTest, OfRecordedProcessesWithoutALauncherTheFirstIsTheRoot) {
  AddProcess(2, 5, 105, "GPU-a", {});
  AddProcess(1, 0, 10, "GPU-a", {});
  const Report report = Build();
  EXPECT_EQ(report.run.root, 1);
  EXPECT_EQ(report.run.wall_ns, 10);
}

TEST_F(RunReportTest, UnknownTimePutsThoseDevicesInDoubtThatItsProcessSees) {
  AddProcess(1, 0, 100, "GPU-a", {{0, 10}});
  AddProcess(2, 0, 100, "GPU-b", {}).parent_pid = 1;
  AddProcess(3, 0, 100, "GPU-c", {}).parent_pid = 1;
  run_.processes[1].unknown.push_back({20, 30, ""});
  const Report report = Build();
  ASSERT_EQ(report.devices.size(), 3u);
  EXPECT_FALSE(report.devices[0].has_unknown_time);
  EXPECT_TRUE(report.devices[1].has_unknown_time);
  EXPECT_FALSE(report.devices[2].has_unknown_time);
  EXPECT_EQ(report.run.devices_unused.size(), 1u) << "GPU-c";
}

TEST_F(RunReportTest, TakesTheLaunchersRootEvenWhenItWasNotRecorded) {
  AddProcess(2, 10, 60, "GPU-a", {{10, 60}}).parent_pid = 1;
  run_.info.emplace();
  run_.info->host = "host";
  run_.info->root_pid = 1;
  run_.info->start_monotonic_ns = 0;
  run_.info->end_monotonic_ns = 100;
  const Report report = Build();
  EXPECT_EQ(report.run.root, 1);
  EXPECT_EQ(report.run.wall_ns, 100);
  EXPECT_DOUBLE_EQ(report.run.gpu_busy_share, 0.5);
}

TEST_F(RunReportTest, MarksARunOnASimulatedDevice) {
  AddProcess(1, 0, 100, "GPU-a", {}).devices[1].info.simulated = true;
  const Report report = Build();
  EXPECT_EQ(report.device_kind, "simulated");
  ASSERT_FALSE(report.ledger.empty());
  EXPECT_EQ(report.ledger[0].counter, "simulated_device");
}

TEST_F(RunReportTest, InflationIsTheModelOverTheTruth) {
  AddProcess(1, 0, 1000, "GPU-a", {{0, 10}});
  const Report report = Build();
  EXPECT_DOUBLE_EQ(report.processes[0].smi_model, 1.0);
  EXPECT_DOUBLE_EQ(report.processes[0].inflation.value(), 100.0);
}

TEST_F(RunReportTest, WithoutBusyTimeThereIsNoInflation) {
  AddProcess(1, 0, 1000, "GPU-a", {});
  EXPECT_FALSE(Build().processes[0].inflation.has_value());
}

TEST_F(RunReportTest, VerdictNamesTheWorst) {
  ProcessTrace& process = AddProcess(1, 0, 100, "GPU-a", {});
  EXPECT_THAT(Build().run.verdict, HasSubstr("complete"));
  process.unknown.push_back({0, 25, "test"});
  EXPECT_THAT(Build().run.verdict, HasSubstr("GPU unknown for 25 % of the time"));
  process.Count(LedgerCounter::cupti_records_dropped) = 1;
  EXPECT_THAT(Build().run.verdict, HasSubstr("incomplete: Records that CUPTI"));
  process.Count(LedgerCounter::sink_write_errors) = 1;
  EXPECT_THAT(Build().run.verdict, HasSubstr("incomplete: Transactions that could not be written"));
  process.Count(LedgerCounter::chunks_corrupt) = 1;
  EXPECT_THAT(Build().run.verdict, HasSubstr("doubtful: Chunks"));
}

TEST_F(RunReportTest, ARunWithAPythonThatCouldNotBeHookedIsIncomplete) {
  AddProcess(1, 0, 100, "GPU-a", {}).Count(LedgerCounter::python_without_extension) = 1;
  EXPECT_THAT(Build().run.verdict,
              HasSubstr("incomplete: Python processes that could not be hooked"));
}

TEST_F(RunReportTest, AProcessThatLostItsEndIsIncomplete) {
  ProcessTrace& process = AddProcess(1, 0, 100, "GPU-a", {});
  process.Count(LedgerCounter::live_mapping_unavailable) = 1;
  EXPECT_THAT(Build().run.verdict, HasSubstr("complete: nothing was lost"))
      << "it closed its trace";
  ProcessTrace& other = AddProcess(2, 0, 100, "GPU-a", {});
  other.Count(LedgerCounter::process_not_closed) = 1;
  EXPECT_THAT(Build().run.verdict, HasSubstr("complete: nothing was lost")) << "it was salvaged";
  other.Count(LedgerCounter::live_mapping_unavailable) = 1;
  EXPECT_THAT(Build().run.verdict, HasSubstr("incomplete: Processes that ended without closing"));
}

TEST_F(RunReportTest, WhatTheProgramSaysOfItselfIsNoNote) {
  AddProcess(1, 0, 100, "GPU-a", {}).notes = {{0, "metadata seed = 7"}, {0, "metadata is out"}};
  const Report report = Build();
  EXPECT_THAT(report.notes, testing::ElementsAre("pid 1: metadata is out"));
  EXPECT_THAT(report.run.metadata, testing::ElementsAre(testing::Pair("seed", "7")));
}

TEST_F(RunReportTest, WhileAProcessRunsNothingIsLostSoFar) {
  AddProcess(1, 0, 100, "GPU-a", {});
  AddProcess(2, 0, 100, "GPU-a", {}).span_end = SpanEnd::kGoesOn;
  EXPECT_THAT(Build().run.verdict, HasSubstr("complete so far: nothing was lost"));
}

TEST_F(RunReportTest, AScopeThatIsOpenAtTheEndCountsOnceWhoeverSawIt) {
  ProcessTrace& process = AddProcess(1, 0, 100, "", {});
  process.labels = {{}, {LabelKind::kOperation, Layer::kUnset, "", "train"}};
  ThreadTrace& thread = process.threads.emplace_back();
  thread.ordinal = static_cast<ThreadId>(1);
  thread.events.push_back({.time_ns = 10, .label = LabelId{1}, .kind = SlotKind::kBegin});
  const auto count = [this] {
    for (const ReportLedgerEntry& entry : Build().ledger) {
      if (entry.counter == "scopes_open_at_end") return entry.value;
    }
    return uint64_t{0};
  };
  EXPECT_EQ(count(), 1u);
  process.Count(LedgerCounter::scopes_open_at_end) = 1;
  EXPECT_EQ(count(), 1u);
}

TEST_F(RunReportTest, SumsCountersOverProcessesButTakesTheLargestErrorBound) {
  AddProcess(1, 0, 100, "", {}).Count(LedgerCounter::clock_error_bound_ns) = 70;
  ProcessTrace& other = AddProcess(2, 0, 100, "", {});
  other.Count(LedgerCounter::clock_error_bound_ns) = 50;
  other.Count(LedgerCounter::backpressure_waits) = 4;
  run_.processes[0].Count(LedgerCounter::backpressure_waits) = 3;
  std::map<std::string, uint64_t> values;
  for (const ReportLedgerEntry& entry : Build().ledger) values[entry.counter] = entry.value;
  EXPECT_EQ(values["clock_error_bound_ns"], 70u);
  EXPECT_EQ(values["backpressure_waits"], 7u);
}

TEST_F(RunReportTest, EmptyRunHasAReport) {
  const Report report = Build();
  EXPECT_EQ(report.run.wall_ns, 0);
  EXPECT_EQ(report.device_kind, "none");
}

}  // namespace
}  // namespace gpubound
