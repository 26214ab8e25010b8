// SPDX-License-Identifier: Apache-2.0
//
// What annotations call in the table of an injected collector.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gpubound/annotate.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/annotate/fake_collector.h"
#include "tests/annotate/users.h"

namespace gpubound {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class AnnotateTest : public testing::Test {
 protected:
  AnnotateTest() {
    FakeCollector::Reset();
    LookAgain();
  }

  // As in a process that has not annotated yet; call sites used before keep what they know.
  static void LookAgain() {
    gpubound_table_word_ = GPUBOUND_TABLE_UNKNOWN_;
    memset(gpubound_names_, 0, sizeof(gpubound_names_));
  }
  static std::vector<std::string> Calls() { return FakeCollector::Take(); }
};

TEST_F(AnnotateTest, AScopeOpensAndClosesAtTheEndsOfItsBlock) {
  {
    GPUBOUND_OPERATION("inference");
    EXPECT_THAT(Calls(), ElementsAre("begin operation inference"));
  }
  EXPECT_THAT(Calls(), ElementsAre("end operation inference"));
}

TEST_F(AnnotateTest, TwoScopesOnOneLineNest) {
  // clang-format off
  { GPUBOUND_OPERATION("outer"); GPUBOUND_OPERATION("inner"); }
  // clang-format on
  EXPECT_THAT(Calls(), ElementsAre("begin operation outer", "begin operation inner",
                                   "end operation inner", "end operation outer"));
}

TEST_F(AnnotateTest, TheBranchesOfAnIfWithoutBracesHoldOneAnnotation) {
  for (const bool first : {true, false}) {
    if (first)
      GPUBOUND_PHASE("first");
    else
      GPUBOUND_COUNTER("second", 2);
  }
  EXPECT_THAT(Calls(), ElementsAre("phase first", "counter second 2"));
}

TEST_F(AnnotateTest, ACallSiteAsksForItsLabelOnce) {
  for (int i = 0; i < 1000; ++i) {
    GPUBOUND_OPERATION("often");
  }
  EXPECT_THAT(Calls(), SizeIs(2000));
  EXPECT_EQ(FakeCollector::label_requests(), 1);
  EXPECT_EQ(FakeCollector::lookups(), 1);
}

TEST_F(AnnotateTest, CFilesHaveTheSameMacros) {
  CUsesEveryMacro(5);
  EXPECT_THAT(
      Calls(),
      ElementsAre("begin operation CUsesEveryMacro", "phase c-phase", "begin operation c-operation",
                  "begin layer(4) simulator", "begin annotation c-annotation",
                  "end annotation c-annotation", "end layer(4) simulator",
                  "end operation c-operation", "begin operation c-begin", "begin layer(5) backend",
                  "end layer(5) backend", "end operation c-begin", "counter c-counter 5", "step 5",
                  "end operation CUsesEveryMacro"));
}

TEST_F(AnnotateTest, CFunctionsTakeNamesKnownAtRunTime) {
  const std::string name = "run " + std::to_string(7);
  CUsesEveryFunction(name.c_str());
  EXPECT_THAT(Calls(),
              ElementsAre("begin operation run 7", "begin annotation run 7", "end annotation run 7",
                          "phase run 7", "counter run 7 0.5", "step 4", "hand over", "adopt 77",
                          "drop 77", "wake 5", "woken 5", "found 5", "counter progress_done 3",
                          "counter progress_total 10", "counter role:rollout 1",
                          "ledger - 0 metadata seed \\\"1\\\" = \"a\\\\b\\u000a\xc3\xa4\"", "pause",
                          "resume", "end operation run 7"));
}

TEST_F(AnnotateTest, AReturnFromInsideCScopesClosesThem) {
  EXPECT_EQ(CReturnsFromInsideAScope(0), 0);
  EXPECT_THAT(Calls(), ElementsAre("begin operation c-outer", "begin operation c-inner",
                                   "end operation c-inner", "end operation c-outer"));
}

TEST_F(AnnotateTest, Cpp17WithoutExceptionsHasTheSameMacros) {
  Cpp17UsesEveryMacro(6);
  EXPECT_THAT(Calls(),
              ElementsAre("begin operation Cpp17UsesEveryMacro", "phase cpp-phase",
                          "begin operation cpp-operation", "begin layer(2) wait",
                          "begin annotation cpp-annotation", "end annotation cpp-annotation",
                          "end layer(2) wait", "end operation cpp-operation",
                          "counter cpp-counter 6", "step 6", "end operation Cpp17UsesEveryMacro"));
}

TEST_F(AnnotateTest, ObjectsTakeNamesKnownAtRunTime) {
  Cpp17UsesEveryClass("named");
  EXPECT_THAT(Calls(),
              ElementsAre("begin operation named", "begin annotation named", "hand over",
                          "adopt 77", "phase named", "phase scoped", "counter named 2.5",
                          "counter progress_done 3", "counter progress_total 10",
                          "ledger - 0 metadata algorithm = \"\"", "pause", "resume", "phase named",
                          "drop 77", "end annotation named", "end operation named"));
}

constexpr int Halved(int value) {
  GPUBOUND_FUNCTION();
  GPUBOUND_STEP(value);
  return value / 2;
}

TEST_F(AnnotateTest, AConstexprFunctionRecordsWhereItRuns) {
  static_assert(Halved(4) == 2);
  const volatile int value = 2;
  EXPECT_EQ(Halved(value), 1);
  EXPECT_EQ(Cpp17RunsAConstexprFunction(value), 4);
  EXPECT_THAT(Calls(), ElementsAre("begin operation Halved", "step 2", "end operation Halved",
                                   "begin operation cpp-doubled", "begin annotation cpp-large",
                                   "end annotation cpp-large", "end operation cpp-doubled"));
}

TEST_F(AnnotateTest, MetadataThatIsTooLongIsCut) {
  gpubound_metadata(std::string(5000, 'n').c_str(), std::string(5000, '"').c_str());
  const std::vector<std::string> calls = Calls();
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_LE(calls[0].size(), 2100u);
  EXPECT_THAT(calls[0], testing::EndsWith("\\\"\""));
}

TEST_F(AnnotateTest, TheEndOfAScopedPhaseRestoresThePhaseBefore) {
  const ScopedPhase training("training");
  const ScopedPhase first(nullptr);
  { const ScopedPhase evaluation(std::string("evaluation")); }
  EXPECT_THAT(Calls(), ElementsAre("phase training", "phase ", "phase evaluation", "phase "));
}

TEST_F(AnnotateTest, TheEndOfTheFirstScopedPhaseLeavesNoPhase) {
  { const ScopedPhase phase("rollout"); }
  EXPECT_THAT(Calls(), ElementsAre("phase rollout", "phase (no phase)"));
}

TEST_F(AnnotateTest, AScopedPhaseOfAnOlderCollectorHoldsUntilTheNext) {
  FakeCollector::SetTableSize(offsetof(gpubound_api, current_phase));
  { const ScopedPhase phase("rollout"); }
  EXPECT_THAT(Calls(), ElementsAre("phase rollout"));
}

TEST_F(AnnotateTest, ANameSeenBeforeIsNotAskedForAgain) {
  for (int i = 0; i < 100; ++i) {
    const Operation first(std::string("policy"));
    const Operation second(std::string("value"));
  }
  EXPECT_EQ(FakeCollector::label_requests(), 2);
}

TEST_F(AnnotateTest, TheSameTextOfDifferentKindsIsDifferentLabels) {
  Phase("update");
  Counter("update", 1);
  const Operation scope("update");
  EXPECT_THAT(Calls(), ElementsAre("phase update", "counter update 1", "begin operation update"));
}

TEST_F(AnnotateTest, MoreNamesThanTheCacheHoldsAreAllRight) {
  constexpr int kNames = 4 * GPUBOUND_NAME_ENTRIES_;
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < kNames; ++i) Counter("name" + std::to_string(i), i);
  }
  const std::vector<std::string> calls = Calls();
  ASSERT_THAT(calls, SizeIs(2 * kNames));
  for (int i = 0; i < 2 * kNames; ++i) {
    const std::string number = std::to_string(i % kNames);
    EXPECT_EQ(calls[static_cast<size_t>(i)], "counter name" + number + " " + number);
  }
}

TEST_F(AnnotateTest, NamesAroundTheCachedLengthAreKeptWhole) {
  for (size_t length = GPUBOUND_NAME_BYTES_ - 1; length <= GPUBOUND_NAME_BYTES_ + 1; ++length) {
    Phase(std::string(length, 'n'));
    Phase(std::string(length, 'n'));
    EXPECT_THAT(Calls(), ElementsAre("phase " + std::string(length, 'n'),
                                     "phase " + std::string(length, 'n')));
  }
}

TEST_F(AnnotateTest, NamesMayBeEmptyOrHoldAnyByte) {
  Phase("");
  Phase(std::string_view());
  Phase(std::string_view("a\0b", 3));
  EXPECT_THAT(Calls(), ElementsAre("phase ", "phase ", std::string("phase a\0b", 9)));
}

// As getenv() gives it for what is not set.
void AnnotateWithNullNames() {
  const char* const none = nullptr;
  gpubound_phase(none);
  gpubound_end(gpubound_begin_operation(none));
  gpubound_counter(none, 1);
  Phase(none);
  Operation operation(none);
  Annotation annotation(none);
  Counter(none, 2);
}

TEST_F(AnnotateTest, ANullNameIsAnEmptyOne) {
  AnnotateWithNullNames();
  EXPECT_THAT(Calls(), ElementsAre("phase ", "begin operation ", "end operation ", "counter  1",
                                   "phase ", "begin operation ", "begin annotation ", "counter  2",
                                   "end annotation ", "end operation "));
}

TEST_F(AnnotateTest, ANullNameIsNotReadWhereNobodyRecords) {
  FakeCollector::Withdraw();
  AnnotateWithNullNames();
  EXPECT_THAT(Calls(), IsEmpty());
}

TEST_F(AnnotateTest, AnExceptionClosesTheScopesItLeaves) {
  try {
    GPUBOUND_OPERATION("throws");
    throw std::runtime_error("expected");
  } catch (const std::runtime_error&) {
    GPUBOUND_OPERATION("catches");
  }
  EXPECT_THAT(Calls(), ElementsAre("begin operation throws", "end operation throws",
                                   "begin operation catches", "end operation catches"));
}

TEST_F(AnnotateTest, ADestructorThatRunsDuringUnwindingMayHoldAScope) {
  struct Closes {
    ~Closes() { GPUBOUND_OPERATION("closes"); }
  };
  EXPECT_THROW(
      {
        const Closes closes;
        throw std::runtime_error("expected");
      },
      std::runtime_error);
  EXPECT_THAT(Calls(), ElementsAre("begin operation closes", "end operation closes"));
}

TEST_F(AnnotateTest, ScopesWorkInNoexceptFunctionsAndLambdas) {
  const auto work = []() noexcept { GPUBOUND_OPERATION("lambda"); };
  static_assert(noexcept(work())&& noexcept(Operation(std::string_view())));
  work();
  EXPECT_THAT(Calls(), ElementsAre("begin operation lambda", "end operation lambda"));
}

void OpenSharedScope() { GPUBOUND_OPERATION("shared"); }

TEST_F(AnnotateTest, ThreadsThatMeetAtOneCallSiteAllRecord) {
  constexpr int kThreads = 8;
  constexpr int kScopes = 200;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      for (int scope = 0; scope < kScopes; ++scope) {
        OpenSharedScope();
        const Annotation named("thread " + std::to_string(scope % 10));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> calls = Calls();
  EXPECT_THAT(calls, SizeIs(4 * kThreads * kScopes));
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "begin operation shared"), kThreads * kScopes);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "end annotation thread 9"),
            kThreads * kScopes / 10);
}

void ScopeOfParentAndChild() { GPUBOUND_OPERATION("forked"); }

TEST_F(AnnotateTest, AForkChildUsesTheLabelsOfItsParent) {
  ScopeOfParentAndChild();
  Calls();
  const int requests = FakeCollector::label_requests();
  const pid_t child = fork();
  if (child == 0) {
    ScopeOfParentAndChild();
    const bool same =
        FakeCollector::label_requests() == requests &&
        Calls() == std::vector<std::string>{"begin operation forked", "end operation forked"};
    _exit(same ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(AnnotateTest, ArgumentsAreEvaluatedOnce) {
  int steps = 0;
  GPUBOUND_COUNTER("evaluated", ++steps);
  GPUBOUND_STEP(++steps);
  EXPECT_THAT(Calls(), ElementsAre("counter evaluated 1", "step 2"));
}

TEST_F(AnnotateTest, ErrnoSurvivesTheFirstLook) {
  errno = EAGAIN;
  GPUBOUND_OPERATION("errno");
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(AnnotateTest, AThreadSaysWhomItWakesAndWhatWokeIt) {
  gpubound_wake(5);
  gpubound_woken(6);
  gpubound_found(7);
  EXPECT_THAT(Calls(), ElementsAre("wake 5", "woken 6", "found 7"));
}

TEST_F(AnnotateTest, AWithdrawnCollectorMakesEveryAnnotationANoOp) {
  FakeCollector::Withdraw();
  int steps = 0;
  GPUBOUND_OPERATION("withdrawn");
  const Operation named("withdrawn");
  GPUBOUND_PHASE("withdrawn");
  GPUBOUND_COUNTER("withdrawn", ++steps);
  GPUBOUND_STEP(++steps);
  const AdoptedOperation adopted(gpubound_hand_over());
  gpubound_wake(1);
  gpubound_woken(1);
  gpubound_found(1);
  EXPECT_THAT(Calls(), IsEmpty());
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(FakeCollector::lookups(), 1);
}

TEST_F(AnnotateTest, ATableThatEndsAfterTheScopesServesScopesOnly) {
  FakeCollector::SetTableSize(offsetof(gpubound_api, phase));
  {
    GPUBOUND_OPERATION("short table");
    GPUBOUND_PHASE("short table");
    GPUBOUND_COUNTER("short table", 1);
    GPUBOUND_STEP(1);
    Phase("short table");
    EXPECT_EQ(gpubound_hand_over(), 0u);
    gpubound_adopt(77);
    gpubound_drop(77);
    gpubound_wake(77);
    gpubound_woken(77);
    gpubound_found(77);
    gpubound_metadata("short", "table");
    gpubound_pause();
    gpubound_resume();
  }
  EXPECT_THAT(Calls(), ElementsAre("begin operation short table", "end operation short table"));
}

TEST_F(AnnotateTest, AFieldThatIsCutOffIsNotRead) {
  FakeCollector::SetTableSize(offsetof(gpubound_api, step) + 1);
  GPUBOUND_PHASE("half a field");
  GPUBOUND_STEP(9);
  EXPECT_THAT(Calls(), ElementsAre("phase half a field"));
}

TEST_F(AnnotateTest, ATableWithoutScopesIsNotUsed) {
  FakeCollector::SetTableSize(offsetof(gpubound_api, end));
  GPUBOUND_OPERATION("no scopes");
  GPUBOUND_STEP(1);
  EXPECT_THAT(Calls(), IsEmpty());
}

TEST_F(AnnotateTest, ATableOfAnotherVersionIsNotUsed) {
  FakeCollector::SetVersion(GPUBOUND_API_VERSION + 1);
  GPUBOUND_OPERATION("other version");
  GPUBOUND_STEP(1);
  EXPECT_THAT(Calls(), IsEmpty());
}

TEST_F(AnnotateTest, ALongerTableIsUsed) {
  FakeCollector::SetTableSize(sizeof(gpubound_api) + 64);
  GPUBOUND_STEP(3);
  EXPECT_THAT(Calls(), ElementsAre("step 3"));
}

TEST_F(AnnotateTest, FilesWithGpuboundDisableEvaluateArgumentsAndCallNothing) {
  EXPECT_EQ(DisabledCUsesEverything(), 2);
  EXPECT_EQ(DisabledCppUsesEverything(), 3);
  EXPECT_THAT(Calls(), IsEmpty());
  EXPECT_EQ(FakeCollector::lookups(), 0);
}

TEST_F(AnnotateTest, AnAnnotatedLibraryCanBeUnloaded) {
  void* plugin = dlopen(GPUBOUND_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(plugin, nullptr) << dlerror();
  reinterpret_cast<void (*)()>(dlsym(plugin, "UsePlugin"))();
  EXPECT_THAT(Calls(),
              ElementsAre("begin operation plugin-inline", "end operation plugin-inline",
                          "begin operation plugin-template", "begin operation plugin-named",
                          "end operation plugin-named", "end operation plugin-template"));
  ASSERT_EQ(dlclose(plugin), 0);
  EXPECT_EQ(dlopen(GPUBOUND_TEST_PLUGIN, RTLD_NOW | RTLD_NOLOAD), nullptr);
}

}  // namespace
}  // namespace gpubound
