// SPDX-License-Identifier: Apache-2.0
//
// Predictions for GPUs that move from one role to another, against a run that really has them there:
// the same work in other shares.
#include "analysis/correction/move_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/correction/span_ratio.h"
#include "analysis/replay/replay.h"
#include "analysis/report/main_process.h"
#include "tests/sim/replayed_threads.h"

namespace gpubound::sim {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kIterations = 100;
constexpr uint32_t kUnits =
    120;  // of work in an iteration, of either role; 1 to 6 processes share it

// Learners and actors, a process and a GPU each. Actors make the samples of an iteration while the
// learners wait for them or, one step off, learn from what they made before. All learners wait for
// the last of them.
class Loop {
 public:
  Loop(uint64_t seed, bool one_step_off, uint32_t actors, uint32_t learners)
      : program_(ProcessesWithAThread(actors + learners)), learners_(learners), random_(seed) {
    const uint32_t threads = actors + learners;
    const double acts_ns = Between(15'000, 60'000), learns_ns = Between(15'000, 60'000);
    const double on_gpu = Between(0.1, 0.7);  // of the work of a unit
    for (uint32_t a = 0; one_step_off && a < actors; ++a) Order(Actor(a));
    for (uint32_t i = 0; i < kIterations; ++i) {
      for (uint32_t a = 0; a < actors; ++a) Order(Actor(a));
      const std::vector<double> made = Shares(acts_ns, actors);
      for (uint32_t a = 0; a < actors; ++a) {
        Await(Actor(a), Actor(a), 0);
        Work(Actor(a), "simulation", made[a] * (1 - on_gpu), 0);
        Work(Actor(a), "inference", 0, made[a] * on_gpu);
        Signal(Actor(a), threads + Actor(a));
      }
      for (uint32_t a = 0; a < actors; ++a) Await(0, threads + Actor(a), Actor(a));
      for (uint32_t l = 1; l < learners; ++l) Order(l);
      const std::vector<double> learnt = Shares(learns_ns, learners);
      for (uint32_t l = 0; l < learners; ++l) {
        if (l > 0) Await(l, l, 0);
        Work(l, "update", learnt[l] * (1 - on_gpu), learnt[l] * on_gpu);
        if (l > 0) Signal(l, threads + l);
      }
      for (uint32_t l = 1; l < learners; ++l) Await(0, threads + l, l);
      Work(0, "weight_sync", 300'000, 0);
      Add(&program_, 0, Action::kStep, 100).slot = i;
    }
  }

  const VirtualProgram& program() const { return program_; }

  gpubound::Run Recorded() const {
    gpubound::Run run = RunOf(Execute(program_, nullptr));
    for (size_t p = 0; p < run.processes.size(); ++p) {
      for (auto& device : run.processes[p].devices) device.uuid = "GPU-" + std::to_string(p);
    }
    return run;
  }

 private:
  uint32_t Actor(uint32_t number) const { return learners_ + number; }
  double Between(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }
  // What each of |processes| has of the units of an iteration, whose lengths differ.
  std::vector<double> Shares(double unit_ns, uint32_t processes) {
    std::lognormal_distribution<double> length(std::log(unit_ns), 0.3);
    std::vector<double> shares(processes);
    for (uint32_t unit = 0; unit < kUnits; ++unit) {
      shares[unit * processes / kUnits] += length(random_);
    }
    return shares;
  }
  void Order(uint32_t thread) { Signal(0, thread); }
  void Signal(uint32_t thread, uint32_t semaphore) { AddSignal(&program_, thread, semaphore); }
  void Await(uint32_t thread, uint32_t semaphore, uint32_t process) {
    AddAwait(&program_, thread, semaphore, process);
  }
  void Work(uint32_t thread, const std::string& name, double cpu_ns, double gpu_ns) {
    Statement& open = Add(&program_, thread, Action::kOpen, 100);
    open.scope = {LabelKind::kOperation, Layer::kUnset, name};
    open.slot = 1;
    Add(&program_, thread, Action::kCompute, 1'000 + std::llround(cpu_ns));
    if (gpu_ns > 0) {
      Statement& launch = Add(&program_, thread, Action::kLaunch, 4'000);
      launch.slot = 1 + thread;
      launch.name = name;
      launch.device_ns = std::llround(gpu_ns);
      Add(&program_, thread, Action::kSyncStream, 4'000).slot = 1 + thread;
    }
    Add(&program_, thread, Action::kClose, 100).slot = 1;
  }

  VirtualProgram program_;
  const uint32_t learners_;
  std::mt19937_64 random_;
};

class Replays {
 public:
  explicit Replays(const gpubound::Run& run) : run_(run) {
    Result<Report> report = BuildReport(run);
    EXPECT_TRUE(report.ok());
    report_ = std::move(*report);
  }
  const Report& report() const { return report_; }

  SpanRatio IterationsWith(const ResizedRoles& resized) const {
    ReplayOptions options;
    for (const std::vector<Scaling>& scalings : resized.by_process) {
      options.process_changes.emplace_back().scalings = scalings;
    }
    return WithUnevenShares(IterationRatioOf(SpanOf(options), SpanOf({})));
  }

 private:
  ReplayedSpan SpanOf(ReplayOptions options) const {
    options.keep_events = false;
    const Result<ReplayedRun> replayed = ReplayRun(run_, options);
    EXPECT_TRUE(replayed.ok());
    return gpubound::SpanOf(*replayed, LeadingOf(report_));
  }
  const gpubound::Run& run_;
  Report report_;
};

TEST(MoveGpus, ThePredictionIsTheRunThatHasThemThere) {
  int within = 0;
  int covered = 0;
  int tried = 0;
  double worst = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    for (const bool one_step_off : {false, true}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (one_step_off ? ", one step off" : ""));
      const auto actors = static_cast<uint32_t>(2 + seed % 4);
      const auto learners = static_cast<uint32_t>(1 + seed % 3);
      const uint32_t moved = actors > 3 ? static_cast<uint32_t>(1 + seed % 2) : 1;
      const Loop was(seed, one_step_off, actors, learners);
      const Loop is(seed, one_step_off, actors - moved, learners + moved);
      const gpubound::Run recorded = was.Recorded();
      const Replays replays(recorded);
      const Result<ResizedRoles> resized =
          ResizeRoles(replays.report(), {"rollout", "train", moved});
      ASSERT_TRUE(resized.ok()) << resized.error().ToString();
      EXPECT_EQ(resized->moved.from_had, actors);
      EXPECT_EQ(resized->moved.to_had, learners);
      const SpanRatio ratio = replays.IterationsWith(*resized);
      const double truth = LoopOf(is.program()) / LoopOf(was.program());
      const double error = std::abs(ratio.part / truth - 1);
      ++tried;
      within += error <= 0.03 ? 1 : 0;
      covered += ratio.low <= truth && truth <= ratio.high ? 1 : 0;
      worst = std::max(worst, error);
    }
  }
  std::printf("within 3 %%: %d of %d, the worst %.1f %% off; the interval holds %d\n", within,
              tried, 100 * worst, covered);
  EXPECT_EQ(within, tried);
  EXPECT_GE(covered, tried * 9 / 10);
  EXPECT_LE(covered, tried * 99 / 100);
}

TEST(MoveGpus, SaysWhyItCannotBe) {
  const gpubound::Run run = Loop(1, false, 2, 1).Recorded();
  const Replays replays(run);
  const auto found = [&](const GpuMove& move) {
    const Result<ResizedRoles> resized = ResizeRoles(replays.report(), move);
    return resized.ok() ? "" : resized.error().found + "; " + resized.error().remedy;
  };
  EXPECT_EQ(found({"rollout", "train", 1}), "");
  EXPECT_THAT(found({"rollout", "train", 2}), HasSubstr("rollout has 2 GPUs"));
  EXPECT_THAT(found({"rolout", "train", 1}), HasSubstr("Did you mean 'rollout'?"));
  gpubound::Run colocated = run;
  for (auto& process : colocated.processes) {
    for (auto& device : process.devices) device.uuid = "GPU-0";
  }
  const Result<ResizedRoles> shared =
      ResizeRoles(Replays(colocated).report(), {"rollout", "train", 1});
  ASSERT_FALSE(shared.ok());
  EXPECT_EQ(shared.error().found, "GPUs that both use");
  const Result<ResizedRoles> none = ResizeRoles(Report{}, {"rollout", "train", 1});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().found, "no roles in the run");
}

TEST(MoveGpus, IsReadFromTwoRolesAndANumber) {
  const Result<GpuMove> move = ParseGpuMove("rollout:train:2");
  ASSERT_TRUE(move.ok());
  EXPECT_EQ(move->from, "rollout");
  EXPECT_EQ(move->to, "train");
  EXPECT_EQ(move->gpus, 2U);
  for (const char* wrong : {"", "rollout", "rollout:train", "rollout:train:0", "rollout:train:-1",
                            "rollout:train:1.5", ":train:1", "rollout::1", "train:train:1"}) {
    EXPECT_FALSE(ParseGpuMove(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace gpubound::sim
