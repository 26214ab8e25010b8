// SPDX-License-Identifier: Apache-2.0
//
// Every way in which a process begins and ends, with the real libraries preloaded: the program does
// what it does without them, and its trace agrees with its own account of its scopes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/lifecycle/recorded_run.h"
#include "tests/lifecycle/victim_run.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;

struct Life {
  const char* action;
  std::vector<std::string> ends;  // of its processes, sorted; "" = killed, {"*"} = not fixed
  int exit_code = 0;
  int signal = 0;
};

void PrintTo(const Life& life, std::ostream* out) { *out << life.action; }

class LifecycleTest : public VictimRun, public testing::WithParamInterface<Life> {};

TEST_P(LifecycleTest, LeavesTheProgramAsItWasAndTheTraceComplete) {
  const Life& life = GetParam();
  const Outcome plain = RunPlain({GPUBOUND_TEST_VICTIM, life.action});
  ASSERT_EQ(plain.exit_code, life.signal != 0 ? -1 : life.exit_code) << plain.Describe();
  ASSERT_EQ(plain.signal, life.signal) << plain.Describe();

  const Outcome outcome = RunVictim(life.action);
  EXPECT_EQ(outcome.exit_code, plain.exit_code) << outcome.Describe();
  EXPECT_EQ(outcome.signal, plain.signal) << outcome.Describe();
  EXPECT_EQ(outcome.out, plain.out);
  EXPECT_EQ(outcome.err, plain.err);

  ExpectTraceAgreesWithVictim();
  if (life.ends != std::vector<std::string>{"*"}) {
    EXPECT_THAT(EndsOf(ReadTrace()), ElementsAreArray(life.ends));
    EXPECT_THAT(FilesEndingWith(run_directory(), ".live"),
                SizeIs(std::count(life.ends.begin(), life.ends.end(), "")));
  }
}

// Whatever the interrupted thread held: what the trace then has is what salvaging finds.
class SignalHandlerTest : public VictimRun, public testing::WithParamInterface<const char*> {};

TEST_P(SignalHandlerTest, NeverHangsTheProgram) {
  const Outcome outcome = RunVictim(GetParam());
  EXPECT_FALSE(outcome.hung) << outcome.Describe();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.err, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Signals, SignalHandlerTest,
                         testing::Values("signal handlers leave at any moment",
                                         "signal handlers annotate"));

std::string NameOf(const testing::TestParamInfo<Life>& info) {
  std::string name = info.param.action;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Ends, LifecycleTest,
    testing::Values(
        Life{"return from main", {"exit"}}, Life{"return 3 from main", {"exit"}, 3},
        Life{"exit", {"exit"}, 4}, Life{"_exit", {"_exit"}, 5}, Life{"_Exit", {"_exit"}, 6},
        Life{"quick_exit", {"quick_exit"}, 7}, Life{"abort", {""}, 0, SIGABRT},
        Life{"crash", {""}, 0, SIGSEGV}, Life{"terminate", {""}, 0, SIGABRT},
        Life{"SIGTERM", {""}, 0, SIGTERM}, Life{"SIGINT", {""}, 0, SIGINT},
        Life{"SIGHUP", {""}, 0, SIGHUP}, Life{"SIGKILL", {""}, 0, SIGKILL},
        Life{"return while threads annotate", {"exit"}},
        Life{"_exit while threads annotate", {"_exit"}},
        Life{"return while a thread sits in a scope", {"exit"}},
        Life{"exit from another thread", {"exit"}}, Life{"main thread ends first", {"exit"}},
        Life{"main thread ends first, handlers look at signals", {"exit"}},
        Life{"many threads", {"exit"}}, Life{"more threads than pages", {"exit"}},
        Life{"signal handler leaves", {"*"}, 21},
        Life{"signal handler on a small stack leaves", {"*"}, 22},
        Life{"signal handler exits", {"exit"}, 23}, Life{"atexit handlers annotate", {"exit"}},
        Life{"static destructors annotate", {"exit"}}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Children, LifecycleTest,
    testing::Values(Life{"fork child returns", {"exit", "exit"}},
                    Life{"fork child leaves", {"_exit", "exit"}, 31},
                    Life{"fork child without scopes", {"exit"}, 36},
                    Life{"fork child execs", {"exit", "exit"}, 3},
                    Life{"fork child is killed", {"", "exit"}, 128 + SIGABRT},
                    Life{"fork before the first scope", {"exit", "exit"}},
                    Life{"fork inside a scope", {"exit", "exit"}},
                    Life{"grandchildren", {"exit", "exit", "exit"}},
                    Life{"daemonise", {"_exit", "exit"}}, Life{"fork storm", {"*"}},
                    Life{"fork in many threads", {"*"}}, Life{"_Fork child", {"exit"}, 32},
                    Life{"clone child", {"exit"}, 32}, Life{"vfork then exec", {"exit", "exit"}, 3},
                    Life{"vfork then _exit", {"exit"}, 33},
                    Life{"posix_spawn", {"_exit", "exit"}, 5}, Life{"system", {"exit", "exit"}, 3},
                    Life{"exec in place", {"", "exit"}},
                    Life{"child with its own LD_PRELOAD", {"exit"}, 34},
                    Life{"child with an empty environment", {"exit"}, 35}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(Odd, LifecycleTest,
                         testing::Values(Life{"unload an annotated library", {"exit"}},
                                         Life{"annotate in constructors", {"exit"}},
                                         Life{"start without standard descriptors", {"exit"}},
                                         Life{"use descriptors by number", {"exit"}},
                                         Life{"change the working directory", {"exit"}},
                                         Life{"cancel threads", {"exit"}},
                                         Life{"keep signal mask and handlers", {"exit"}},
                                         Life{"leave scopes open", {"exit"}},
                                         Life{"clear the environment", {"exit"}},
                                         Life{"first scope on the smallest stack", {"exit"}},
                                         Life{"leave a sandbox", {"exit"}},
                                         Life{"end a scope on another thread", {"exit"}}),
                         NameOf);

// What takes the ground from under the recorder may cost the trace, never the program.
class HostileGroundTest : public VictimRun, public testing::WithParamInterface<Life> {};

TEST_P(HostileGroundTest, TheProgramGoesOnWithAtMostOneLineOnStderr) {
  const Outcome outcome = RunVictim(GetParam().action);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, testing::MatchesRegex("(gpubound: [^\n]*\n)?"));
}

INSTANTIATE_TEST_SUITE_P(
    Limits, HostileGroundTest,
    testing::Values(Life{"close every descriptor", {}}, Life{"limit the file size", {}},
                    Life{"limit the descriptors", {}}, Life{"take every thread-specific key", {}},
                    Life{"forbid the time stamp counter", {}}, Life{"limit the memory", {}},
                    Life{"remove the run directory", {}}),
    NameOf);

class RunDirectoryTest : public VictimRun {};

TEST_F(RunDirectoryTest, IsPrivateToItsOwner) {
  RunVictim("SIGKILL");
  EXPECT_EQ(fs::status(run_directory()).permissions(), fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(run_directory())) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write)
        << entry.path();
  }
}

TEST_F(RunDirectoryTest, IsNotMadeByAProgramWithoutScopes) {
  Run({"/bin/true"});
  EXPECT_FALSE(fs::exists(run_directory()));
}

TEST_F(RunDirectoryTest, ThatCannotBeMadeCostsOneLineAndNothingElse) {
  runner()->Set("GPUBOUND_RUN", "/proc/no/such.gpubound");
  const Outcome outcome = RunVictim("return 3 from main");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, testing::MatchesRegex("gpubound: [^\n]*/proc/no/such[^\n]*\n"));
}

TEST_F(RunDirectoryTest, TwoProcessesWithOnePidAreTwoRecords) {
  RunVictim("exec in place");
  const gpubound::Run run = ReadTrace();
  ASSERT_THAT(run.processes, SizeIs(2));
  EXPECT_EQ(run.processes[0].identity.pid, run.processes[1].identity.pid);
  EXPECT_LT(run.processes[0].identity.start_realtime_ns,
            run.processes[1].identity.start_realtime_ns);
}

TEST_F(RunDirectoryTest, AForkChildBeginsAtItsForkAndNamesItsParent) {
  const Outcome outcome = RunVictim("fork child returns");
  const gpubound::Run run = ReadTrace();
  ASSERT_THAT(run.processes, SizeIs(2));
  const bool first_is_parent = run.processes[0].identity.pid == outcome.pid;
  const ProcessTrace& parent = run.processes[first_is_parent ? 0 : 1];
  const ProcessTrace& child = run.processes[first_is_parent ? 1 : 0];
  EXPECT_EQ(child.parent_pid, parent.identity.pid);
  EXPECT_GT(child.span_begin_ns, parent.span_begin_ns);
  EXPECT_LT(child.span_end_ns, parent.span_end_ns);
}

TEST_F(RunDirectoryTest, AScopeAroundAForkIsTheParentsAndItsEndInTheChildIsExpected) {
  RunVictim("fork inside a scope");
  for (const ProcessTrace& process : ReadTrace().processes) {
    EXPECT_EQ(process.Counted(LedgerCounter::unbalanced_scopes), 0u);
  }
}

TEST_F(RunDirectoryTest, AScopeThatEndsOnAnotherThreadIsCountedAndEndsNothingThere) {
  RunVictim("end a scope on another thread");
  const gpubound::Run run = ReadTrace();
  ASSERT_THAT(run.processes, SizeIs(1));
  EXPECT_EQ(run.processes[0].Counted(LedgerCounter::unbalanced_scopes), 1u);
}

TEST_F(RunDirectoryTest, SaysOfAChildThatCouldNotBeRecordedThatItAndWhy) {
  for (const char* action : {"_Fork child", "clone child"}) {
    const Outcome outcome = RunVictim(action);
    EXPECT_THAT(FilesEndingWith(run_directory(), ".unrecorded"), SizeIs(1)) << action;
    gpubound::Run run = ReadTrace();
    EXPECT_EQ(run.Count(LedgerCounter::processes_unrecorded), 1u) << action;
    EXPECT_THAT(run.problems, testing::Contains(testing::HasSubstr("without fork handlers")));
  }
}

TEST_F(RunDirectoryTest, GpuboundDisableRecordsNothing) {
  runner()->Set("GPUBOUND_DISABLE", "1");
  EXPECT_EQ(RunVictim("fork child leaves").exit_code, 31);
  EXPECT_FALSE(fs::exists(run_directory()));
}

TEST_F(RunDirectoryTest, GpuboundLibraryIsEnoughForAnAnnotatedProgram) {
  runner()->Set("GPUBOUND_LIBRARY", GPUBOUND_TEST_SHIM);
  const Outcome outcome = RunPlain({GPUBOUND_TEST_VICTIM, "return from main"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(outcome.err, "");
  ExpectTraceAgreesWithVictim();
}

#ifdef GPUBOUND_TEST_VICTIM_OF_THREAD
TEST_F(RunDirectoryTest, AProgramOfTheThreadSanitizerEndsWithoutAReport) {
  const Outcome outcome = Run({GPUBOUND_TEST_VICTIM_OF_THREAD});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(ReadTrace().processes, SizeIs(1));
}
#endif

#ifdef GPUBOUND_TEST_VICTIM_OF_ADDRESS
TEST_F(RunDirectoryTest, AProgramOfTheAddressSanitizerEndsWithoutAReport) {
  runner()->Set("ASAN_OPTIONS", "verify_asan_link_order=0");  // as `gpubound run` does
  const Outcome outcome = Run({GPUBOUND_TEST_VICTIM_OF_ADDRESS});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(ReadTrace().processes, SizeIs(1));
}
#endif

}  // namespace
}  // namespace gpubound
