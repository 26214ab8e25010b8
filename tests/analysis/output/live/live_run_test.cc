// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound top` sees of a run that grows.
#include "analysis/output/live/live_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <fstream>

#include "analysis/output/live/recent_time.h"
#include "proto/schema.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using testing_support::Begin;
using testing_support::End;
using testing_support::Kernel;
using testing_support::kInner;
using testing_support::kTrain;
using testing_support::Looks;
using testing_support::SegmentWriter;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMs = 1'000'000;

TEST(RecentTime, AnIntervalIsSplitOverItsBuckets) {
  RecentTime time;
  time.Add({50 * kMs, 250 * kMs}, 1);
  EXPECT_EQ(time.SumOver({0, 100 * kMs}, 2), (std::vector<int64_t>{0, 50 * kMs}));
  EXPECT_EQ(time.SumOver({100 * kMs, 300 * kMs}, 2), (std::vector<int64_t>{0, 150 * kMs}));
}

TEST(RecentTime, WhatIsForgottenStaysForgotten) {
  RecentTime time;
  time.Add({0, kSecond}, 0);
  time.DropBefore(500 * kMs);
  time.Add({0, kSecond}, 0);
  EXPECT_EQ(time.SumOver({0, kSecond}, 1).front(), kSecond);
}

TEST(RecentTime, BucketsBeforeTimeZeroAreWhole) {
  EXPECT_EQ(WholeBuckets({-50 * kMs, 50 * kMs}), (Interval{-100 * kMs, 0}));
}

TEST(RecentUnion, ConcurrentAndRepeatedWorkCountsOnceInAnyOrder) {
  RecentUnion busy;
  busy.Add({30, 40});
  busy.Add({10, 20});
  busy.Add({15, 32});
  busy.Add({15, 32});
  EXPECT_EQ(busy.LengthWithin({0, 100}), 30);
  EXPECT_EQ(busy.LengthWithin({18, 35}), 17);
}

TEST(RecentUnion, SettledTimeIsCutOffWhatComesLate) {
  RecentUnion busy;
  busy.Add({0, 150 * kMs});
  busy.Settle(100 * kMs);
  busy.Add({50 * kMs, 200 * kMs});
  EXPECT_EQ(busy.LengthWithin({0, 300 * kMs}), 200 * kMs);
}

class LiveRunTest : public testing::Test {
 protected:
  LiveRunTest() : writer_(files_, {}), run_(files_.path()) {
    writer_.PutUsualRows();
    writer_.Sql("DELETE FROM meta WHERE key IN ('end_monotonic_ns', 'end_how')");
  }
  // The recorder has drained everything until |time_ns|.
  void Drained(int64_t time_ns) {
    writer_.Sql("INSERT INTO clock VALUES(NULL, 0, " + std::to_string(time_ns) + ", 0, 0, 0)");
  }
  LiveGlance Look() {
    Result<LiveGlance> glance = run_.Look();
    EXPECT_TRUE(glance.ok());
    return glance.ok() ? std::move(*glance) : LiveGlance{};
  }
  // Of a process in an operation whose recorder last wrote |age_ns| ago.
  LiveGlance LookAfter(int64_t age_ns, Presence presence) {
    constexpr int64_t kWritten = 1000 * kSecond;
    writer_.Scopes({.thread = 1}, {Begin(kTrain, 100 * kMs)});
    writer_.Sql("INSERT INTO clock VALUES(NULL, 0, " + std::to_string(kSecond) + ", " +
                std::to_string(kWritten) + ", 0, 0)");
    const auto glance = run_.Look({kWritten + age_ns, [=](const auto&) { return presence; }});
    EXPECT_TRUE(glance.ok());
    return glance.ok() ? *glance : LiveGlance{};
  }
  void LauncherSaw(const std::string& end) {
    std::ofstream(files_.path() + "/run.json")
        << R"({"format": "gpubound.run.v1", "host": "host", "root_pid": 100)" << end << "}";
  }

  testing_support::TemporaryRun files_;
  SegmentWriter writer_;
  LiveRun run_;
};

TEST_F(LiveRunTest, ARunWithoutAnyEventHasAProcess) {
  const LiveGlance glance = Look();
  EXPECT_TRUE(glance.Leading().operations.empty());
}

TEST_F(LiveRunTest, SplitsTheLastSecondsByOperation) {
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0), Begin(kInner, 100 * kMs), End(kInner, 400 * kMs),
                                 End(kTrain, 500 * kMs)});
  Drained(kSecond);
  const LiveGlance glance = Look();
  ASSERT_EQ(glance.Leading().operations.size(), 2u);
  EXPECT_EQ(glance.Leading().operations[0].name, "inner");
  EXPECT_EQ(glance.Leading().operations[0].ns[0], 300 * kMs);
  EXPECT_EQ(glance.Leading().operations[1].ns[0], 200 * kMs) << "the one begun last owns the time";
  EXPECT_EQ(glance.windows_ns[2], kSecond) << "no longer than the run";
}

TEST_F(LiveRunTest, ReadsEachChunkOnce) {
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0), End(kTrain, 500 * kMs)});
  Drained(kSecond);
  Look();
  Look();
  EXPECT_EQ(run_.chunks_read(), 1u);
  writer_.Scopes({.thread = 1, .first_sequence = 2},
                 {Begin(kTrain, 1500 * kMs), End(kTrain, 2 * kSecond)});
  Drained(2 * kSecond);
  EXPECT_EQ(Look().Leading().operations.at(0).ns[1], kSecond);
  EXPECT_EQ(run_.chunks_read(), 2u);
}

TEST_F(LiveRunTest, ALongRunIsReadFromItsLastMinuteOn) {
  for (uint64_t second = 0; second < 300; ++second) {
    writer_.Scopes({.thread = 1, .first_sequence = 2 * second},
                   {Begin(kTrain, second * kSecond), End(kTrain, second * kSecond + 500 * kMs)});
  }
  Drained(300 * kSecond);
  const LiveGlance glance = Look();
  EXPECT_EQ(glance.Leading().operations.at(0).ns[2], 30 * kSecond);
  EXPECT_LE(run_.chunks_read(), 72u);
}

// What is done in an iteration, and a total that begins somewhere.
TEST_F(LiveRunTest, CountsWorkWhicheverWayItIsTold) {
  const std::string kind = std::to_string(static_cast<int>(LabelKind::kCounter));
  writer_.Sql("INSERT INTO label VALUES(8, " + kind + ", 0, '', 'env_steps'), (9, " + kind +
              ", 0, '', 'tokens')");
  std::vector<Slot> slots;
  for (int i = 1; i <= 8; ++i) {
    const uint64_t at = i * 200 * kMs;
    slots.insert(
        slots.end(),
        {MakeSlot(SlotKind::kCounter, LabelId{8}, at), std::bit_cast<uint64_t>(2048.0),
         MakeSlot(SlotKind::kCounter, LabelId{9}, at), std::bit_cast<uint64_t>(5e6 + 1000.0 * i)});
  }
  writer_.Scopes({.thread = 1}, slots);
  Drained(1700 * kMs);
  const LiveGlance glance = Look();
  ASSERT_EQ(glance.Leading().work.size(), 2u);
  EXPECT_EQ(glance.Leading().work[0].counter, "env_steps");
  EXPECT_EQ(glance.Leading().work[0].done[0], 5 * 2048) << "in the last second";
  EXPECT_EQ(glance.Leading().work[0].done[2], 7 * 2048)
      << "but for the first, which may be a total";
  EXPECT_EQ(glance.Leading().work[1].counter, "tokens");
  EXPECT_EQ(glance.Leading().work[1].done[0], 5 * 1000);
}

TEST_F(LiveRunTest, WhatIsOpenGoesOnUntilNow) {
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100 * kMs)});
  Drained(kSecond);
  const LiveGlance glance = Look();
  EXPECT_EQ(glance.processes.at(0).operation, "train");
  EXPECT_EQ(glance.Leading().operations.at(0).ns[0], 900 * kMs);
}

TEST_F(LiveRunTest, GpuTimeEndsWhereItWasDelivered) {
  writer_.Work({.thread = 2}, {Kernel(0, 300 * kMs, 1), Kernel(200 * kMs, 600 * kMs, 2)});
  writer_.Sql("INSERT INTO unknown VALUES(1, 1000000000, 9223372036854775807, '" +
              std::string(kUndeliveredReason) + "')");
  Drained(2 * kSecond);
  const LiveGlance glance = Look();
  EXPECT_EQ(glance.until_ns, kSecond);
  ASSERT_EQ(glance.devices.size(), 1u);
  EXPECT_EQ(glance.devices[0].name, "Model");
  EXPECT_EQ(glance.devices[0].busy_ns[0], 600 * kMs) << "concurrent work counts once";
}

TEST_F(LiveRunTest, AProcessThatHasClosedIsSaidToHave) {
  writer_.Meta("end_monotonic_ns", kSecond);
  EXPECT_TRUE(Look().processes.at(0).ended);
}

TEST_F(LiveRunTest, ShowsAProcessThatGoesOnRatherThanOneThatHasEnded) {
  writer_.Sql("INSERT INTO meta VALUES('end_monotonic_ns', '900000000')");
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0), End(kTrain, 800 * kMs)});
  Drained(900 * kMs);
  SegmentWriter later(files_, {.pid = 200});
  later.PutUsualRows();
  later.Sql("DELETE FROM meta WHERE key IN ('end_monotonic_ns', 'end_how')");
  later.Scopes({.thread = 1}, {Begin(kInner, 900 * kMs), End(kInner, 950 * kMs)});
  later.Sql("INSERT INTO clock VALUES(NULL, 0, 1000000000, 0, 0, 0)");
  const LiveGlance glance = Look();
  ASSERT_EQ(glance.processes.size(), 2u);
  EXPECT_TRUE(glance.processes[0].ended);
  EXPECT_EQ(glance.leading, 1u);
  ASSERT_EQ(glance.Leading().operations.size(), 1u);
  EXPECT_EQ(glance.Leading().operations[0].name, "inner");
}

TEST_F(LiveRunTest, AKilledProcessOfARunThatIsOverHasEnded) {
  LauncherSaw(R"(, "end_monotonic_ns": 1000000000, "signal": 9)");
  const LiveGlance glance = LookAfter(kMs, Presence::kGone);
  EXPECT_TRUE(glance.processes.at(0).ended);
  EXPECT_EQ(glance.processes.at(0).operation, std::nullopt);
  EXPECT_FALSE(glance.age_ns);
}

TEST_F(LiveRunTest, AKilledProcessHasEndedOnceItsRecorderIsQuiet) {
  LauncherSaw("");
  EXPECT_TRUE(LookAfter(4 * kSecond, Presence::kGone).processes.at(0).ended);
}

TEST_F(LiveRunTest, WhatAKilledProcessHadOpenEndedWithIt) {
  LauncherSaw("");
  SegmentWriter other(files_, {.pid = 200});
  other.PutUsualRows();
  other.Meta("end_monotonic_ns", 5 * kSecond);
  const LiveGlance glance = LookAfter(4 * kSecond, Presence::kGone);
  EXPECT_EQ(glance.until_ns, 5 * kSecond);
  ASSERT_EQ(glance.Leading().operations.size(), 1u);
  EXPECT_EQ(glance.Leading().operations[0].ns[0], 0);
  EXPECT_EQ(glance.Leading().operations[0].ns[1], 900 * kMs)
      << "its recorder last wrote after a second";
}

TEST_F(LiveRunTest, AKilledProcessDoesNotHoldTheWindowsBack) {
  LauncherSaw(R"(, "end_monotonic_ns": 3000000000, "exit_code": 0)");
  SegmentWriter other(files_, {.pid = 200});
  other.PutUsualRows();
  other.Meta("end_monotonic_ns", 3 * kSecond);
  EXPECT_EQ(LookAfter(kMs, Presence::kGone).until_ns, 3 * kSecond);
}

TEST_F(LiveRunTest, AProgramThatBecameAnotherOneHasEnded) {
  SegmentWriter next(files_, {.start_ns = 2000});
  next.PutUsualRows();
  next.Sql("DELETE FROM meta WHERE key IN ('start_monotonic_ns', 'end_monotonic_ns', 'end_how')");
  next.Meta("start_monotonic_ns", kSecond);
  const LiveGlance glance = LookAfter(kMs, Presence::kThere);
  ASSERT_EQ(glance.processes.size(), 2u);
  EXPECT_TRUE(glance.processes[0].ended);
  EXPECT_FALSE(glance.processes[1].ended);
}

TEST_F(LiveRunTest, ProcessesOfTwoContainersWithOnePidBothGoOn) {
  SegmentWriter next(files_, {.start_ns = 2000});
  next.PutUsualRows();
  next.Sql("DELETE FROM meta WHERE key IN ('start_monotonic_ns', 'end_monotonic_ns', 'end_how')");
  next.Meta("start_monotonic_ns", 500 * kMs);
  EXPECT_FALSE(LookAfter(kMs, Presence::kThere).processes.at(0).ended);
}

// It is the same time of day everywhere.
void TellClocks(SegmentWriter* writer, int64_t monotonic_ns) {
  writer->Sql("INSERT INTO clock VALUES(NULL, 0, " + std::to_string(monotonic_ns) + ", " +
              std::to_string(1000 * kSecond) + ", 0, 0)");
}

TEST_F(LiveRunTest, TwoMachinesOfOneHostNameAreTwo) {
  writer_.Meta("boot_id", "11111111-aaaa");
  writer_.Work({.thread = 2}, {Kernel(0, 300 * kMs, 1)});
  TellClocks(&writer_, kSecond);
  constexpr int64_t kUp = 37 * kSecond;
  SegmentWriter far(files_, {.start_ns = 2000});  // of the same host name and pid
  far.PutUsualRows();
  far.Meta("boot_id", "22222222-bbbb");
  far.Sql("DELETE FROM meta WHERE key IN ('start_monotonic_ns', 'end_monotonic_ns', 'end_how')");
  far.Meta("start_monotonic_ns", kUp);
  far.Work({.thread = 2}, {Kernel(kUp + 100 * kMs, kUp + 500 * kMs, 1)});
  TellClocks(&far, kUp + kSecond);
  const LiveGlance glance = Look();
  EXPECT_EQ(glance.windows_ns[2], kSecond) << "their clocks began at different times";
  ASSERT_EQ(glance.processes.size(), 2u);
  EXPECT_EQ(glance.processes[1].host, glance.processes[0].host + "#22222222");
  EXPECT_FALSE(glance.processes[0].ended) << "the other machine's process is no successor";
  EXPECT_EQ(glance.processes[0].busy_ns[2], 300 * kMs);
  EXPECT_EQ(glance.processes[1].busy_ns[2], 400 * kMs);
}

// Each host's trace time begins where it was started.
TEST_F(LiveRunTest, HostsMeetInTheTimeOfDay) {
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0), End(kTrain, 500 * kMs)});
  writer_.Work({.thread = 2}, {Kernel(0, 300 * kMs, 1)});
  TellClocks(&writer_, kSecond);
  constexpr int64_t kUp = 50'000 * kSecond;
  SegmentWriter far(files_, {.host = "other", .pid = 200});
  far.PutUsualRows();
  far.Sql("DELETE FROM meta WHERE key IN ('start_monotonic_ns', 'end_monotonic_ns', 'end_how')");
  far.Sql("UPDATE device SET uuid = 'GPU-other'");
  far.Meta("start_monotonic_ns", kUp);
  far.Work({.thread = 2}, {Kernel(kUp + 100 * kMs, kUp + 500 * kMs, 1)});
  TellClocks(&far, kUp + kSecond);
  const LiveGlance glance = Look();
  EXPECT_EQ(glance.windows_ns[2], kSecond) << "no longer than the run";
  EXPECT_EQ(glance.Leading().operations.at(0).ns[2], 500 * kMs);
  ASSERT_EQ(glance.devices.size(), 2u);
  EXPECT_EQ(glance.devices[0].busy_ns[2] + glance.devices[1].busy_ns[2], 700 * kMs);
  EXPECT_EQ(glance.processes.at(0).busy_ns[2], 300 * kMs);
  EXPECT_EQ(glance.processes.at(1).busy_ns[2], 400 * kMs);
}

TEST_F(LiveRunTest, DevicesOfOneNameAreToldApart) {
  writer_.Sql("UPDATE device SET uuid = 'GPU-01234567-89ab' WHERE id = 1");
  writer_.Work({.thread = 2}, {Kernel(0, 300 * kMs, 1)});
  Drained(kSecond);
  EXPECT_EQ(Look().devices.at(0).name, "Model") << "the only one";
  SegmentWriter other(files_, {.pid = 200});
  other.PutUsualRows();
  other.Sql("UPDATE device SET uuid = 'GPU-01234567-8fff' WHERE id = 1");
  other.Work({.thread = 2}, {Kernel(0, 400 * kMs, 1)});
  const LiveGlance glance = Look();
  ASSERT_EQ(glance.devices.size(), 2u);
  EXPECT_EQ(glance.devices[0].name, "Model GPU-01234567-89");
  EXPECT_EQ(glance.devices[1].name, "Model GPU-01234567-8f");
}

TEST_F(LiveRunTest, AProcessThatCannotBeSeenFromHereRunsWhileItsRecorderWrites) {
  const LiveGlance glance = LookAfter(kSecond, Presence::kGone);
  EXPECT_FALSE(glance.processes.at(0).ended);
  EXPECT_EQ(glance.processes.at(0).operation, "train");
  EXPECT_EQ(glance.age_ns, kSecond);
}

TEST_F(LiveRunTest, AProcessOfAnotherHostEndsWithTheRun) {
  EXPECT_FALSE(LookAfter(60 * kSecond, Presence::kElsewhere).processes.at(0).ended);
  LauncherSaw(R"(, "end_monotonic_ns": 1000000000, "exit_code": 0)");
  EXPECT_TRUE(LookAfter(60 * kSecond, Presence::kElsewhere).processes.at(0).ended);
}

TEST_F(LiveRunTest, WhatOutlivesTheLauncherRuns) {
  LauncherSaw(R"(, "end_monotonic_ns": 1000000000, "exit_code": 0)");
  EXPECT_FALSE(LookAfter(kSecond, Presence::kThere).processes.at(0).ended);
}

TEST_F(LiveRunTest, EveryProcessSaysItsRankItsIterationsAndItsLongestOperations) {
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0), End(kTrain, 900 * kMs)});
  SegmentWriter other(files_, {.pid = 200});
  other.PutUsualRows();
  other.Meta("rank", 1);
  other.Sql("DELETE FROM meta WHERE key IN ('end_monotonic_ns', 'end_how')");
  other.Sql("INSERT INTO label VALUES(8, 1, 0, '', 'a'), (9, 1, 0, '', 'b'), (10, 1, 0, '', 'c')");
  std::vector<Slot> slots;
  for (uint32_t i = 0; i < 4; ++i) {
    const LabelId label = i == 3 ? kTrain : static_cast<LabelId>(8 + i);
    slots.push_back(Begin(label, i * 200 * kMs));
    slots.push_back(End(label, (i * 200 + 50 * (i + 1)) * kMs));
  }
  other.Scopes({.thread = 1}, slots);
  other.Sql("INSERT INTO clock VALUES(NULL, 0, " + std::to_string(kSecond) + ", 0, 0, 0)");
  Drained(kSecond);
  const LiveGlance glance = Look();
  ASSERT_EQ(glance.processes.size(), 2u);
  EXPECT_EQ(glance.leading, 0u);
  EXPECT_EQ(glance.processes[0].rank, std::nullopt);
  EXPECT_EQ(glance.processes[1].rank, 1);
  ASSERT_EQ(glance.processes[1].operations.size(), LiveGlance::kMostOperations);
  EXPECT_EQ(glance.processes[1].operations[0].name, "train");
  EXPECT_EQ(glance.processes[1].operations[0].ns[0], 200 * kMs);
  EXPECT_EQ(glance.processes[1].operations[2].name, "b");
}

constexpr char kFrames[] =
    "INSERT INTO function VALUES(1, '/home/me/train.py', '<module>'), "
    "(2, '/home/me/train.py', 'act'), "
    "(3, '/v/lib/python3.11/site-packages/torch/distributions/categorical.py', 'log_prob'), "
    "(4, '/home/me/train.py', 'learn');"
    "INSERT INTO frame VALUES(1, 0, 1, 210), (2, 1, 2, 88), (3, 2, 3, 91), (4, 1, 4, 120), "
    "(5, 0, 3, 40)";

// A look within a library counts for the line of the program that called it.
TEST_F(LiveRunTest, SaysAtWhichLinesOfItsProgramAProcessIs) {
  writer_.Sql(kFrames);
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0)});
  writer_.Stacks({}, {Looks(0, 990 * kMs, 3, 100), Looks(kSecond, 1490 * kMs, 2, 50),
                      Looks(1500 * kMs, 1990 * kMs, 4, 50)});
  Drained(2 * kSecond);
  const LiveGlance glance = Look();
  ASSERT_EQ(glance.Leading().lines.size(), 2u);
  EXPECT_EQ(glance.Leading().lines[0].file, "/home/me/train.py");
  EXPECT_EQ(glance.Leading().lines[0].line, 88u);
  EXPECT_EQ(glance.Leading().lines[0].function, "act");
  EXPECT_THAT(glance.Leading().lines[0].share, testing::ElementsAre(0.5, 0.75, 0.75));
  EXPECT_EQ(glance.Leading().lines[1].line, 120u);
  EXPECT_THAT(glance.Leading().lines[1].share, testing::ElementsAre(0.5, 0.25, 0.25));
}

TEST_F(LiveRunTest, LooksAreCountedOnceAndFramesThatComeLaterAreKnown) {
  writer_.Sql(kFrames);
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0)});
  writer_.Stacks({}, {Looks(0, 990 * kMs, 2, 100)});
  Drained(kSecond);
  Look();
  writer_.Sql("INSERT INTO frame VALUES(6, 1, 4, 130)");
  writer_.Stacks({.first_sequence = 1}, {Looks(kSecond, 1990 * kMs, 6, 300)});
  Drained(2 * kSecond);
  const LiveGlance glance = Look();
  ASSERT_EQ(glance.Leading().lines.size(), 2u);
  EXPECT_EQ(glance.Leading().lines[0].line, 130u);
  EXPECT_EQ(glance.Leading().lines[0].share[1], 0.75);
}

TEST_F(LiveRunTest, AStackOfLibrariesAloneIsAtItsInnermostLine) {
  writer_.Sql(kFrames);
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0)});
  writer_.Stacks({}, {Looks(0, 990 * kMs, 5, 100)});
  Drained(kSecond);
  ASSERT_EQ(Look().Leading().lines.size(), 1u);
  EXPECT_EQ(Look().Leading().lines[0].function, "log_prob");
}

// Numbers of a file that is damaged, or about which it says too little.
TEST_F(LiveRunTest, LinesOfFewLooksOrOfFramesThatCannotBeAreLeftOut) {
  writer_.Sql(kFrames);
  writer_.Sql("INSERT INTO frame VALUES(7, 9, 2, 1), (8, 1, 99, 1), (10, 10, 2, 1)");
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0)});
  writer_.Stacks(
      {}, {Looks(0, 190 * kMs, 2, 19), Looks(0, 900 * kMs, 7, 400), Looks(0, 900 * kMs, 8, 400),
           Looks(0, 900 * kMs, 10, 400), Looks(0, 900 * kMs, 77, 400)});
  Drained(kSecond);
  EXPECT_TRUE(Look().Leading().lines.empty());
  writer_.Stacks({.first_sequence = 5}, {Looks(0, 60 * kSecond, 2, UINT32_MAX)});
  Drained(60 * kSecond);
  ASSERT_EQ(Look().Leading().lines.size(), 1u);
  EXPECT_EQ(Look().Leading().lines[0].share[2], 1);
}

TEST(LiveRun, ADirectoryThatIsNoRunIsSaidToBeNone) {
  const testing_support::TemporaryRun folder;
  EXPECT_FALSE(LiveRun(folder.path()).Look().ok());
  folder.Write("notes.txt", "no run");
  const Result<LiveGlance> glance = LiveRun(folder.path()).Look();
  ASSERT_FALSE(glance.ok());
  EXPECT_EQ(glance.error().found, "a directory without a trace or run.json");
  folder.Write("run.json", "{}");
  EXPECT_TRUE(LiveRun(folder.path()).Look().ok()) << "nothing is recorded yet";
}

TEST_F(LiveRunTest, AFileThatWasCutIsNotOneWithoutARecord) {
  writer_.Close();
  const std::string path = writer_.path();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  const Result<LiveGlance> glance = run_.Look();
  ASSERT_FALSE(glance.ok());
  EXPECT_EQ(glance.error().object, path);
}

TEST_F(LiveRunTest, NothingBesideTheFilesOfTheRunIsLeft) {
  const std::vector<std::string> before = files_.Names();
  Look();
  EXPECT_EQ(files_.Names(), before);
}

TEST(LiveRun, ADirectoryThatIsNotThereIsAnError) {
  const auto looked = LiveRun("/nonexistent/x.gpubound").Look();
  ASSERT_FALSE(looked.ok());
  EXPECT_THAT(looked.error().remedy,
              testing::HasSubstr("NAME-TIME-PID.gpubound where it was started"));
}

}  // namespace
}  // namespace gpubound
