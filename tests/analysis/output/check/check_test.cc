// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/report/report_training.h"

namespace gpubound {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMs = 1'000'000;

class CheckTest : public testing::Test {
 protected:
  CheckTest() : report_(MakeReport()), baseline_(MakeReport()) {}

  static Report MakeReport() {
    Report report;
    report.run.root = 100;
    report.run.wall_ns = report.run.headline_ns = 1000 * kMs;
    report.run.devices_used = 1;
    report.run.gpu_busy_share = 0.4;
    report.run.smi_model = report.run.most_smi_model = 0.9;
    ReportProcess& process = report.processes.emplace_back();
    process.pid = 100;
    process.name = "python3";
    process.span_ns = 1000 * kMs;
    process.gpu_busy_ns = 400 * kMs;
    ReportOperation& row = process.operations.emplace_back();
    row.operation = "simulation";
    row.wall_ns = 300 * kMs;
    row.gpu_busy_ns = 60 * kMs;
    row.count = 12;
    return report;
  }

  ReportProcess& AddWorker(int64_t pid, int64_t busy_ns) {
    ReportProcess& worker = report_.processes.emplace_back();
    worker.pid = pid;
    worker.name = "worker";
    worker.span_ns = 100 * kMs;
    worker.gpu_busy_ns = busy_ns;
    return worker;
  }

  void MakeUnknown(int64_t ns) {
    report_.processes[0].unknown_ns = ns;
    report_.run.unknown.share =
        static_cast<double>(ns) / static_cast<double>(report_.run.headline_ns);
    report_.run.most_smi_model = 1;
    report_.processes[0].operations[0].unknown_ns = ns;
  }

  CheckResult Check(const std::string& text) const {
    auto parsed = ParseRequirement(text);
    const auto* requirement = std::get_if<Requirement>(&parsed);
    EXPECT_NE(requirement, nullptr) << text;
    return requirement == nullptr ? CheckResult{} : Judge(*requirement, report_, &baseline_);
  }
  Outcome Of(const std::string& text) const { return Check(text).outcome; }

  Report report_;
  Report baseline_;
};

TEST_F(CheckTest, ABoundThatIsMetExactlyHoldsUnlessItIsStrict) {
  EXPECT_EQ(Of("gpu_busy>=40%"), Outcome::kHolds);
  EXPECT_EQ(Of("gpu_busy<=40%"), Outcome::kHolds);
  EXPECT_EQ(Of("gpu_busy>40%"), Outcome::kFails);
  EXPECT_EQ(Of("gpu_busy<40%"), Outcome::kFails);
  EXPECT_EQ(Of("simulation.count==12"), Outcome::kHolds);
  EXPECT_EQ(Of("simulation.count!=12"), Outcome::kFails);
}

TEST_F(CheckTest, ThroughputIsWhatTheProgramCounts) {
  EXPECT_EQ(Of("env_steps_per_second>=1"), Outcome::kUndecided) << "it counts nothing";
  report_.processes[0].throughput = {{"env_steps", 100, 11'168.5, 1}};
  EXPECT_EQ(Of("env_steps_per_second>=11168"), Outcome::kHolds);
  EXPECT_EQ(Of("env_steps_per_second>=11169"), Outcome::kFails);
  EXPECT_EQ(Of("tokens_per_second>=1"), Outcome::kUndecided);
}

TEST_F(CheckTest, RolesHaveFiguresWhereTheRunHasSeveral) {
  for (const char* figure : {"train_bubble", "rollout_and_train", "perfect_overlap_saves"}) {
    EXPECT_EQ(Of(std::string(figure) + ">=0%"), Outcome::kUndecided) << "it has none: " << figure;
  }
  RunTraining training;
  ReportRoles& roles = training.roles.emplace();
  roles.ns = 100;
  ReportRole& train = roles.roles.emplace_back();
  train.role = "train";
  train.held_ns = 200;
  train.idle_ns = 50;
  train.unknown_ns = 20;
  roles.roles.emplace_back().role = "rollout";
  roles.overlap = {{{"rollout", "train"}, 20}, {{"rollout", "reward", "train"}, 10}, {{}, 70}};
  roles.perfect_overlap_ns = 60;
  report_.run.training = std::make_shared<const RunTraining>(training);
  EXPECT_EQ(Of("train_bubble>=25%"), Outcome::kHolds);
  EXPECT_EQ(Of("train_bubble<=30%"), Outcome::kUndecided) << "as much as is unknown may be idle";
  EXPECT_EQ(Of("train_bubble<=35%"), Outcome::kHolds);
  EXPECT_EQ(Of("rollout_bubble<=35%"), Outcome::kUndecided) << "it holds no device";
  EXPECT_EQ(Of("rollout_and_train==30%"), Outcome::kHolds);
  EXPECT_EQ(Of("perfect_overlap_saves<=40%"), Outcome::kHolds);
  EXPECT_EQ(Of("rollout_tail<=1%"), Outcome::kUndecided) << "no rollout ended";
  report_.run.gpu_busy_is_lower_bound = true;
  EXPECT_EQ(Of("train_bubble>=25%"), Outcome::kUndecided) << "others may have used the device";
}

TEST_F(CheckTest, ATargetHasTheTimeAtWhichItWasReached) {
  EXPECT_EQ(Of("time_to(return>=450)<=60s"), Outcome::kUndecided) << "nobody looked for it";
  RunTraining training;
  ReportTarget& reached = training.targets.emplace_back();
  reached.target = "return>=450";
  reached.reached_ns = 600 * kMs;
  ReportTarget& missed = training.targets.emplace_back();
  missed.target = "return>=500 over 20";
  missed.records = 1000;
  missed.best = 471.5;
  ReportTarget& unknown = training.targets.emplace_back();
  unknown.target = "loss<=1";
  unknown.why_not = "nothing recorded 'loss'";
  report_.run.training = std::make_shared<const RunTraining>(training);
  EXPECT_EQ(Of("time_to(return>=450) <= 0.6s"), Outcome::kHolds);
  EXPECT_EQ(Of("time_to( return>=450 )<0.6s"), Outcome::kFails);
  EXPECT_EQ(Of("time_to(return>=450)<=60%"), Outcome::kHolds) << "of the run's wall time";
  const CheckResult never = Check("time_to(return>=500 over 20)<=60s");
  EXPECT_EQ(never.outcome, Outcome::kFails);
  EXPECT_EQ(never.why, "return>=500 over 20 was never reached: the best is 471.5, of 1000 records");
  const CheckResult nobody = Check("time_to(loss<=1)<=60s");
  EXPECT_EQ(nobody.outcome, Outcome::kUndecided);
  EXPECT_THAT(nobody.why, HasSubstr("nothing recorded 'loss'"));
}

TEST_F(CheckTest, WhatDiffersDoesNotReadTheSame) {
  const CheckResult share = Check("gpu_busy==40.0001%");
  EXPECT_EQ(share.found + ", " + share.allowed, "40 %, exactly 40.0001 %");
  const CheckResult time = Check("wall>1.000001s");
  EXPECT_EQ(time.found + ", " + time.allowed, "1 s, more than 1.000001 s");
  const CheckResult count = Check("devices_used>=1.5");
  EXPECT_EQ(count.found + ", " + count.allowed, "1, at least 1.5");
}

TEST_F(CheckTest, SaysWhatWasFoundAndWhatIsAllowed) {
  const CheckResult result = Check("gpu_busy>=50%");
  EXPECT_EQ(result.outcome, Outcome::kFails);
  EXPECT_EQ(result.found, "40 %");
  EXPECT_EQ(result.allowed, "at least 50 %");
}

TEST_F(CheckTest, ATimeIsComparedWithATimeOrWithAShareOfItsWhole) {
  EXPECT_EQ(Of("simulation.wall<=300ms"), Outcome::kHolds);
  EXPECT_EQ(Of("simulation.wall<=0.2999s"), Outcome::kFails);
  EXPECT_EQ(Of("simulation.wall<=30%"), Outcome::kHolds) << "of the process's span";
  EXPECT_EQ(Of("simulation.gpu_busy>=20%"), Outcome::kHolds) << "of the operation's wall time";
  EXPECT_EQ(Of("simulation.gpu_busy>=20.1%"), Outcome::kFails);
}

TEST_F(CheckTest, IdleIsWhatIsNeitherBusyNorUnknown) {
  EXPECT_EQ(Of("idle<=60%"), Outcome::kHolds);
  MakeUnknown(100 * kMs);
  EXPECT_EQ(Check("idle<=60%").outcome, Outcome::kHolds) << "from 50 % to 60 %";
  EXPECT_EQ(Check("idle<=50%").outcome, Outcome::kUndecided);
  EXPECT_EQ(Check("idle<=49%").outcome, Outcome::kFails);
}

TEST_F(CheckTest, AShareThatTouchesUnknownTimeIsABound) {
  MakeUnknown(100 * kMs);
  EXPECT_EQ(Of("gpu_busy>=40%"), Outcome::kHolds);
  EXPECT_EQ(Of("gpu_busy>=50.1%"), Outcome::kFails);
  const CheckResult open = Check("gpu_busy>=45%");
  EXPECT_EQ(open.outcome, Outcome::kUndecided);
  EXPECT_EQ(open.found, "from 40 % to 50 %");
  EXPECT_THAT(open.why, HasSubstr("unknown"));
  EXPECT_EQ(Of("gpu_busy==40%"), Outcome::kUndecided);
}

TEST_F(CheckTest, WhereGraphsWereRecordedWholeBusyIsAtMostWhatItIs) {
  report_.run.gpu_busy_is_upper_bound = report_.processes[0].gpu_busy_is_upper_bound = true;
  report_.processes[0].operations[0].gpu_busy_is_upper_bound = true;
  report_.processes[0].operations[0].cpu_only_ns = 240 * kMs;
  EXPECT_EQ(Of("gpu_busy<=40%"), Outcome::kHolds);
  EXPECT_EQ(Of("gpu_busy>=40%"), Outcome::kUndecided);
  EXPECT_EQ(Of("gpu_busy>=41%"), Outcome::kFails);
  EXPECT_EQ(Of("idle>=60%"), Outcome::kHolds);
  EXPECT_EQ(Of("idle<=60%"), Outcome::kUndecided);
  EXPECT_EQ(Of("gpu_busy@python3<=400ms"), Outcome::kHolds);
  EXPECT_EQ(Of("gpu_busy@python3>=400ms"), Outcome::kUndecided);
  EXPECT_EQ(Of("simulation.gpu_busy>=60ms"), Outcome::kUndecided);
  EXPECT_EQ(Of("simulation.cpu_only>=240ms"), Outcome::kHolds);
  EXPECT_EQ(Of("simulation.cpu_only<=240ms"), Outcome::kUndecided);
  EXPECT_EQ(Of("simulation.wall==300ms"), Outcome::kHolds);
  EXPECT_EQ(Of("inflation<=2.25x"), Outcome::kUndecided);
  EXPECT_EQ(Of("inflation>=2.25x"), Outcome::kHolds);
  EXPECT_EQ(Of("simulation.gpu_sum<=1h"), Outcome::kUndecided) << "nodes may run at once";
}

TEST_F(CheckTest, WhereOthersUsedTheGpuItIsBusyForAtLeastWhatItIs) {
  report_.run.gpu_busy_is_lower_bound = true;
  EXPECT_EQ(Of("gpu_busy>=40%"), Outcome::kHolds);
  EXPECT_EQ(Of("gpu_busy<=50%"), Outcome::kUndecided);
  EXPECT_EQ(Of("idle<=60%"), Outcome::kHolds);
  EXPECT_EQ(Of("idle>=10%"), Outcome::kUndecided);
  EXPECT_EQ(Of("gpu_busy@python3<=400ms"), Outcome::kHolds) << "its own work is all there";
}

TEST_F(CheckTest, UnknownTimeOfTheHeadlineIsThatOfItsIterations) {
  report_.run.headline = "iterations";
  ReportIterations& iterations = report_.processes[0].iterations.emplace();
  iterations.count = 2;
  iterations.operations.push_back({"simulation", 300 * kMs, 60 * kMs, 0});
  report_.processes[0].unknown_ns = 100 * kMs;  // all of it before the iterations
  report_.run.whole_unknown.share = 0.1;
  EXPECT_EQ(Of("gpu_busy==40%"), Outcome::kHolds);
}

TEST_F(CheckTest, WorkThatWasLaunchedHereMayHaveRunAtAnyUnknownTime) {
  report_.processes[0].operations[0].gpu_caused_ns = 50 * kMs;
  EXPECT_EQ(Of("simulation.gpu_caused<=50ms"), Outcome::kHolds);
  report_.processes[0].unknown_ns = 1;
  EXPECT_EQ(Of("simulation.gpu_caused<=900ms"), Outcome::kUndecided);
  EXPECT_EQ(Of("simulation.gpu_caused>=50ms"), Outcome::kHolds);
}

TEST_F(CheckTest, CausedTimeBesideWorkWithoutALaunchIsALowerBound) {
  report_.processes[0].operations[0].gpu_caused_ns = 50 * kMs;
  report_.processes[0].operations[0].gpu_caused_is_lower_bound = true;
  EXPECT_EQ(Of("simulation.gpu_caused<=900ms"), Outcome::kUndecided);
  EXPECT_EQ(Of("simulation.gpu_caused>=50ms"), Outcome::kHolds);
}

TEST_F(CheckTest, InflationAtZeroBusyCannotBeDecided) {
  EXPECT_EQ(Of("inflation<=2.25x"), Outcome::kHolds);
  report_.run.gpu_busy_share = report_.run.smi_model = report_.run.most_smi_model = 0;
  const CheckResult result = Check("inflation<=2.25x");
  EXPECT_EQ(result.outcome, Outcome::kUndecided);
  EXPECT_EQ(result.found, "not known");
}

TEST_F(CheckTest, UnknownTimeMayHaveBeenLimitedByTheGpu) {
  report_.run.gpu_limited_share = 0.4;
  EXPECT_EQ(Of("gpu_limited==40%"), Outcome::kHolds);
  MakeUnknown(100 * kMs);
  EXPECT_EQ(Of("gpu_limited<=40%"), Outcome::kUndecided);
  EXPECT_EQ(Of("gpu_limited>=40%"), Outcome::kHolds);
  report_.run.unknown = {};
  EXPECT_EQ(Of("gpu_limited<=40%"), Outcome::kUndecided) << "it is about the whole run";
}

TEST_F(CheckTest, GraphsThatWereRecordedWholeBoundWhatTheGpuLimits) {
  report_.run.gpu_limited_share = 0.4;
  report_.run.whole_gpu_busy_is_upper_bound = true;
  EXPECT_EQ(Of("gpu_limited>=40%"), Outcome::kUndecided);
  EXPECT_EQ(Of("gpu_limited<=40%"), Outcome::kHolds);
}

TEST_F(CheckTest, ABaselineIsMultiplied) {
  baseline_.processes[0].operations[0].wall_ns = 280 * kMs;
  EXPECT_EQ(Of("simulation.wall<=1.1x baseline"), Outcome::kHolds);
  const CheckResult result = Check("simulation.wall<=baseline");
  EXPECT_EQ(result.outcome, Outcome::kFails);
  EXPECT_EQ(result.allowed, "at most 280 ms");
}

TEST_F(CheckTest, ABaselineThatIsARangeMayDecideNothing) {
  baseline_.run.unknown.share = 0.1;
  EXPECT_EQ(Of("gpu_busy>=baseline"), Outcome::kUndecided);
  EXPECT_EQ(Of("gpu_busy>=0.8x baseline"), Outcome::kHolds);
}

TEST_F(CheckTest, AnOperationThatTheRunLacksFailsAndNamesThoseThatItHas) {
  const CheckResult result = Check("simulaton.wall<=1s");
  EXPECT_EQ(result.outcome, Outcome::kFails);
  EXPECT_THAT(result.why, HasSubstr("no operation 'simulaton'"));
  EXPECT_THAT(result.known, Contains("simulation"));
  baseline_.processes[0].operations.clear();
  EXPECT_THAT(Check("simulation.wall<=baseline").why, HasSubstr("(the baseline)"));
}

TEST_F(CheckTest, AnOperationOfAnotherThreadFailsAndIsSaidToBeThere) {
  ReportProcess& process = report_.processes[0];
  ReportOperation& learn = process.operations.emplace_back();
  learn.operation = "learn";
  learn.gpu_caused_ns = 5 * kMs;
  learn.other_threads_only = true;
  EXPECT_EQ(Of("learn.wall<1ms"), Outcome::kFails) << "its 0 is not measured";
  EXPECT_EQ(Of("learn.count<1"), Outcome::kFails);
  EXPECT_EQ(Of("learn.gpu_caused==5ms"), Outcome::kHolds) << "of all threads";
  EXPECT_THAT(Check("learn.wall<1ms").why, HasSubstr("other threads have it"));
  ReportLane& lane = process.lanes.emplace_back();
  for (const char* name : {"learn", "collect"}) {
    ReportOperation& row = lane.operations.emplace_back();
    row.operation = name;
    row.wall_ns = 20 * kMs;
    const CheckResult result = Check(std::string(name) + ".wall<1ms");
    EXPECT_EQ(result.outcome, Outcome::kFails);
    EXPECT_THAT(result.why, HasSubstr("not on the reporting thread"));
    EXPECT_THAT(result.why, HasSubstr("20.0 ms of it is on other threads"));
  }
  EXPECT_THAT(Check("colect.wall<1ms").known, Contains("collect"));
}

TEST_F(CheckTest, ASelectedNameHasToHoldForEachProcessOfThatName) {
  AddWorker(101, 50 * kMs);
  AddWorker(102, 10 * kMs);
  EXPECT_EQ(Of("gpu_busy@101>=50%"), Outcome::kHolds);
  const CheckResult result = Check("gpu_busy@worker>=50%");
  EXPECT_EQ(result.outcome, Outcome::kFails);
  EXPECT_EQ(result.found, "10 % in worker (pid 102)");
  EXPECT_THAT(Check("gpu_busy@nobody>=1%").why, HasSubstr("no process 'nobody'"));
}

TEST_F(CheckTest, SeveralProcessesOfTheBaselineAreNoBaseline) {
  AddWorker(101, 50 * kMs);
  baseline_ = report_;
  EXPECT_EQ(Of("gpu_busy@worker>=baseline"), Outcome::kHolds);
  baseline_.processes.push_back(baseline_.processes.back());
  EXPECT_THAT(Check("gpu_busy@worker>=baseline").why, HasSubstr("several processes"));
}

TEST_F(CheckTest, IterationsHaveFiguresWhereThereAreSome) {
  EXPECT_THAT(Check("iteration.median<1s").why, HasSubstr("the run has no iterations"));
  EXPECT_THAT(Check("iteration.median@100<1s").why, HasSubstr("process '100' has no iterations"))
      << "others may have some";
  ReportIterations& iterations = report_.processes[0].iterations.emplace();
  iterations.median_ns = 30 * kMs;
  iterations.count = 7;
  EXPECT_EQ(Of("iteration.median<=30ms"), Outcome::kHolds);
  EXPECT_EQ(Of("iteration.count==7"), Outcome::kHolds);
}

TEST_F(CheckTest, OfNoIterationNoLengthIsTypical) {
  report_.processes[0].iterations.emplace().warm_up = 1;
  for (const char* length : {"iteration.median", "iteration.mean", "iteration.p95"}) {
    const CheckResult result = Check(std::string(length) + "<=1ms");
    EXPECT_EQ(result.outcome, Outcome::kUndecided) << length;
    EXPECT_EQ(result.found, "not known") << length;
  }
  EXPECT_EQ(Of("iteration.count==0"), Outcome::kHolds);
  EXPECT_EQ(Of("iteration.total<=1ms"), Outcome::kHolds);
}

TEST_F(CheckTest, ABaselineOfNoIterationDecidesNothing) {
  report_.processes[0].iterations.emplace().count = 1;
  report_.processes[0].iterations->median_ns = 30 * kMs;
  baseline_.processes[0].iterations.emplace();
  EXPECT_EQ(Of("iteration.median<=1.1x baseline"), Outcome::kUndecided);
  EXPECT_EQ(Of("iteration.median>=baseline"), Outcome::kUndecided);
}

TEST_F(CheckTest, ACounterThatIsNotListedIsZero) {
  EXPECT_EQ(Of("ledger.chunks_corrupt==0"), Outcome::kHolds);
  report_.ledger.push_back({"chunks_corrupt", 2, Severity::kError, "Chunks are missing."});
  EXPECT_EQ(Of("ledger.chunks_corrupt<=1"), Outcome::kFails);
}

TEST_F(CheckTest, ACounterThatSomeProcessDidNotCountIsNotKnown) {
  report_.ledger.push_back({"api_calls_suppressed", 1000, Severity::kInfo, "Queries."});
  report_.not_counted = {{"api_calls_suppressed", "Why."}};
  EXPECT_EQ(Of("ledger.api_calls_suppressed<=1000000"), Outcome::kUndecided);
}

TEST_F(CheckTest, APointerReachesAnyNumberOfTheJson) {
  EXPECT_EQ(Of("/processes/0/operations/0/count==12"), Outcome::kHolds);
  EXPECT_EQ(Of("/run/wall_ns<=1s"), Outcome::kHolds);
  EXPECT_EQ(Of("/run/gpu_busy_share>=40%"), Outcome::kHolds);
  EXPECT_EQ(Of("/run/gpu_limited_share>=40%"), Outcome::kUndecided) << "null";
  EXPECT_THAT(Check("/run/nothing>=1").why, HasSubstr("nothing at /run/nothing"));
  EXPECT_THAT(Check("/processes/99999999999999999999/pid>=1").why, HasSubstr("nothing at"));
  EXPECT_THAT(Check("/run/verdict>=1").why, HasSubstr("no number"));
}

TEST_F(CheckTest, TheReportTellsWhatUnitAPlainNumberOfTheJsonHas) {
  const auto mistake = [this](const std::string& text) {
    const auto parsed = ParseRequirement(text);
    return MistakeIn(std::get<Requirement>(parsed), report_);
  };
  EXPECT_FALSE(mistake("/processes/0/operations/0/count==12"));
  EXPECT_FALSE(mistake("/processes/0/pid>=-1"));
  EXPECT_FALSE(mistake("/run/nothing>=2x"));
  const auto wrong = mistake("/processes/0/operations/0/count==2x");
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->column, 34u);
  EXPECT_EQ(wrong->found, "'2x'");
  EXPECT_THAT(wrong->expected, HasSubstr("a plain number"));
}

TEST_F(CheckTest, ARunWithoutProcessesDecidesNothing) {
  report_.processes.clear();
  for (const char* text : {"simulation.wall<=1s", "iteration.median<=1s", "gpu_busy<=100%",
                           "ledger.chunks_corrupt==0", "/run/wall_ns>=0", "processes==0"}) {
    EXPECT_EQ(Of(text), Outcome::kUndecided) << text;
    EXPECT_THAT(Check(text).why, HasSubstr("nothing was recorded in the run"));
  }
}

TEST_F(CheckTest, ABaselineWithoutProcessesDecidesOnlyWhatIsNotAboutIt) {
  baseline_.processes.clear();
  EXPECT_EQ(Of("wall>=1x baseline"), Outcome::kUndecided);
  EXPECT_THAT(Check("wall>=1x baseline").why, HasSubstr("nothing was recorded in the baseline"));
  EXPECT_EQ(Of("gpu_busy>=40%"), Outcome::kHolds);
}

TEST_F(CheckTest, JUnitCountsFailuresAndErrorsAndEscapesNames) {
  MakeUnknown(100 * kMs);
  const std::vector<CheckResult> results{Check("gpu_busy>=1%"), Check("gpu_busy>=45%"),
                                         Check("\"<&\x01\".wall<=1s")};
  EXPECT_FALSE(AllHold(results));
  const std::string xml = RenderJUnit(results, "a \"run\"");
  EXPECT_THAT(xml, HasSubstr("tests=\"3\" failures=\"1\" errors=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"a &quot;run&quot;\""));
  EXPECT_THAT(xml, HasSubstr("name=\"gpu_busy&gt;=1%\" time=\"0\"/>"));
  EXPECT_THAT(xml, HasSubstr("<error type=\"undecided\" message=\"from 40 % to 50 %"));
  EXPECT_THAT(xml, HasSubstr("&lt;&amp;\\x01"));
  EXPECT_THAT(xml, Not(HasSubstr("\x01")));
}

TEST_F(CheckTest, JsonHoldsEveryResult) {
  const auto json = nlohmann::json::parse(
      RenderCheckJson({Check("gpu_busy>=1%"), Check("gpu_busy>=90%")}, "real"));
  EXPECT_EQ(json["format"], "gpubound.check.v1");
  EXPECT_EQ(json["device_kind"], "real");
  EXPECT_EQ(json["holds"], false);
  EXPECT_EQ(json["requirements"][0]["outcome"], "holds");
  EXPECT_EQ(json["requirements"][1]["found"], "40 %");
}

}  // namespace
}  // namespace gpubound
