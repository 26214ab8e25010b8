// SPDX-License-Identifier: Apache-2.0
//
// What is read of a calibration's trace: of which program, within what, behind what.
#include "tools/calibrate/calibration_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace gpubound {
namespace {

const CalibrationWorkload& Workload(const std::string& name) {
  const auto plan = CalibrationPlan();
  return *std::ranges::find_if(plan, [&](const auto& one) { return one.name == name; });
}

// A process in which one thread does |calls| of cudaLaunchKernel that take |call_ns|, the last one
// within an operation.
ProcessTrace Launching(bool python, int calls, int64_t call_ns) {
  ProcessTrace process;
  process.python = python;
  process.labels.resize(3);
  process.labels[1].text = "cudaLaunchKernel";
  process.labels[2].text = "calibration between";
  ThreadTrace& thread = process.threads.emplace_back();
  int64_t now_ns = 0;
  for (int i = 0; i < calls; ++i) {
    now_ns += 1'000'000;
    const bool is_last = i == calls - 1;
    if (is_last) {
      thread.events.push_back(
          {.time_ns = now_ns, .payload = 0, .label = LabelId{2}, .kind = SlotKind::kBegin});
    }
    thread.calls.push_back({.start_ns = now_ns + 10,
                            .end_ns = now_ns + 10 + call_ns,
                            .correlation = 0,
                            .label = LabelId{1},
                            .result = 0});
    if (is_last) {
      thread.events.push_back(
          {.time_ns = now_ns + 500'000, .payload = 0, .label = LabelId{2}, .kind = SlotKind::kEnd});
    }
  }
  return process;
}

TEST(CalibrationTraceTest, ReadsCallsOfTheProgramThatMadeThem) {
  gpubound::Run run;
  run.processes = {Launching(false, 3, 700), Launching(true, 3, 900)};
  run.processes[0].call_entries = {{"cudaLaunchKernel", {100, 200}, {1, 7'000}}};
  run.processes[1].call_entries = {{"cudaLaunchKernel", {1, 9'000}, {100, 300}}};
  const CalibrationTrace native(run, CalibrationProgram::kNative);
  const CalibrationTrace python(run, CalibrationProgram::kPython);
  EXPECT_DOUBLE_EQ(native.DurationOf(Workload("cudaLaunchKernel")).mean, 700);
  EXPECT_DOUBLE_EQ(native.EntryNsOf(Workload("cudaLaunchKernel")), 200);
  EXPECT_DOUBLE_EQ(python.DurationOf(Workload("cudaLaunchKernel_between")).mean, 900);
  EXPECT_DOUBLE_EQ(python.EntryNsOf(Workload("cudaLaunchKernel_between")), 300);
}

TEST(CalibrationTraceTest, OfWhatIsNotThereItSaysSo) {
  gpubound::Run run;
  run.processes = {Launching(false, 1, 700)};
  const CalibrationTrace trace(run, CalibrationProgram::kNative);
  EXPECT_EQ(trace.DurationOf(Workload("cudaLaunchKernel")).samples, 0u)
      << "the only one is amid other work";
  EXPECT_EQ(trace.DurationOf(Workload("counter")).samples, 0u) << "an instant has one time stamp";
  EXPECT_EQ(trace.EntryNsOf(Workload("cudaLaunchKernel")), 0);
}

}  // namespace
}  // namespace gpubound
