// SPDX-License-Identifier: Apache-2.0
//
// Python programs under LD_PRELOAD: the same output, the same status, and every scope of every
// process recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cctype>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/lifecycle/recorded_run.h"
#include "tests/lifecycle/victim_run.h"

namespace gpubound {
namespace {

constexpr int kScopes = 100;  // of one call of work() in python_victim.py

struct PythonLife {
  const char* action;
  int calls;                      // of work(), over all processes
  std::vector<std::string> ends;  // of the processes that recorded, sorted; "" = killed
  int exit_code = 0;
  int signal = 0;
};

void PrintTo(const PythonLife& life, std::ostream* out) { *out << life.action; }

class PythonTest : public VictimRun, public testing::WithParamInterface<PythonLife> {
 protected:
  // Begins and ends of scopes called "python work" in the trace.
  std::pair<int, int> CountScopes() {
    int begins = 0;
    int ends = 0;
    for (const ProcessTrace& process : ReadTrace().processes) {
      EXPECT_TRUE(process.python);
      for (const ThreadTrace& thread : process.threads) {
        for (const ThreadEvent& event : thread.events) {
          if (process.LabelOf(event.label).text != "python work") continue;
          begins += event.kind == SlotKind::kBegin;
          ends += event.kind == SlotKind::kEnd;
        }
      }
    }
    return {begins, ends};
  }
};

TEST_P(PythonTest, BehavesAsBeforeAndIsRecorded) {
  const PythonLife& life = GetParam();
  const std::vector<std::string> command = {GPUBOUND_TEST_PYTHON, GPUBOUND_TEST_PYTHON_VICTIM,
                                            life.action};
  const Outcome plain = RunPlain(command);
  ASSERT_EQ(plain.exit_code, life.signal != 0 ? -1 : life.exit_code) << plain.Describe();
  ASSERT_EQ(plain.signal, life.signal) << plain.Describe();

  const Outcome outcome = Run(command);
  EXPECT_EQ(outcome.exit_code, plain.exit_code) << outcome.Describe();
  EXPECT_EQ(outcome.signal, plain.signal) << outcome.Describe();
  EXPECT_EQ(outcome.out, plain.out);
  EXPECT_EQ(outcome.err, plain.err);

  const int expected = kScopes * life.calls;
  EXPECT_EQ(CountScopes(), std::make_pair(expected, expected));
  EXPECT_THAT(EndsOf(ReadTrace()), testing::ElementsAreArray(life.ends));
}

std::string NameOf(const testing::TestParamInfo<PythonLife>& info) {
  std::string name = info.param.action;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Lives, PythonTest,
    testing::Values(
        PythonLife{"return", 1, {"exit"}}, PythonLife{"exit", 1, {"exit"}, 3},
        PythonLife{"os._exit", 1, {"_exit"}, 4}, PythonLife{"exception", 1, {"exit"}, 1},
        PythonLife{"interrupt", 1, {""}, 0, SIGINT}, PythonLife{"kill", 1, {""}, 0, SIGKILL},
        PythonLife{"fork", 2, {"_exit", "exit"}}, PythonLife{"exec", 2, {"", "exit"}, 3},
        PythonLife{"threads", 8, {"exit"}},
        PythonLife{"multiprocessing fork", 3, {"_exit", "_exit", "exit"}},
        PythonLife{"multiprocessing spawn", 3, {"exit", "exit", "exit"}},
        PythonLife{"multiprocessing forkserver", 3, {"_exit", "_exit", "exit"}},
        PythonLife{"terminated worker", 1, {""}}, PythonLife{"subprocess", 2, {"exit", "exit"}},
        PythonLife{"subprocess with preexec_fn", 2, {"exit", "exit"}},
        PythonLife{"subprocess in a shell", 1, {"exit"}}),
    NameOf);

class PythonPoolTest : public PythonTest {};

// How many of a pool's workers get something to do is the scheduler's choice.
TEST_P(PythonPoolTest, AllWorkIsRecordedWhoeverDoesIt) {
  const Outcome outcome =
      Run({GPUBOUND_TEST_PYTHON, GPUBOUND_TEST_PYTHON_VICTIM, GetParam().action});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(outcome.out, "400 100\n");
  const int expected = kScopes * GetParam().calls;
  EXPECT_EQ(CountScopes(), std::make_pair(expected, expected));
}

INSTANTIATE_TEST_SUITE_P(Lives, PythonPoolTest, testing::Values(PythonLife{"process pool", 5, {}}),
                         NameOf);

// PYTHONPATH as a Python program finds it when it starts.
class PythonHookTest : public VictimRun {
 protected:
  std::string PathOf(const std::string& program, const std::string& options = "") {
    const std::string show = " -c \"import os; print(os.environ.get('PYTHONPATH'))\"";
    return Run({"/bin/sh", "-c", program + " " + options + show}).out;
  }
  // By the ledger of the one process of |command|.
  uint64_t CountUnhooked(const std::vector<std::string>& command) {
    EXPECT_EQ(Run(command).exit_code, 0);
    const std::vector<ProcessTrace> processes = ReadTrace().processes;
    EXPECT_EQ(processes.size(), 1u);
    if (processes.empty()) return UINT64_MAX;
    return processes[0].Counted(LedgerCounter::python_without_extension);
  }
  const std::string python_ = GPUBOUND_TEST_PYTHON;
};

TEST_F(PythonHookTest, WithoutAHookPythonIsLeftAlone) {
  runner()->Unset("PYTHONPATH");
  EXPECT_EQ(PathOf(python_), "None\n");
  runner()->Set("GPUBOUND_PYTHON", "0");
  EXPECT_EQ(PathOf(python_), "None\n");
}

TEST_F(PythonHookTest, TheHooksFolderComesFirst) {
  runner()->Set("GPUBOUND_PYTHON", "/opt/hook");
  runner()->Unset("PYTHONPATH");
  EXPECT_EQ(PathOf(python_), "/opt/hook\n");
  runner()->Set("PYTHONPATH", "");
  EXPECT_EQ(PathOf(python_), "/opt/hook:/opt/hook\n");
  runner()->Set("PYTHONPATH", "/own:/opt/hook");
  EXPECT_EQ(PathOf(python_), "/opt/hook:/own:/opt/hook\n");
}

TEST_F(PythonHookTest, AFolderThatIsFirstAlreadyIsNotPutThereAgain) {
  runner()->Set("GPUBOUND_PYTHON", "/opt/hook");
  runner()->Set("PYTHONPATH", "/opt/hook:/own");
  EXPECT_EQ(PathOf(python_), "/opt/hook:/own\n");
  runner()->Set("PYTHONPATH", "/opt/hooks");
  EXPECT_EQ(PathOf(python_), "/opt/hook:/opt/hooks\n");
}

TEST_F(PythonHookTest, WhoRunsNoHookKeepsItsOwn) {
  runner()->Set("GPUBOUND_PYTHON", "/opt/hook");
  runner()->Set("PYTHONPATH", "/own");
  for (const std::string options : {"-E", "-I", "-S", "-BsE", "-W ignore -E", "-Wignore -I",
                                    "-X dev -S", "--check-hash-based-pycs always -E"}) {
    EXPECT_EQ(PathOf(python_, options), "/own\n") << options;
  }
  for (const std::string options : {"-B", "-W ignore", "-XEIS", "-X utf8 -WIgnore"}) {
    EXPECT_EQ(PathOf(python_, options), "/opt/hook:/own\n") << options;
  }
  EXPECT_EQ(PathOf(python_ + " -c \"import os; print(os.environ.get('PYTHONPATH'))\" -E"),
            "/opt/hook:/own\n");
}

// "complete" it is not, whatever else was recorded.
TEST_F(PythonHookTest, WhoRunsNoHookIsCountedWhereItRecords) {
  runner()->Set("GPUBOUND_PYTHON", "/opt/hook");
  EXPECT_EQ(CountUnhooked({python_, "-E", GPUBOUND_TEST_PYTHON_VICTIM, "return"}), 1u);
}

// As by LD_PRELOAD alone, without gpubound run or gpubound env.
TEST_F(PythonHookTest, WhoNamesNoHookIsCountedToo) {
  EXPECT_EQ(CountUnhooked({python_, GPUBOUND_TEST_PYTHON_VICTIM, "return"}), 1u);
}

TEST_F(PythonHookTest, WhoWantsNoHookIsNot) {
  runner()->Set("GPUBOUND_PYTHON", "0");
  EXPECT_EQ(CountUnhooked({python_, GPUBOUND_TEST_PYTHON_VICTIM, "return"}), 0u);
}

TEST_F(PythonHookTest, WhoRunsTheHookIsNot) {
  runner()->Set("GPUBOUND_PYTHON", "/opt/hook");
  EXPECT_EQ(CountUnhooked({python_, GPUBOUND_TEST_PYTHON_VICTIM, "return"}), 0u);
}

TEST_F(PythonHookTest, OtherProgramsKeepTheirs) {
  runner()->Set("GPUBOUND_PYTHON", "/opt/hook");
  runner()->Set("PYTHONPATH", "/own");
  EXPECT_EQ(Run({"/bin/sh", "-c", "echo $PYTHONPATH"}).out, "/own\n");
}

}  // namespace
}  // namespace gpubound
