// SPDX-License-Identifier: Apache-2.0
//
// The shipped core inside real processes: every way to end, to fork and to fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <map>

#include "proto/later_format.h"
#include "tests/libprofiler/core_process.h"
#include "tests/libprofiler/temp_directory.h"
#include "tests/libprofiler/trace_file.h"

namespace gpubound {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class CoreTest : public testing::Test {
 protected:
  int Run(const std::string& scenario, const std::vector<std::string>& variables = {}) {
    CoreProcess process(scenario, "", run_, stderr_path_, variables);
    return process.Wait();
  }
  std::string Said() {
    std::ifstream file(stderr_path_);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::vector<std::string> Databases() { return FilesEndingIn(run_, ".db"); }
  std::vector<std::string> HowTheyEnded() {
    std::vector<std::string> ends;
    for (const std::string& path : Databases()) ends.push_back(TraceFile(path).Meta("end_how"));
    return ends;
  }
  // The only database of the run.
  TraceFile Trace() { return TraceFile(Databases().at(0)); }
  static int64_t Events(const TraceFile& trace) {
    return trace.Number("SELECT ifnull(sum(event_count),0) FROM chunk WHERE family=1");
  }
  static int64_t EventsOf(const TraceFile& trace, const std::string& label) {
    int64_t count = 0;
    for (uint32_t thread = 1; thread <= 3; ++thread) {
      for (const StoredEvent& event : trace.ThreadEventsOf(thread)) {
        count += event.label == label ? 1 : 0;
      }
    }
    return count;
  }

  int64_t RecordedChildren() {
    int64_t children = 0;
    for (const std::string& path : Databases()) {
      const TraceFile trace(path);
      if (trace.Meta("end_how") != "fork-child-exit") continue;
      ++children;
      EXPECT_EQ(EventsOf(trace, "child only"), 40);
    }
    return children;
  }
  int64_t UnrecordedChildren() {
    int64_t children = 0;
    for (const std::string& path : Databases()) {
      children += TraceFile(path).LedgerValue(LedgerCounter::fork_children_unrecorded);
    }
    return children;
  }

  TempDirectory directory_;
  std::string run_ = directory_.Below("run");
  std::string stderr_path_ = directory_.Below("stderr");
};

TEST_F(CoreTest, AProgramThatReturnsFromMainLeavesAClosedTraceAndSaysNothing) {
  ASSERT_EQ(Run("scopes"), 0);
  EXPECT_THAT(HowTheyEnded(), ElementsAre("exit"));
  EXPECT_EQ(Events(Trace()), 2000);
  EXPECT_THAT(FilesEndingIn(run_, ""), SizeIs(1));
  EXPECT_EQ(Said(), "");
}

TEST_F(CoreTest, EveryKindOfEventIsRecorded) {
  ASSERT_EQ(Run("every_kind"), 0);
  std::vector<SlotKind> kinds;
  for (const StoredEvent& event : Trace().ThreadEventsOf(1)) {
    kinds.push_back(event.kind);
    EXPECT_FALSE(BeginsIterations(event.kind, event.payload));
  }
  EXPECT_THAT(kinds,
              ElementsAre(SlotKind::kPhase, SlotKind::kBegin, SlotKind::kEnd, SlotKind::kStep,
                          SlotKind::kStep, SlotKind::kCounter, SlotKind::kBegin, SlotKind::kEnd));
  EXPECT_EQ(Trace().Number("SELECT layer FROM label WHERE text='env'"),
            static_cast<int>(Layer::kSimulator));
}

TEST_F(CoreTest, TheFirstEndCountsAndLaterCallsAreHarmless) {
  ASSERT_EQ(Run("finish_twice"), 0);
  EXPECT_THAT(HowTheyEnded(), ElementsAre("_exit"));
  EXPECT_EQ(Events(Trace()), 20);
}

TEST_F(CoreTest, ThreadsThatOutliveMainDisturbNothing) {
  ASSERT_EQ(Run("threads_outlive_main"), 0);
  EXPECT_THAT(HowTheyEnded(), ElementsAre("exit"));
  EXPECT_EQ(EventsOf(Trace(), "update"), 400'000);
}

TEST_F(CoreTest, ThreadsThatEndLeaveEventsAndNames) {
  ASSERT_EQ(Run("threads_end", {"GPUBOUND_LIVE_PAGES=16"}), 0);
  EXPECT_EQ(Events(Trace()), 200 * 10 + 200) << "each says that it ended";
  EXPECT_EQ(Trace().LedgerValue(LedgerCounter::scopes_open_at_end), 0);
  EXPECT_EQ(Trace().Number("SELECT count(*) FROM thread WHERE name='worker'"), 200);
}

TEST_F(CoreTest, AnOperationIsHandedOverToAnotherThread) {
  ASSERT_EQ(Run("hand_over"), 0);
  const std::vector<StoredEvent> giver = Trace().ThreadEventsOf(1);
  const std::vector<StoredEvent> taker = Trace().ThreadEventsOf(2);
  ASSERT_THAT(giver, SizeIs(3));
  ASSERT_THAT(taker, SizeIs(4));
  EXPECT_EQ(giver[1].kind, SlotKind::kHandOver);
  EXPECT_EQ(taker[0].kind, SlotKind::kAdopt);
  EXPECT_EQ(taker[0].payload, giver[1].payload);
  EXPECT_EQ(taker[1].kind, SlotKind::kBegin);
  EXPECT_EQ(taker[1].label, "update");
  EXPECT_EQ(taker[2].kind, SlotKind::kEnd);
  EXPECT_EQ(taker[3].label, "thread ended");
}

TEST_F(CoreTest, WhoLetsWhomGoOnIsRecorded) {
  ASSERT_EQ(Run("wake"), 0);
  const std::vector<StoredEvent> waker = Trace().ThreadEventsOf(1);
  const std::vector<StoredEvent> woken = Trace().ThreadEventsOf(2);
  ASSERT_THAT(waker, SizeIs(3));
  ASSERT_THAT(woken, SizeIs(5));
  EXPECT_THAT(Trace().ThreadEventsOf(3), IsEmpty());  // the one that did nothing else is no thread
  EXPECT_EQ(waker[2].kind, SlotKind::kHandOver);
  EXPECT_EQ(waker[2].label, "");
  EXPECT_EQ(waker[2].payload, 77u);
  EXPECT_EQ(woken[0].kind, SlotKind::kWoken);  // it begins because of it
  EXPECT_EQ(woken[0].payload, 76u);
  EXPECT_EQ(woken[3].kind, SlotKind::kWoken);
  EXPECT_EQ(woken[3].payload, 77u);
}

TEST_F(CoreTest, APauseIsMarkedAndScopesInsideItAreKept) {
  ASSERT_EQ(Run("pause"), 0);
  std::vector<SlotKind> kinds;
  for (const StoredEvent& event : Trace().ThreadEventsOf(1)) kinds.push_back(event.kind);
  EXPECT_THAT(kinds,
              ElementsAre(SlotKind::kPause, SlotKind::kBegin, SlotKind::kEnd, SlotKind::kResume));
}

TEST_F(CoreTest, AProgramAddsToTheLedgerByName) {
  ASSERT_EQ(Run("ledger"), 0);
  EXPECT_EQ(Trace().LedgerValue(LedgerCounter::hooks_failed), 2);
  EXPECT_EQ(Trace().Number("SELECT count(*) FROM ledger WHERE counter LIKE 'import_%'"), 0);
  EXPECT_EQ(Trace().Number("SELECT count(*) FROM note WHERE text='no such method: Env.step'"), 1);
  EXPECT_EQ(Trace().Number("SELECT count(*) FROM note WHERE text='kept as prose'"), 1);
  EXPECT_EQ(Trace().Number("SELECT count(*) FROM note"), 2);
}

TEST_F(CoreTest, TheOpenScopesOfAThreadAreListedFromTheOutside) {
  EXPECT_EQ(Run("open_scopes"), 0);
}

TEST_F(CoreTest, ForksBehindTheEndOfARecordingAreLeftAloneAsTheProgramIs) {
  ASSERT_EQ(Run("go_on", {"GPUBOUND_STEPS=:1"}), 0);
  ASSERT_THAT(Databases(), SizeIs(1));
  EXPECT_EQ(Trace().Meta("end_how"), "steps");
  EXPECT_EQ(EventsOf(Trace(), "behind"), 0);
  EXPECT_THAT(FilesEndingIn(run_, ".live"), IsEmpty());
  ASSERT_THAT(FilesEndingIn(run_, ".later"), SizeIs(1));
  std::ifstream later(FilesEndingIn(run_, ".later")[0], std::ios::binary);
  LaterHeader header = {};
  later.read(reinterpret_cast<char*>(&header), sizeof(header));
  EXPECT_EQ(header.ended, 1u) << "that of the process itself";
}

TEST_F(CoreTest, EveryScopeOfEveryIterationIsRecorded) {
  ASSERT_EQ(Run("train"), 0);
  EXPECT_EQ(EventsOf(Trace(), "update"), 2 * 400 * 1000);
}

TEST_F(CoreTest, AForkChildRecordsItselfInFilesOfItsOwnWithTheSameNames) {
  ASSERT_EQ(Run("fork"), 0);
  EXPECT_THAT(HowTheyEnded(), UnorderedElementsAre("exit", "fork-child-exit"));
  for (const std::string& path : Databases()) {
    const TraceFile trace(path);
    const bool child = trace.Meta("end_how") == "fork-child-exit";
    EXPECT_EQ(EventsOf(trace, "child only"), child ? 40 : 0);
    EXPECT_EQ(EventsOf(trace, "parent only"), child ? 0 : 20);
    EXPECT_EQ(EventsOf(trace, "update"), 2);
    EXPECT_EQ(trace.LedgerValue(LedgerCounter::unbalanced_scopes), 0);
  }
  EXPECT_THAT(FilesEndingIn(run_, ".live"), IsEmpty());
}

TEST_F(CoreTest, AForkChildThatRecordsNothingLeavesNoFiles) {
  ASSERT_EQ(Run("fork_silent"), 0);
  EXPECT_THAT(Databases(), SizeIs(1));
}

TEST_F(CoreTest, AChildMadeWithoutForkHandlersIsANoOpAndLeavesTheParentAlone) {
  ASSERT_EQ(Run("raw_fork"), 0);
  ASSERT_THAT(Databases(), SizeIs(1));
  EXPECT_EQ(Events(Trace()), 40);
  EXPECT_EQ(EventsOf(Trace(), "ghost"), 0);
}

TEST_F(CoreTest, AVforkChildThatLeavesDoesNotEndItsParentsRecording) {
  ASSERT_EQ(Run("vfork"), 0);
  EXPECT_THAT(HowTheyEnded(), ElementsAre("exit"));
  EXPECT_EQ(Events(Trace()), 40);
}

// The address sanitizer's allocator has locks of its own and no fork handlers: a fork child may
// wait for one for ever that another thread held. glibc's has them.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kThreadsMayAllocateDuringFork = false;
#else
constexpr bool kThreadsMayAllocateDuringFork = true;
#endif

TEST_F(CoreTest, ForksInTheMiddleOfEverythingAreRecordedOrCounted) {
  if (!kThreadsMayAllocateDuringFork) GTEST_SKIP() << "allocator of the sanitizer";
  ASSERT_EQ(Run("fork_under_load"), 0);
  EXPECT_EQ(RecordedChildren() + UnrecordedChildren(), 40);
}

TEST_F(CoreTest, ForksFromTwoThreadsAtOnceAreRecordedOrCounted) {
  if (!kThreadsMayAllocateDuringFork) GTEST_SKIP() << "allocator of the sanitizer";
  ASSERT_EQ(Run("fork_from_two_threads"), 0);
  EXPECT_EQ(RecordedChildren() + UnrecordedChildren(), 40);
  EXPECT_GT(RecordedChildren(), 20);
}

TEST_F(CoreTest, AChildOfAForkBesideALongForkRunsOnUnrecorded) {
  ASSERT_EQ(Run("fork_beside_a_long_fork"), 0);
  EXPECT_THAT(Databases(), SizeIs(1));
  EXPECT_EQ(Events(Trace()), 20);
  EXPECT_EQ(UnrecordedChildren(), 1);
}

// Of such a fork none of the core's handlers is run, in a child that has its lock as it was.
TEST_F(CoreTest, ForksAroundTheLoadLeaveAChildThatRunsOnUnrecordedAndSaysSo) {
  ASSERT_EQ(Run("fork_around_the_load"), 0);
  EXPECT_THAT(Databases(), SizeIs(1));
  EXPECT_EQ(Events(Trace()), 20);
  EXPECT_THAT(Said(), testing::ContainsRegex("gpubound: process [0-9]+ is not recorded: "));
}

TEST_F(CoreTest, AnUnwritableRunDirectoryIsSaidOnceAndNothingElseHappens) {
  run_ = "/proc/gpubound/run";
  ASSERT_EQ(Run("scopes"), 0);
  EXPECT_THAT(Said(), HasSubstr("gpubound: cannot write to the run directory /proc/gpubound/run"));
  EXPECT_THAT(Said(), HasSubstr("Set GPUBOUND_RUN"));
  const std::string said = Said();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

TEST_F(CoreTest, AFileSizeLimitOfTheUserDoesNotEndTheProgram) {
  ASSERT_EQ(Run("file_size_limit"), 0);
  const std::string said = Said();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(CoreTest, AProgramThatRunsOutOfMemoryIsToldAndEndsWithoutDelay) {
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(Run("out_of_memory", {"GPUBOUND_LIVE_PAGES=64"}), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_THAT(Said(), HasSubstr("recording stops here"));
  EXPECT_THAT(FilesEndingIn(run_, ".live"), SizeIs(1)) << "the ledger in it says what was lost";
}

TEST_F(CoreTest, ADisabledProcessLeavesNothing) {
  ASSERT_EQ(Run("scopes", {"GPUBOUND_DISABLE=1"}), 0);
  EXPECT_THAT(FilesEndingIn(run_, ""), IsEmpty());
  EXPECT_EQ(Said(), "");
}

TEST_F(CoreTest, ACompressedTraceHoldsTheSameEvents) {
  ASSERT_EQ(Run("scopes", {"GPUBOUND_COMPRESSION=zstd"}), 0);
  // Of the thread's events: chunks of a few records are smaller as they are.
  EXPECT_EQ(Trace().Column("SELECT DISTINCT compression FROM chunk WHERE family = 1"),
            std::vector<std::string>{"2"});
  EXPECT_EQ(Events(Trace()), 2000);
  EXPECT_EQ(Trace().ThreadEventsOf(1).size(), 2000u);
}

TEST_F(CoreTest, SegmentsAreSealedWhileTheProgramRuns) {
  ASSERT_EQ(Run("many_scopes", {"GPUBOUND_SEGMENT_BYTES=1048576"}), 0);
  ASSERT_GT(Databases().size(), 1u);
  std::vector<std::string> sealed;
  int64_t events = 0;
  int64_t dropped = 0;  // a seal waits for the disk, and this program does not
  for (const std::string& path : Databases()) {
    const TraceFile trace(path);
    sealed.push_back(trace.Meta("sealed"));
    events += Events(trace);
    dropped = std::max(dropped, trace.LedgerValue(LedgerCounter::scope_events_dropped));
  }
  EXPECT_THAT(sealed, Each("1"));
  EXPECT_EQ(events + dropped, 6'000'000);
}

}  // namespace
}  // namespace gpubound
