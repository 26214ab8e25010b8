// SPDX-License-Identifier: Apache-2.0
//
// The virtual host program and its truth, on programs small enough to work out by hand.
#include "tests/sim/virtual_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/sim/program_fixture.h"
#include "tests/sim/random_features.h"
#include "tests/sim/random_program.h"
#include "tests/sim/virtual_truth.h"

namespace gpubound::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class VirtualProgramTest : public ProgramFixture {
 protected:
  Truth TruthOfRun() { return ComputeTruth(program_, Run()); }
  static Truth::CellKey Cell(const char* operation, const char* layer, const char* gpu) {
    return {"(no phase)", operation, layer, gpu};
  }
};

TEST_F(VirtualProgramTest, LaunchReturnsBeforeTheKernelAndSyncAfterIt) {
  Launch("gemm", 10, 100);
  SyncDevice(5);
  const History history = Run();
  ASSERT_EQ(history.calls.size(), 2u);
  EXPECT_EQ(history.calls[0].end_ns, 10);
  EXPECT_EQ(history.work.at(0).begin_ns, 10);
  EXPECT_EQ(history.work.at(0).end_ns, 110);
  EXPECT_EQ(history.calls[1].begin_ns, 11);
  EXPECT_EQ(history.calls[1].end_ns, 110);
}

TEST_F(VirtualProgramTest, FullQueueBlocksTheLaunch) {
  program_.device.queue_depth = 1;
  Launch("first", 10, 100);
  Launch("second", 10, 100);
  const History history = Run();
  EXPECT_EQ(history.calls[1].queue_full_from_ns, 21);
  EXPECT_EQ(history.calls[1].queue_full_to_ns, 110);
  EXPECT_EQ(history.calls[1].end_ns, 110);
}

TEST_F(VirtualProgramTest, PageableCopyReturnsWhenItIsDone) {
  Add(Action::kCopyPageable, 10).device_ns = 50;
  EXPECT_EQ(Run().calls.at(0).end_ns, 60);
}

TEST_F(VirtualProgramTest, CellsOfAnAsynchronousLaunch) {
  Open("inference", 0);
  Launch("gemm", 10, 100);
  Compute(20);  // from 11 to 31
  Close(0);
  Compute(9);  // from 31 to 40
  SyncDevice(5);
  const Truth truth = TruthOfRun();
  EXPECT_EQ(truth.span_ns, 111);
  EXPECT_THAT(truth.cells,
              UnorderedElementsAre(Pair(Cell("inference", "cuda_api", "idle"), 10),
                                   Pair(Cell("inference", "native", "compute"), 21),
                                   Pair(Cell("(no operation)", "native", "compute"), 9),
                                   Pair(Cell("(no operation)", "cuda_sync", "compute"), 70),
                                   Pair(Cell("(no operation)", "native", "idle"), 1)));
  EXPECT_EQ(truth.operations.at("inference").gpu_busy_ns, 21);
  EXPECT_EQ(truth.operations.at("inference").gpu_caused_ns, 100);
  EXPECT_EQ(truth.whole.gpu_wait_ns, 70);
}

TEST_F(VirtualProgramTest, ProfilerCostLengthensTheSpanAndIsKnown) {
  program_.cost = {.scope_ns = 3, .api_ns = 7};
  Open("inference", 0);
  Launch("gemm", 10, 1);
  Close(0);
  const Truth truth = TruthOfRun();
  EXPECT_EQ(truth.span_ns, 3 + 17 + 1 + 3);
  EXPECT_EQ(truth.uninstrumented_span_ns, 11);
}

TEST_F(VirtualProgramTest, ThreadWithoutScopesWorksForTheReportingThreadOnlyOutsidePython) {
  program_.python = true;
  Open("backpropagation", 0);
  Compute(100);
  OpenLayer(Layer::kBackend, 1);
  Compute(100);
  AddThread(50);
  Launch("in python", 20, 1, 1);
  AddThread(150);
  Launch("in backend", 20, 1, 2);
  const Truth truth = TruthOfRun();
  EXPECT_EQ(truth.operations.at("(no operation)").gpu_caused_ns, 1);
  EXPECT_EQ(truth.operations.at("backpropagation").gpu_caused_ns, 1);
  EXPECT_EQ(truth.cells.at(Cell("backpropagation", "cuda_api", "idle")), 20);
  EXPECT_THAT(truth.operations.at("backpropagation").transitions,
              UnorderedElementsAre(Pair("python->backend", 1), Pair("backend->cuda_api", 1)));
}

TEST_F(VirtualProgramTest, OperationBegunLastOwnsTheTimeThoughAnotherOneWasClosed) {
  Open("outer", 0);
  Compute(10);
  Open("inner", 1);
  Compute(10);
  Close(0);
  Compute(10);
  Close(1);
  const Truth truth = TruthOfRun();
  EXPECT_EQ(truth.operations.at("outer").wall_ns, 10);
  EXPECT_EQ(truth.operations.at("outer").inclusive_wall_ns, 20);
  EXPECT_EQ(truth.operations.at("inner").wall_ns, 20);
}

TEST_F(VirtualProgramTest, SameSeedGivesTheSameHistory) {
  const VirtualProgram program = RandomProgram(7);
  EXPECT_EQ(TruthJson(ComputeTruth(program, Execute(program, nullptr))),
            TruthJson(ComputeTruth(RandomProgram(7), Execute(RandomProgram(7), nullptr))));
}

TEST_F(VirtualProgramTest, TruthIsAPartitionOfTheSpan) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const VirtualProgram program =
        seed % 2 == 0 ? RandomProgram(seed) : RandomProgramWithEverything(seed);
    const Truth truth = ComputeTruth(program, Execute(program, nullptr));
    TimeNs sum = 0;
    for (const auto& [key, ns] : truth.cells) sum += ns;
    EXPECT_EQ(sum, truth.span_ns) << "seed " << seed;
  }
}

// In so many of a thousand programs at least, so that who compares them compares something.
TEST_F(VirtualProgramTest, RandomProgramsHaveWhatTheyAreSaidToHave) {
  std::map<std::string, int> programs;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const VirtualProgram program = RandomProgramWithEverything(seed);
    const History history = Execute(program, nullptr);
    const Truth truth = ComputeTruth(program, history);
    const auto has = [&history](auto is_so) {
      return std::any_of(history.scopes.begin(), history.scopes.end(), is_so);
    };
    const bool operations =
        has([](const ScopeFact& scope) { return scope.name.kind == LabelKind::kOperation; });
    programs["annotations serve"] += operations ? 0 : 1;
    programs["a range ends on another thread"] += has([](const ScopeFact& scope) {
      return scope.range != 0 && scope.end_thread != 0 && scope.end_thread != scope.thread;
    });
    programs["unknown time"] += truth.whole.unknown_ns > 0;
    programs["pauses"] += !history.pauses.empty();
    programs["lost work"] += !history.lost_work.empty();
    programs["work without a call"] += truth.work_without_call > 0;
    programs["known fill"] += !truth.fill_is_upper_bound && truth.fill_unit > 1;
    programs["several windows, some without a kernel"] +=
        truth.smi_touched_ns > 0 && truth.smi_touched_ns < truth.span_ns;
    programs["never busy"] += !truth.inflation().has_value();
  }
  for (const auto& [what, count] : programs) EXPECT_GE(count, 10) << what;
}

}  // namespace
}  // namespace gpubound::sim
