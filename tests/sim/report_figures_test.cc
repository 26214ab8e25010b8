// SPDX-License-Identifier: Apache-2.0
//
// Figures of a report on programs small enough to work out by hand: every number that is expected
// is a literal, and its time line is drawn or told beside it. The truth that random programs are
// compared with (virtual_truth.h) has to say the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analysis/trace/row_names.h"
#include "tests/sim/program_fixture.h"
#include "tests/sim/report_truth.h"
#include "tests/sim/virtual_truth.h"

namespace gpubound::sim {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class ReportFiguresTest : public ProgramFixture {
 protected:
  void Analyse() {
    const History history = Run();
    const ProcessAnalysis analysis = AnalyseHistory(history);
    ExpectEqualsTruth(analysis.report, ComputeTruth(program_, history));
    report_ = analysis.report;
    without_launch_ = analysis.found[static_cast<size_t>(LedgerCounter::kernels_without_launch)];
  }
  const ReportOperation& Row(const std::string& operation) {
    for (const ReportOperation& row : report_.operations) {
      if (row.operation == operation) return row;
    }
    ADD_FAILURE() << "no row " << operation;
    static const ReportOperation kNone;
    return kNone;
  }
  // By layer and GPU state, of the operation alone.
  std::map<std::string, TimeNs> CellsOf(const std::string& operation) {
    std::map<std::string, TimeNs> cells;
    for (const ReportCell& cell : report_.cells) {
      if (cell.operation == operation) cells[cell.layer + " " + cell.gpu] += cell.ns;
    }
    return cells;
  }

  // A device of four multiprocessors that hold two blocks each.
  void UseSmallDevice() {
    program_.limits.multiprocessors = 4;
    program_.limits.max_blocks_per_multiprocessor = 2;
    program_.limits.max_warps_per_multiprocessor = 64;
    program_.limits.max_registers_per_multiprocessor = 65536;
    program_.limits.max_shared_bytes_per_multiprocessor = 65536;
    program_.limits.compute_capability_major = 8;
  }
  // A call of 9 ns; kernels of four warps a block.
  WorkInfo& LaunchBlocks(uint32_t blocks, TimeNs device, uint32_t stream = 1) {
    LaunchOn(stream, "gemm", 9, device);
    WorkInfo& geometry = program_.threads[0].statements.back().geometry;
    geometry.grid[0] = blocks;
    geometry.block[0] = 128;
    geometry.grid[1] = geometry.grid[2] = geometry.block[1] = geometry.block[2] = 1;
    return geometry;
  }
  int64_t Filled() {
    Analyse();
    return Row("update").sm_filled_ns;
  }
  Outage& LoseFrom(TimeNs from, TimeNs to) {
    return program_.outages.emplace_back(Outage{.from_ns = from, .to_ns = to, .calls = false});
  }

  ReportProcess report_;
  uint64_t without_launch_ = 0;
};

// gemm on the device from 10 to 110, the collective from 21 to 71, the copy from 32 to 132:
//
//     0    10 11   21 22   32 33         71          110        132 133
//     |call|  |call|  |call|  |synchronise ......................|
//          |gemm .....................................|
//                  |collective ..........|
//                          |copy .................................|
TEST_F(ReportFiguresTest, BusyTimeIsSplitByClass) {
  program_.streams = 3;
  Open("update", 0);
  LaunchOn(1, "gemm", 10, 100);
  LaunchOn(2, "ncclDevKernel_AllReduce", 10, 50);
  Statement& copy = Add(Action::kCopyAsync, 10);
  copy.slot = 3;
  copy.device_ns = 100;
  SyncDevice(5);
  Analyse();
  EXPECT_THAT(
      CellsOf("update"),
      UnorderedElementsAre(
          Pair("cuda_api idle", 10), Pair("native compute", 1), Pair("cuda_api compute", 10),
          Pair("native comm+compute", 1), Pair("cuda_api comm+compute", 10),
          Pair("native comm+compute+copy", 1), Pair("cuda_sync comm+compute+copy", 38),
          Pair("cuda_sync compute+copy", 39), Pair("cuda_sync copy", 22), Pair("native idle", 1)));
  const ReportOperation& row = Row("update");
  EXPECT_EQ(row.wall_ns, 133);
  EXPECT_EQ(row.gpu_busy_ns, 122);
  EXPECT_EQ(row.gpu_compute_ns, 100);
  EXPECT_EQ(row.gpu_comm_ns, 50);
  EXPECT_EQ(row.gpu_copy_ns, 100);
  EXPECT_EQ(row.gpu_sum_ns, 250);
  EXPECT_EQ(row.gpu_wait_ns, 99);
  EXPECT_EQ(row.cpu_only_ns, 11);
  EXPECT_EQ(row.cpu_gpu_ns, 23);
  EXPECT_EQ(row.gpu_only_ns, 99);
  EXPECT_EQ(row.idle_ns, 0);
}

// The kernel runs from 10 to 110, launched by `inference`, which ends at 31; `update` waits for it
// from 40 on.
TEST_F(ReportFiguresTest, WhatAnOperationCausesMayRunInAnother) {
  Open("inference", 0);
  Launch("gemm", 10, 100);
  Compute(20);
  Close(0);
  Open("update", 1);
  OpenLayer(Layer::kBackend, 2);
  Compute(9);
  SyncDevice(5);
  Analyse();
  EXPECT_EQ(Row("inference").gpu_busy_ns, 21);
  EXPECT_EQ(Row("inference").gpu_caused_ns, 100);
  EXPECT_EQ(Row("inference").gpu_wait_ns, 0);
  EXPECT_EQ(Row("update").gpu_busy_ns, 79);
  EXPECT_EQ(Row("update").gpu_caused_ns, 0);
  EXPECT_EQ(Row("update").gpu_wait_ns, 70);
  EXPECT_THAT(Row("inference").transitions, UnorderedElementsAre(Pair("native->cuda_api", 1)));
  EXPECT_THAT(Row("update").transitions,
              UnorderedElementsAre(Pair("native->backend", 1), Pair("backend->cuda_sync", 1)));
}

TEST_F(ReportFiguresTest, OneBlockOfEightFillsAnEighth) {
  UseSmallDevice();
  Open("update", 0);
  LaunchBlocks(1, 800);
  SyncDevice(1);
  EXPECT_EQ(Filled(), 100);
  EXPECT_EQ(Row("update").gpu_busy_ns, 800);
  EXPECT_FALSE(report_.sm_fill_is_upper_bound);
}

// 6 blocks from 9 to 109, 4 from 19 to 69: 3/4 for 10, all for 50, 3/4 for 40.
TEST_F(ReportFiguresTest, ConcurrentKernelsFillTheDeviceAtMost) {
  UseSmallDevice();
  program_.streams = 2;
  Open("update", 0);
  LaunchBlocks(6, 100, 1);
  LaunchBlocks(4, 50, 2);
  SyncDevice(1);
  EXPECT_EQ(Filled(), 87);  // 87.5, rounded down
}

// Five warps of 200 registers, 6400 each, are 32000 a block: two fit, and no more by their number.
// Of 203 a warp has 6496 and takes 6656: two blocks would take 66560 of 65536. So it is with 64 KiB
// of shared memory, of which each block takes 1 KiB for the system, in units of 128 bytes.
TEST_F(ReportFiguresTest, RegistersAndSharedMemoryLimitWhatTheDeviceHolds) {
  UseSmallDevice();
  Open("update", 0);
  for (const uint32_t registers : {200u, 203u}) {  // 1/8 and 1/4
    WorkInfo& geometry = LaunchBlocks(1, 800);
    geometry.block[0] = 160;
    geometry.registers_per_thread = registers;
    SyncDevice(1);
  }
  LaunchBlocks(1, 800).dynamic_shared_bytes = 31 * 1024;  // 1/8
  SyncDevice(1);
  LaunchBlocks(1, 800).dynamic_shared_bytes = 31 * 1024 + 1;  // 1/4
  SyncDevice(1);
  EXPECT_EQ(Filled(), 100 + 200 + 100 + 200);
}

TEST_F(ReportFiguresTest, CopiesFillNothing) {
  UseSmallDevice();
  Open("update", 0);
  Add(Action::kCopy, 9).device_ns = 800;
  EXPECT_EQ(Filled(), 0);
  EXPECT_EQ(Row("update").gpu_copy_ns, 800);
}

TEST_F(ReportFiguresTest, AKernelOfUnknownGeometryIsTakenToFillTheDevice) {
  UseSmallDevice();
  Open("update", 0);
  Launch("gemm", 9, 800);
  SyncDevice(1);
  EXPECT_EQ(Filled(), 800);
  EXPECT_TRUE(report_.sm_fill_is_upper_bound);
}

// A span of two whole windows, the kernel in the second one, a copy in the first.
TEST_F(ReportFiguresTest, OneShortKernelMakesAWindowBusyAndACopyDoesNot) {
  Open("update", 0);
  Add(Action::kCopy, 10).device_ns = 90;  // until 100
  Compute(199'999'899);                   // from 101 to 200'000'000
  Launch("gemm", 10, 10);
  Compute(133'333'323);  // from 200'000'011 to 333'333'334
  Analyse();
  EXPECT_EQ(report_.span_ns, 333'333'334);
  EXPECT_EQ(report_.smi_model, 0.5);
  EXPECT_EQ(report_.gpu_busy_ns, 100);
  ASSERT_TRUE(report_.inflation.has_value());
  EXPECT_DOUBLE_EQ(*report_.inflation, 1'666'666.67);
}

// The second window is cut to 83'333'333.
TEST_F(ReportFiguresTest, TheLastWindowCountsByItsLength) {
  Open("update", 0);
  Compute(240'000'000);
  Launch("gemm", 10, 10);
  Compute(9'999'989);
  Analyse();
  EXPECT_EQ(report_.span_ns, 250'000'000);
  EXPECT_EQ(report_.smi_model, 83'333'333.0 / 250'000'000.0);
  EXPECT_DOUBLE_EQ(report_.inflation.value_or(0), 8'333'333.3);
}

// From 166'666'666 to 166'666'668.
TEST_F(ReportFiguresTest, AKernelAcrossTheEdgeMakesBothWindowsBusy) {
  Open("update", 0);
  Compute(166'666'656);
  Launch("gemm", 10, 2);
  Compute(333'333'334);  // until 500'000'001
  Analyse();
  EXPECT_EQ(report_.span_ns, 500'000'001);
  EXPECT_EQ(report_.smi_model, 333'333'334.0 / 500'000'001.0);
}

TEST_F(ReportFiguresTest, WithoutWorkThereIsNoInflation) {
  Open("update", 0);
  Compute(100);
  Analyse();
  EXPECT_EQ(report_.smi_model, 0);
  EXPECT_FALSE(report_.inflation.has_value());
}

// Work from 10 to 30, lost work from 50 to 90, work from 101 to 111; deaf from 20 to 60. What began
// before is known until 30, what was lost makes the time unknown until 90.
TEST_F(ReportFiguresTest, TimeOfLostWorkIsUnknownToItsEnd) {
  LoseFrom(20, 60);
  Open("update", 0);
  Launch("gemm", 10, 20);
  Compute(29);             // from 11 to 40
  Launch("gemm", 10, 40);  // until 50
  Compute(40);             // from 51 to 91
  Launch("gemm", 10, 10);  // until 101
  SyncDevice(5);           // from 102 to 111
  Analyse();
  EXPECT_THAT(
      CellsOf("update"),
      UnorderedElementsAre(Pair("cuda_api idle", 10 + 10), Pair("native compute", 19 + 1 + 1),
                           Pair("native unknown", 10 + 1 + 39), Pair("cuda_api unknown", 10),
                           Pair("native idle", 1 + 1), Pair("cuda_sync compute", 9)));
  const ReportOperation& row = Row("update");
  EXPECT_EQ(row.unknown_ns, 60);
  EXPECT_EQ(row.gpu_busy_ns, 30);
  EXPECT_EQ(row.cpu_only_ns, 22);
  EXPECT_EQ(row.idle_ns, 0);
  EXPECT_EQ(report_.unknown_ns, 60);
}

// The first kernel runs from 10 to 30, the second one, whose call is lost, from 31 to 50.
TEST_F(ReportFiguresTest, WorkWhoseCallWasLostHasNoOperation) {
  LoseFrom(20, 31).calls = true;
  Open("update", 0);
  Launch("gemm", 10, 20);
  Compute(10);             // from 11 to 21
  Launch("gemm", 10, 19);  // until 31
  SyncDevice(5);
  Analyse();
  EXPECT_EQ(Row("update").gpu_busy_ns, 39);
  EXPECT_EQ(Row("update").unknown_ns, 1);
  EXPECT_EQ(Row("update").gpu_caused_ns, 20);
  EXPECT_EQ(Row(kNoOperation).gpu_caused_ns, 19);
  EXPECT_THAT(Row("update").transitions,
              UnorderedElementsAre(Pair("native->cuda_api", 1), Pair("native->cuda_sync", 1)));
  EXPECT_EQ(without_launch_, 1u);
}

// Paused from 20 to 70; the kernel runs from 30 to 50.
TEST_F(ReportFiguresTest, PausedTimeIsUnknownButForWorkThatIsKnown) {
  Open("update", 0);
  Compute(20);
  Add(Action::kPause, 0);
  Launch("gemm", 10, 20);
  Compute(39);  // from 31 to 70
  Add(Action::kResume, 0);
  Compute(30);
  Analyse();
  EXPECT_THAT(CellsOf("update"),
              UnorderedElementsAre(Pair("native idle", 20 + 30), Pair("cuda_api unknown", 10),
                                   Pair("native compute", 20), Pair("native unknown", 20)));
  EXPECT_EQ(Row("update").unknown_ns, 30);
}

TEST_F(ReportFiguresTest, APauseWithoutAResumeLastsToTheEnd) {
  Open("update", 0);
  Compute(20);
  Add(Action::kPause, 0);
  OpenLayer(Layer::kWait, 1);
  Compute(80);
  Analyse();
  EXPECT_EQ(Row("update").unknown_ns, 80);
  EXPECT_EQ(Row("update").idle_ns, 0);
}

TEST_F(ReportFiguresTest, AnnotationsBeneathAnOperationTakeNoTimeFromIt) {
  Open("update", 0);
  OpenRange("", "forward", 1);
  Launch("gemm", 10, 100);
  Close(1);
  SyncDevice(5);
  Analyse();
  EXPECT_EQ(Row("update").wall_ns, 111);
  EXPECT_EQ(Row("update").gpu_caused_ns, 100);
  EXPECT_EQ(report_.operations.size(), 2u);
}

// forward from 0 to 30 holds reduce, a library's, and backward, from 20 to 30. backward causes the
// kernel, which runs from 30 to 50.
TEST_F(ReportFiguresTest, WithoutOperationsAnnotationsServeButThoseOfLibraries) {
  OpenRange("", "forward", 0);
  Compute(10);
  OpenRange("NCCL", "reduce", 1);
  Compute(10);
  Close(1);
  OpenRange("trainer", "backward", 2);
  Launch("gemm", 10, 20);
  Close(2);  // at 31
  Close(0);
  SyncDevice(5);
  Analyse();
  EXPECT_EQ(Row("forward").wall_ns, 20);
  EXPECT_EQ(Row("forward").inclusive_wall_ns, 31);
  EXPECT_EQ(Row("forward").count, 1u);
  EXPECT_EQ(Row("backward").wall_ns, 11);
  EXPECT_EQ(Row("backward").gpu_busy_ns, 1);
  EXPECT_EQ(Row("backward").gpu_caused_ns, 20);
  EXPECT_EQ(Row(kNoOperation).gpu_wait_ns, 19);
  EXPECT_EQ(report_.operations.size(), 3u);
}

// Started at 0 by the first thread, ended at 50 by the second.
TEST_F(ReportFiguresTest, ARangeServesItsThreadUntilAnyThreadEndsIt) {
  Add(Action::kStartRange, 0).scope = Range("", "episode");
  Compute(80);
  AddThread(50);
  Add(Action::kEndRange, 0, 1);
  Compute(10, 1);
  Analyse();
  EXPECT_EQ(Row("episode").wall_ns, 50);
  EXPECT_EQ(Row(kNoOperation).wall_ns, 30);
}

}  // namespace
}  // namespace gpubound::sim
