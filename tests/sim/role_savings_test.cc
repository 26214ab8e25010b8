// SPDX-License-Identifier: Apache-2.0
//
// What a report says a role would save if it took no time, against a run in which its work really takes
// none.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/report/report_training.h"
#include "tests/sim/replayed_threads.h"

namespace gpubound::sim {
namespace {

constexpr uint32_t kActors = 2;
constexpr uint32_t kIterations = 40;

// A learner and two actors, a process each. Synchronous: actors make the samples of an iteration while
// the learner waits for them. One step off: the learner learns from what they made before. An iteration
// is some milliseconds, what roles do varies.
class ActorsAndLearner {
 public:
  ActorsAndLearner(uint64_t seed, bool one_step_off)
      : program_(ProcessesWithAThread(1 + kActors)), random_(seed) {
    const TimeNs acts_ns = 1'000'000 + static_cast<TimeNs>(random_() % 4'000'000);
    const TimeNs learns_ns = 1'000'000 + static_cast<TimeNs>(random_() % 4'000'000);
    for (uint32_t a = 1; one_step_off && a <= kActors; ++a) Order(a);
    for (uint32_t i = 0; i < kIterations; ++i) {
      for (uint32_t a = 1; a <= kActors; ++a) Order(a);
      for (uint32_t a = 1; a <= kActors; ++a) {
        Await(a, a, 0);
        Work(a, "simulation", acts_ns);
        Work(a, "inference", acts_ns / 4);
        Signal(a, kActors + a);
      }
      for (uint32_t a = 1; a <= kActors; ++a) Await(0, kActors + a, a);
      Work(0, "update", learns_ns);
      Add(&program_, 0, Action::kStep, 100).slot = i;
    }
  }

  const VirtualProgram& program() const { return program_; }

  // Without what the threads of |role| do in their operations.
  VirtualProgram Without(const std::string& role) const {
    VirtualProgram changed = program_;
    for (uint32_t t = 0; t <= kActors; ++t) {
      if ((t == 0) != (role == "train")) continue;
      changed = Scaled(std::move(changed), t, 0);
      for (Statement& statement : changed.threads[t].statements) {
        if (statement.action == Action::kLaunch) statement.device_ns = 0;
      }
    }
    return changed;
  }

 private:
  void Order(uint32_t actor) { Signal(0, actor); }
  void Signal(uint32_t thread, uint32_t semaphore) { AddSignal(&program_, thread, semaphore); }
  void Await(uint32_t thread, uint32_t semaphore, uint32_t process) {
    AddAwait(&program_, thread, semaphore, process);
  }
  void Work(uint32_t thread, const std::string& name, TimeNs usual_ns) {
    Statement& open = Add(&program_, thread, Action::kOpen, 100);
    open.scope = {LabelKind::kOperation, Layer::kUnset, name};
    open.slot = 1;
    std::lognormal_distribution<double> time(std::log(static_cast<double>(usual_ns)), 0.3);
    Add(&program_, thread, Action::kCompute, std::llround(time(random_)));
    Statement& launch = Add(&program_, thread, Action::kLaunch, 4'000);
    launch.slot = 1 + thread;
    launch.name = name;
    launch.device_ns = usual_ns / 10;
    Statement& sync = Add(&program_, thread, Action::kSyncStream, 4'000);
    sync.slot = 1 + thread;
    Add(&program_, thread, Action::kClose, 100).slot = 1;
  }

  VirtualProgram program_;
  std::mt19937_64 random_;
};

TEST(RoleSavings, AreThoseOfARunInWhichTheRoleTakesNoTime) {
  std::map<std::string, int> bounds;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    for (const bool one_step_off : {false, true}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (one_step_off ? ", one step off" : ""));
      const ActorsAndLearner run(seed, one_step_off);
      const gpubound::Run recorded = RunOf(Execute(run.program(), nullptr));
      const ReportOptions options;
      Result<Report> report = BuildReport(recorded, options);
      ASSERT_TRUE(report.ok()) << report.error().ToString();
      ASSERT_TRUE(AddReplays(recorded, options, &*report).ok());
      ASSERT_NE(report->run.training, nullptr);
      ASSERT_TRUE(report->run.training->roles);
      const ReportRoles& roles = *report->run.training->roles;
      ASSERT_EQ(roles.savings.size(), 2U);
      for (const ReportRoleSaving& saving : roles.savings) {
        const double as_is = LoopOf(run.program());
        const double without = LoopOf(run.Without(saving.role));
        // 199 of these 200 are within 0.03 of the truth, the worst is 0.032 off.
        constexpr double kMostOff = 0.035;
        EXPECT_NEAR(saving.saves, 1 - without / as_is, kMostOff) << saving.role;
      }
      EXPECT_GE(roles.savings[0].saves, roles.savings[1].saves);
      ++bounds[roles.Bound()];
    }
  }
  // Any of them comes up.
  EXPECT_GT(bounds["rollout"], 0);
  EXPECT_GT(bounds["train"], 0);
  EXPECT_GT(bounds["balanced"], 0);
}

// Overlap cannot save more than an iteration takes without the shorter one of the roles, and a run that
// overlaps already has less to gain.
TEST(RoleSavings, PerfectOverlapSavesLessWhereRolesOverlapAlready) {
  const auto saves = [](bool one_step_off) {
    const Result<Report> report =
        BuildReport(RunOf(Execute(ActorsAndLearner(7, one_step_off).program(), nullptr)));
    EXPECT_TRUE(report.ok() && report->run.training != nullptr && report->run.training->roles);
    return report->run.training->roles->PerfectOverlapSaves();
  };
  EXPECT_GT(saves(false), 0.2);
  EXPECT_LT(saves(true), saves(false) / 2);
}

}  // namespace
}  // namespace gpubound::sim
