// SPDX-License-Identifier: Apache-2.0
//
// Real training programs that nobody edited, on CPU, with and without the profiler: the same
// weights from the same seed, every iteration seen, and nearly all time between the first and the
// last one inside a named operation. Each test prints the row of docs/results/frameworks.md that it
// measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

struct Program {
  std::string name;
  std::vector<std::string> words;  // script and arguments
  int iterations;                  // turns of its training loop
  std::set<std::string> operations;
  int processes = 1;  // that record something
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

// The part of a thread's time between the first and the last step that is inside operations.
struct Coverage {
  int64_t steps = 0;
  int64_t between_ns = 0;
  int64_t named_ns = 0;
  double share() const {
    return between_ns == 0 ? 0 : static_cast<double>(named_ns) / static_cast<double>(between_ns);
  }
};

std::vector<int64_t> StepTimes(const ThreadTrace& thread) {
  std::vector<int64_t> times;
  for (const ThreadEvent& event : thread.events) {
    if (event.kind == SlotKind::kStep) times.push_back(event.time_ns);
  }
  return times;
}

Coverage CoverageOf(const ProcessTrace& process, const ThreadTrace& thread) {
  Coverage coverage;
  const std::vector<int64_t> steps = StepTimes(thread);
  if (steps.empty()) return coverage;
  coverage.steps = static_cast<int64_t>(steps.size());
  coverage.between_ns = steps.back() - steps.front();
  const auto clipped = [&](int64_t time_ns) {
    return std::clamp(time_ns, steps.front(), steps.back());
  };
  int open = 0;
  int64_t since_ns = 0;
  for (const ThreadEvent& event : thread.events) {
    if (process.LabelOf(event.label).kind != LabelKind::kOperation) continue;
    if (event.kind == SlotKind::kBegin && open++ == 0) since_ns = event.time_ns;
    if (event.kind == SlotKind::kEnd && --open == 0) {
      coverage.named_ns += clipped(event.time_ns) - clipped(since_ns);
    }
  }
  return coverage;
}

// CPU time of the main process in its training loop, which a busy machine changes little.
double Seconds(const Outcome& outcome) { return std::strtod(outcome.err.c_str(), nullptr); }

class FrameworksTest : public CommandRun, public testing::WithParamInterface<Program> {
 protected:
  FrameworksTest() {
    runner().SetDeadlineSeconds(600);
    runner().Unset("PYTHONPATH");
    for (const std::string& word : GetParam().words) command_.push_back(word);
    if (command_[1][0] != '/') command_[1] = std::string(GPUBOUND_TEST_PROGRAMS "/") + command_[1];
  }

  Outcome RunProfiled() {
    std::vector<std::string> words = {"run", "-q", "-o", run_path(), "--"};
    words.insert(words.end(), command_.begin(), command_.end());
    return Gpubound(words);
  }
  std::set<std::string> OperationsOf(const ProcessTrace& process) {
    std::set<std::string> names;
    for (const Label& label : process.labels) {
      if (label.kind == LabelKind::kOperation && label.text != "(other names)") {
        names.insert(label.text);
      }
    }
    return names;
  }
  const ProcessTrace* Root(const gpubound::Run& run) {
    for (const ProcessTrace& process : run.processes) {
      if (run.info && process.identity.pid == run.info->root_pid) return &process;
    }
    return nullptr;
  }

  // Of the root's time inside operations, the part that is simulation.
  double SimulationShare() {
    const Json report = Report();
    double simulation = 0;
    double all = 0;
    for (const Json& process : report["processes"]) {
      if (process["pid"] != report["run"]["root"]) continue;
      for (const Json& row : process["operations"]) {
        if (row["operation"] == "(no operation)") continue;
        all += row["wall_ns"].get<double>();
        if (row["operation"] == "simulation") simulation = row["wall_ns"].get<double>();
      }
    }
    return all == 0 ? 0 : simulation / all;
  }

  std::vector<std::string> command_ = {GPUBOUND_TEST_FRAMEWORKS_PYTHON};
};

TEST_P(FrameworksTest, LearnsTheSameAndNearlyAllOfItsTimeHasAName) {
  const Outcome plain = runner().Run(command_);
  ASSERT_EQ(plain.exit_code, 0) << plain.Describe();
  const Outcome profiled = RunProfiled();
  ASSERT_EQ(profiled.exit_code, 0) << profiled.Describe();
  EXPECT_EQ(profiled.out, plain.out) << "other weights than without the profiler";

  const gpubound::Run run = Load();
  const ProcessTrace* root = Root(run);
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(run.processes.size(), static_cast<size_t>(GetParam().processes));
  EXPECT_EQ(root->Counted(LedgerCounter::hooks_failed), 0u);
  Coverage coverage;
  for (const ThreadTrace& thread : root->threads) {
    if (thread.tid == root->main_tid) coverage = CoverageOf(*root, thread);
  }
  EXPECT_EQ(coverage.steps, GetParam().iterations);
  EXPECT_GE(coverage.share(), 0.95);
  const std::set<std::string> found = OperationsOf(*root);
  for (const std::string& operation : GetParam().operations) {
    EXPECT_TRUE(found.contains(operation)) << operation;
  }
  std::printf("| %s | %lld | %.1f %% | %.2f s | %.2f s | %.1f %% |\n", GetParam().name.c_str(),
              static_cast<long long>(coverage.steps), 100 * coverage.share(), Seconds(plain),
              Seconds(profiled), 100 * SimulationShare());
}

class SimulatedCallsTest : public CommandRun {
 protected:
  SimulatedCallsTest() {
    runner().SetDeadlineSeconds(600);
    runner().Unset("PYTHONPATH");
  }
};

TEST_F(SimulatedCallsTest, CallsBetweenTheWorkOfPyTorchAreRecordedAndTimed) {
  const std::string python = GPUBOUND_TEST_FRAMEWORKS_PYTHON;
  std::vector<std::string> plain = {python};
  std::vector<std::string> profiled = {
      "run", "-q", "-o", run_path(), "--", python, GPUBOUND_TEST_PROGRAMS "/simulated_calls.py"};
  for (const char* word :
       {GPUBOUND_TEST_PROGRAMS "/sb3_training.py", "A2C", "CartPole-v1", "640", "1"}) {
    plain.emplace_back(word);
    profiled.emplace_back(word);
  }
  const Outcome alone = runner().Run(plain);
  const Outcome outcome = Gpubound(profiled);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(outcome.out, alone.out) << "other weights than without CUDA calls";
  const gpubound::Run run = Load();
  ASSERT_EQ(run.processes.size(), 1u);
  size_t calls = 0;
  for (const ThreadTrace& thread : run.processes[0].threads) calls += thread.calls.size();
  EXPECT_GT(calls, 640u);
  uint64_t timed = 0;
  for (const CallEntries& entries : run.processes[0].call_entries) {
    if (entries.function == "cudaLaunchKernel") timed += entries.behind_work.calls;
  }
  EXPECT_GT(timed, 640 / 23u) << "one of 8 to 23 calls";
}

class SimulatorsTest : public CommandRun {
 protected:
  // Calls of |name| that were recorded in layer simulator.
  static int CallsOf(const ProcessTrace& process, const std::string& name) {
    int calls = 0;
    for (const ThreadTrace& thread : process.threads) {
      for (const ThreadEvent& event : thread.events) {
        const Label& label = process.LabelOf(event.label);
        calls += event.kind == SlotKind::kBegin && label.layer == Layer::kSimulator &&
                 label.text == name;
      }
    }
    return calls;
  }
};

TEST_F(SimulatorsTest, NativeStepsAreTheirLayer) {
  runner().Unset("PYTHONPATH");
  const Outcome outcome =
      Profile({GPUBOUND_TEST_FRAMEWORKS_PYTHON, GPUBOUND_TEST_PROGRAMS "/simulators.py", "100"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const gpubound::Run run = Load();
  ASSERT_EQ(run.processes.size(), 1u);
  EXPECT_EQ(CallsOf(run.processes[0], "ALEInterface.act"), 100);
  EXPECT_EQ(CallsOf(run.processes[0], "mujoco.mj_step"), 100);
  EXPECT_EQ(run.processes[0].Counted(LedgerCounter::hooks_failed), 0u);
}

class WorkersTest : public CommandRun {
 protected:
  WorkersTest() {
    runner().SetDeadlineSeconds(600);
    runner().Set("PYTHONPATH", GPUBOUND_TEST_PACKAGE);  // for programs that import gpubound
  }

  // Runs |words| with and without the profiler, which must print the same.
  void Compare(std::vector<std::string> words) {
    if (words[0][0] != '/') words[0] = std::string(GPUBOUND_TEST_PROGRAMS "/") + words[0];
    words.insert(words.begin(), GPUBOUND_TEST_FRAMEWORKS_PYTHON);
    const Outcome plain = runner().Run(words);
    ASSERT_EQ(plain.exit_code, 0) << plain.Describe();
    words.insert(words.begin(), {"run", "-q", "-o", run_path(), "--"});
    const Outcome profiled = Gpubound(words);
    ASSERT_EQ(profiled.exit_code, 0) << profiled.Describe();
    EXPECT_EQ(profiled.out, plain.out);
  }
  // How many workers the root waited for under |operation|.
  size_t WorkersAwaited(const std::string& operation) {
    const Json report = Report();
    std::set<int64_t> pids;
    for (const Json& process : report["processes"]) {
      if (process["pid"] != report["run"]["root"]) continue;
      std::set<int64_t> workers;
      for (const Json& awaited : process["awaited"]) {
        if (awaited["worker"]) workers.insert(awaited["pid"].get<int64_t>());
      }
      for (const Json& wait : process["waits"]) {
        if (wait["operation"] != operation) continue;
        for (const Json& pid : wait["pids"]) {
          if (workers.contains(pid)) pids.insert(pid.get<int64_t>());
        }
      }
    }
    return pids.size();
  }
  // The report on one line.
  std::string Text() {
    std::istringstream words(Gpubound({"report", run_path()}).out);
    std::string text;
    for (std::string word; words >> word;) text += word + " ";
    return text;
  }
};

TEST_F(WorkersTest, VectorEnvironmentsAreWaitedForAsSimulation) {
  for (const char* method : {"fork", "spawn", "forkserver"}) {
    SCOPED_TRACE(method);
    std::filesystem::remove_all(run_path());
    Compare({"vector_environments.py", "4", "200", method});
    EXPECT_EQ(WorkersAwaited("simulation"), 4u);
    EXPECT_NE(Text().find("for simulation in 4 workers: "), std::string::npos) << Text();
  }
}

TEST_F(WorkersTest, DataLoaderWorkersAreNamed) {
  for (const char* method : {"fork", "spawn"}) {
    SCOPED_TRACE(method);
    std::filesystem::remove_all(run_path());
    Compare({"data_loader.py", method});
    EXPECT_EQ(WorkersAwaited("(no operation)"), 2u);
  }
}

TEST_F(WorkersTest, RayActorsAreRecordedUnderTheirMethods) {
  Compare({GPUBOUND_TEST_EXAMPLES "/ray_rollouts.py", "3"});
  const Json report = Report();
  int actors = 0;
  for (const Json& process : report["processes"]) {
    const Json play = RowOf(process, "play");
    if (play.is_null()) continue;
    ++actors;
    EXPECT_EQ(play["count"], 3);
    EXPECT_FALSE(RowOf(process, "simulation").is_null());
  }
  EXPECT_EQ(actors, 2);
  EXPECT_EQ(WorkersAwaited("rollout"), 2u);
}

TEST_F(WorkersTest, RayTasksAreNamedAndWaitedFor) {
  Compare({"ray_tasks.py", "20"});
  const Json report = Report();
  int64_t tasks = 0;
  int64_t evaluations = 0;
  size_t workers = 0;
  for (const Json& process : report["processes"]) {
    const Json sampled = RowOf(process, "sample_episodes");
    const Json evaluated = RowOf(process, "evaluate");
    workers += !sampled.is_null() || !evaluated.is_null();
    if (!sampled.is_null()) tasks += sampled["count"].get<int64_t>();
    if (!evaluated.is_null()) evaluations += evaluated["count"].get<int64_t>();
    if (process["pid"] == report["run"]["root"]) {
      EXPECT_EQ(process["iterations"]["count"], 18) << "19 of which the first is warm-up";
    }
  }
  EXPECT_EQ(tasks, 40);
  EXPECT_EQ(evaluations, 20);
  EXPECT_GE(workers, 2u);
  EXPECT_GE(WorkersAwaited("update"), workers) << "and services that shutdown() waits for";
}

TEST_F(WorkersTest, ALearnerWaitsForItsActors) {
  Compare({"learners.py", "actors", "300", "2"});
  EXPECT_EQ(WorkersAwaited("update"), 2u);
}

std::string NameOf(const testing::TestParamInfo<Program>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

const std::set<std::string> kOnPolicy = {"rollout",   "update",          "simulation",
                                         "inference", "backpropagation", "optimizer"};

Program Sb3(const std::string& algorithm, const std::string& environment, int steps,
            int iterations) {
  return {algorithm + " " + environment,
          {"sb3_training.py", algorithm, environment, std::to_string(steps), "1"},
          iterations,
          kOnPolicy};
}

INSTANTIATE_TEST_SUITE_P(
    OnCpu, FrameworksTest,
    testing::Values(Sb3("PPO", "CartPole-v1", 4096, 8), Sb3("A2C", "CartPole-v1", 3200, 50),
                    Sb3("DQN", "CartPole-v1", 4000, 1000), Sb3("SAC", "Pendulum-v1", 500, 500),
                    Sb3("TD3", "Pendulum-v1", 500, 500), Sb3("PPO", "InvertedPendulum-v5", 2048, 4),
                    Program{"PPO CartPole-v1, 4 workers",
                            {"sb3_training.py", "PPO", "CartPole-v1", "8192", "4"},
                            4,
                            kOnPolicy,
                            5},
                    Program{"single-file PPO CartPole-v1",
                            {GPUBOUND_TEST_EXAMPLES "/cleanrl_style_ppo.py", "20"},
                            20,
                            kOnPolicy},
                    Program{"jitted JAX PPO CartPole",
                            {GPUBOUND_TEST_EXAMPLES "/jax_ppo.py", "20"},
                            20,
                            {"train_step"}},
                    Program{"offline learner, evaluated twice",
                            {"learners.py", "offline", "3000", "1500"},
                            2999,
                            kOnPolicy},
                    Program{"learner with two actors",
                            {"learners.py", "actors", "300", "2"},
                            299,
                            {"update", "backpropagation", "optimizer"},
                            3}),
    NameOf);

}  // namespace
}  // namespace gpubound
