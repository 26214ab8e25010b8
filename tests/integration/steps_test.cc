// SPDX-License-Identifier: Apache-2.0
//
// `gpubound run --steps A:B`: what was done from the iteration number A until number B begins is
// recorded, in every process of the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tests/integration/command_run.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr char kVictim[] = GPUBOUND_TEST_VICTIM;

class StepsTest : public CommandRun {
 protected:
  Outcome ProfileSteps(const char* steps, const std::vector<std::string>& command) {
    std::vector<std::string> words = {"run", "-q", "-o", run_path(), "--steps", steps, "--"};
    words.insert(words.end(), command.begin(), command.end());
    return Gpubound(words);
  }
  Outcome ProfileScript(const char* steps, const std::string& script) {
    return ProfileSteps(steps, {"/bin/sh", "-c", script});
  }
  // The numbers of the iterations of the run's first process.
  std::vector<int> Iterations() {
    std::vector<int> numbers;
    const Outcome outcome =
        Gpubound({"sql", "--csv", run_path(), "select number from iteration order by begin_ns"});
    std::istringstream lines(outcome.out);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) numbers.push_back(std::stoi(line));
    return numbers;
  }
  static int64_t OpenedOf(const Json& process, const std::string& operation) {
    return RowOf(process, operation)["count"];
  }
};

TEST_F(StepsTest, TheIterationsThatWereAskedForAreRecordedWhole) {
  const Outcome outcome = ProfileSteps("40:60", {kVictim, "train", "1000"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.out, HasSubstr("trained 1000"));
  const std::vector<int> numbers = Iterations();
  ASSERT_EQ(numbers.size(), 20u);
  EXPECT_EQ(numbers.front(), 40);
  EXPECT_EQ(numbers.back(), 59);
  const Json report = Report();
  ExpectExactPartition(report);
  EXPECT_EQ(report["run"]["steps"], "40:60");
  ASSERT_EQ(report["processes"].size(), 1u);
  const Json& process = report["processes"][0];
  EXPECT_EQ(OpenedOf(process, "inference"), 20);
  EXPECT_EQ(OpenedOf(process, "backpropagation"), 20);
  EXPECT_GT(RowOf(process, "backpropagation")["gpu_busy_ns"].get<int64_t>(), 0);
  EXPECT_EQ(UnknownNsOf(process), 0);
  // Nothing is missing: what came before was not wanted.
  EXPECT_THAT(report["run"]["verdict"].get<std::string>(), HasSubstr("complete"));
  ExpectNoLoss(report);
  EXPECT_EQ(LedgerOf(report, LedgerCounter::kernels_without_launch), 0);
  const Outcome text = Gpubound({"report", run_path()});
  EXPECT_THAT(text.out, HasSubstr("Recorded: iterations 40 to 59 (--steps 40:60)"));
  EXPECT_THAT(text.out, HasSubstr("recording ended as asked"));
}

// What CUPTI still holds then is queued behind work that ended later: it is of later, not lost.
TEST_F(StepsTest, WorkThatIsStillQueuedAtTheEndIsNoLoss) {
  const Outcome outcome = ProfileSteps("20:40", {kVictim, "ahead", "80"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const Json report = Report();
  ExpectExactPartition(report);
  EXPECT_THAT(report["run"]["verdict"].get<std::string>(), HasSubstr("complete"));
  EXPECT_EQ(LedgerOf(report, LedgerCounter::cupti_zero_timestamps), 0);
  const Json& process = report["processes"][0];
  EXPECT_EQ(UnknownNsOf(process), 0);
  // The kernels come one behind the other, from the first to behind the end.
  EXPECT_GE(process["gpu_busy_ns"].get<int64_t>(), process["span_ns"].get<int64_t>() / 100 * 95);
  const Outcome behind = Gpubound({"sql", "--csv", run_path(),
                                   "select count(*) from gpu where end_ns > "
                                   "(select max(end_ns) from iteration)"});
  EXPECT_GT(std::stoi(behind.out.substr(behind.out.find('\n') + 1)), 0) << behind.Describe();
}

// Those behind the end are as long as iterations are without the profiler.
TEST_F(StepsTest, WhenLaterIterationsEndedIsKept) {
  EXPECT_EQ(ProfileScript("10:20", std::string(kVictim) + " steps_slowly 100").exit_code, 0);
  const std::vector<LaterIteration> kept = Load().processes.at(0).later_iterations;
  ASSERT_GT(kept.size(), 10u);
  EXPECT_GE(kept.front().number, 20u);
  EXPECT_EQ(kept.back().number, 99u);
  EXPECT_EQ(kept.back().number - kept.front().number + 1, kept.size());
}

// CUPTI takes longer to hand back its buffers than the end is waited for.
TEST_F(StepsTest, AProgramIsLeftAloneWheneverCuptiIsGivenUp) {
  runner().Set("GPUBOUND_SIM_SCRIPT", R"({"faults": {"completion_delay_ms": 2500}})");
  EXPECT_EQ(ProfileSteps("10:20", {kVictim, "ahead", "400"}).exit_code, 0);
  const std::vector<LaterIteration> later = Load().processes.at(0).later_iterations;
  ASSERT_FALSE(later.empty());
  EXPECT_GT(later.front().number, 100u) << "CUPTI was not that slow";
}

TEST_F(StepsTest, ALongTimeBeforeLeavesNoEvents) {
  const Outcome outcome = ProfileScript(
      "400:410", std::string("GPUBOUND_FLUSH_MS=50 ") + kVictim + " steps_slowly 420");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const gpubound::Run run = Load();
  ASSERT_EQ(run.processes.size(), 1u);
  const ProcessTrace& process = run.processes[0];
  EXPECT_GT(process.before_span_ns, 3 * kNsPerSecond);
  int64_t first_ns = process.span_begin_ns;
  for (const ThreadTrace& thread : process.threads) {
    if (!thread.events.empty()) first_ns = std::min(first_ns, thread.events.front().time_ns);
  }
  EXPECT_LT(process.span_begin_ns - first_ns, 4 * kNsPerSecond);
  EXPECT_GT(first_ns, process.span_begin_ns - process.before_span_ns + kNsPerSecond / 4)
      << "the first seconds were let go";
  EXPECT_EQ(Iterations().size(), 10u);
  const Json report = Report();
  EXPECT_THAT(report["run"]["verdict"].get<std::string>(), HasSubstr("complete"));
  for (const Json& cell : report["processes"][0]["cells"]) {
    EXPECT_EQ(cell["phase"], "collection") << "which began before the events that are kept";
  }
}

TEST_F(StepsTest, ASideLeftOpenIsTheBeginOrTheEndOfTheRun) {
  EXPECT_EQ(ProfileSteps(":10", {kVictim, "train", "30"}).exit_code, 0);
  EXPECT_EQ(Iterations().size(), 10u);
  EXPECT_THAT(Gpubound({"report", run_path()}).out, HasSubstr("iterations 0 to 9 (--steps 0:10)"));
  std::filesystem::remove_all(run_path());
  EXPECT_EQ(ProfileSteps("25:", {kVictim, "train", "30"}).exit_code, 0);
  EXPECT_THAT(Iterations(), ElementsAre(25, 26, 27, 28, 29));
  EXPECT_THAT(Gpubound({"report", run_path()}).out, HasSubstr("iterations 25 to 29 (--steps 25:)"));
}

TEST_F(StepsTest, ProcessesThatEndNoIterationsAreRecordedForTheSameTime) {
  const Outcome outcome = ProfileScript(
      "20:40", std::string(kVictim) + " steady 2 & sleep 0.3; " + kVictim + " train 100; wait");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const Json report = Report();
  ExpectExactPartition(report);
  ASSERT_EQ(report["processes"].size(), 2u);
  // The one that steps has its sides where its iterations are stamped, the other one where the
  // clock said that they were: readings of two clocks apart.
  const int64_t first_ns = report["processes"][0]["span_ns"];
  const int64_t second_ns = report["processes"][1]["span_ns"];
  EXPECT_NEAR(static_cast<double>(second_ns), static_cast<double>(first_ns),
              static_cast<double>(first_ns) / 100);
  EXPECT_NEAR(report["run"]["wall_ns"].get<double>(), static_cast<double>(first_ns),
              static_cast<double>(first_ns) / 100);
  for (const Json& process : report["processes"]) {
    EXPECT_GT(process["gpu_busy_ns"].get<int64_t>(), 0);
  }
  EXPECT_THAT(report["run"]["verdict"].get<std::string>(), HasSubstr("complete"));
}

TEST_F(StepsTest, ProcessesOfAnotherTimeAreNoPartOfIt) {
  const Outcome outcome =
      ProfileScript("5:10", std::string(kVictim) + " annotate 3; " + kVictim + " train 20; " +
                                kVictim + " annotate 3; " + kVictim + " train 20");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const Json report = Report();
  ASSERT_EQ(report["processes"].size(), 1u);
  EXPECT_EQ(Iterations().size(), 5u);
}

TEST_F(StepsTest, ThatNoIterationWasReachedIsSaid) {
  runner().Set("GPUBOUND_CALIBRATE", "1");
  const Outcome outcome =
      Gpubound({"run", "-o", run_path(), "--steps", "500:600", "--", kVictim, "train", "20"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(outcome.err, Not(HasSubstr("measuring"))) << "there is nothing to take costs out of";
  EXPECT_THAT(outcome.err, HasSubstr("No process came to the iterations 500:600"));
}

TEST_F(StepsTest, AProcessThatIsKilledKeepsWhatItHad) {
  const Outcome outcome =
      ProfileSteps("10:", {"/bin/sh", "-c", std::string(kVictim) + " steps_and_kill 60; true"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  const std::vector<int> numbers = Iterations();
  ASSERT_FALSE(numbers.empty());
  EXPECT_EQ(numbers.front(), 10);
  EXPECT_EQ(numbers.back(), 59);
  const Json report = Report();
  ExpectExactPartition(report);
  EXPECT_EQ(LedgerOf(report, LedgerCounter::chunk_events_lost), 0);
}

TEST_F(StepsTest, AProcessThatIsKilledAtOnceKeepsItToo) {
  const Outcome outcome =
      ProfileSteps("57:", {"/bin/sh", "-c", std::string(kVictim) + " steps_and_kill 60; true"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_THAT(Iterations(), ElementsAre(57, 58, 59));
}

TEST_F(StepsTest, ARangeIsTwoNumbers) {
  for (const char* range : {"5", "9:9", "10:5", "a:b", "-1:4", ":", "1:2:3", ""}) {
    const Outcome outcome = ProfileSteps(range, {kVictim, "annotate", "1"});
    if (std::string(range) == ":") continue;  // all of them
    EXPECT_EQ(outcome.exit_code, 125) << range;
    EXPECT_THAT(outcome.err, HasSubstr("expected A:B")) << range;
  }
  EXPECT_EQ(Gpubound({"run", "--long", "--steps", "1:2", "--", kVictim, "annotate", "1"}).exit_code,
            125);
}

}  // namespace
}  // namespace gpubound
