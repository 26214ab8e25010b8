// SPDX-License-Identifier: Apache-2.0
//
// Predictions for a recorded run that a wrapper started: the first sentence, the tables and the run
// as it is speak of the same span.
#include "analysis/correction/what_if_report.h"
#include "analysis/correction/report_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/correction/run_report.h"
#include "analysis/output/text/what_if_text.h"
#include "analysis/report/what_if_result.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using testing_support::Begin;
using testing_support::End;
using testing_support::kTrain;

// 400 ns of device work that are waited for.
void PutAwaitedKernel(testing_support::SegmentWriter* segment) {
  segment->Sql("INSERT INTO label VALUES(4, 6, 0, '', 'cudaDeviceSynchronize')");
  segment->Scopes({.thread = 1, .first_sequence = 0}, {Begin(kTrain, 50), End(kTrain, 900)});
  ApiRecord wait = testing_support::Launch(120, 510, 2);
  wait.label = LabelId{4};
  segment->Calls({}, {testing_support::Launch(60, 100, 1), wait});
  segment->Work({}, {testing_support::Kernel(100, 500, 1)});
}

class WhatIfReportTest : public testing::Test {
 protected:
  // A span of 1000 ns in which 400 ns of device work are waited for, in a run of 1300 ns.
  WhatIfReportTest() {
    testing_support::SegmentWriter segment(run_, {});
    segment.PutUsualRows();
    PutAwaitedKernel(&segment);
    run_.Write("run.json", R"({"format": "gpubound.run.v1", "host": "host", "root_pid": 99,
                               "start_monotonic_ns": 0, "end_monotonic_ns": 1300})");
  }
  WhatIfReport With(const std::string& change) const {
    const Result<Scaling> scaling = ParseScaling(change);
    EXPECT_TRUE(scaling.ok());
    WhatIf changes;
    changes.scalings = {*scaling};
    Result<WhatIfReport> report = ImagineRun(run_.path(), {}, {changes});
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    return std::move(*report);
  }
  static int64_t PointOf(const WhatIfReport& report, const std::string& part, double factor) {
    for (const SpeedCurve& curve : report.curves) {
      if (curve.part != part) continue;
      for (const SpeedPoint& point : curve.points) {
        if (point.factor == factor) return point.wall_ns;
      }
    }
    return -1;
  }

  testing_support::TemporaryRun run_;
};

TEST_F(WhatIfReportTest, EachKeyIsNamedInTheDocumentation) {
  std::ifstream file(GPUBOUND_WHAT_IF_PAGE, std::ios::binary);
  std::string page{std::istreambuf_iterator<char>(file), {}};
  page.erase(0, page.find("\n## JSON\n"));
  page.resize(std::min(page.size(), page.find("\n## ", 1)));
  auto json = nlohmann::json::parse(RenderWhatIfJson(With("device:0.5")));
  json.erase("format");
  ASSERT_GT(json.size(), 10U);
  for (const auto& [key, value] : json.items()) {
    EXPECT_TRUE(page.find("`" + key + "`") != std::string::npos ||
                page.find("`" + key + "[]`") != std::string::npos)
        << key;
  }
}

TEST_F(WhatIfReportTest, NoChangeIsTheRunAsItIs) {
  const WhatIfReport report = With("device:1");
  EXPECT_EQ(report.before.run.wall_ns, 1300);
  EXPECT_EQ(report.after.run.wall_ns, 1300);
  EXPECT_EQ(PointOf(report, "gpu", 1), 1300);
}

TEST_F(WhatIfReportTest, TheFirstSentenceAndTheTableAgree) {
  const WhatIfReport as_is = With("device:1");
  for (const double factor : {0.5, 0.25, 0.0}) {
    const WhatIfReport report = With("device:" + std::to_string(factor));
    EXPECT_LT(report.after.run.wall_ns, 1300);
    EXPECT_EQ(PointOf(as_is, "gpu", factor), report.after.run.wall_ns);
    EXPECT_EQ(PointOf(report, "gpu", 1), report.after.run.wall_ns);
  }
}

TEST_F(WhatIfReportTest, EveryPartAsItIsTakesWhatTheFirstSentenceSays) {
  const WhatIfReport report = With("device:0.5");
  ASSERT_GT(report.curves.size(), 1u);
  for (const SpeedCurve& curve : report.curves) {
    ASSERT_EQ(curve.points.size(), 5u);
    EXPECT_EQ(curve.points[1].wall_ns, report.after.run.wall_ns) << curve.part;
  }
}

// PART=NAME, as --scale has it.
std::string ScaleOf(const ReportSaving& point) {
  if (point.part == "gpu") return "device";
  std::string part = point.part;
  std::replace(part.begin(), part.end(), '_', '-');
  return part + "=" + point.name;
}

TEST_F(WhatIfReportTest, EveryPointOfThePageIsWhatTheCommandSays) {
  ReportOptions options;
  options.replays = true;
  options.what_if = true;
  const Result<Report> report = ReportOfRun(run_.path(), options);
  ASSERT_TRUE(report.ok());
  std::vector<ReportSaving> points = report->run.savings;
  points.insert(points.end(), report->run.what_if.begin(), report->run.what_if.end());
  std::map<double, int> factors;
  for (const ReportSaving& point : points) {
    const WhatIfReport said = With(ScaleOf(point) + ":" + std::to_string(point.factor));
    SCOPED_TRACE(ScaleOf(point) + " x " + std::to_string(point.factor));
    const SpanRatio& ratio = point.of_iteration ? said.iteration_ratio : said.ratio;
    if (!point.of_iteration) {
      EXPECT_EQ(point.wall_ns, said.predicted_span_ns);
    }
    EXPECT_EQ(point.saves, 1 - ratio.part);
    EXPECT_EQ(point.saves_low, 1 - ratio.high);
    EXPECT_EQ(point.saves_high, 1 - ratio.low);
    ++factors[point.factor];
  }
  EXPECT_GE(factors[0.5], 2) << "the GPU and the operation's CPU code";
  EXPECT_EQ(factors[0.25], factors[0.5]);
  EXPECT_EQ(factors[0], factors[0.5]);
  options.what_if = false;
  const Result<Report> without = ReportOfRun(run_.path(), options);
  ASSERT_TRUE(without.ok());
  EXPECT_LE(without->run.what_if.size(), 1u)
      << "only a GPU that takes no time is always asked about";
}

TEST_F(WhatIfReportTest, AnOperationIsItsGpuWorkAndItsCpuCode) {
  const WhatIfReport both = With("operation=train:0.5");
  ASSERT_EQ(both.halves.size(), 2u);
  const WhatIfReport gpu = With("operation-gpu=train:0.5");
  const WhatIfReport cpu = With("operation-cpu=train:0.5");
  EXPECT_EQ(both.halves[0].part, "operation_gpu");
  EXPECT_EQ(both.halves[0].span_ns, gpu.predicted_span_ns);
  EXPECT_EQ(both.halves[1].part, "operation_cpu");
  EXPECT_EQ(both.halves[1].span_ns, cpu.predicted_span_ns);
  EXPECT_LT(gpu.predicted_span_ns, gpu.span_ns);
  EXPECT_LT(both.predicted_span_ns, std::min(gpu.predicted_span_ns, cpu.predicted_span_ns));
  EXPECT_TRUE(gpu.halves.empty());
  const std::string text = RenderWhatIfText(both, 100, true);
  EXPECT_NE(text.find("\nGPU work of train alone: "), std::string::npos) << text;
  EXPECT_NE(text.find("\nCPU code of train alone: "), std::string::npos) << text;
}

TEST_F(WhatIfReportTest, WhatIsNoOperationCannotBeAGraph) {
  WhatIf changes;
  changes.graph_capture = {"(no operation)"};
  EXPECT_FALSE(ImagineRun(run_.path(), {}, {changes}).ok());
}

// As torchrun does, which sleeps and looks, and sleeps.
TEST(WhatIfOfALauncher, IsAboutTheProcessThatItLaunches) {
  const testing_support::TemporaryRun run;
  {
    testing_support::SegmentWriter launcher(run, {.pid = 99});
    launcher.PutUsualRows();
    launcher.Sql("INSERT INTO label VALUES(4, 3, 2, '', 'time.sleep')");
    launcher.Scopes({.thread = 1}, {Begin(LabelId{4}, 10), End(LabelId{4}, 990)});
    testing_support::SegmentWriter rank(run, {.pid = 100});
    rank.PutUsualRows();
    rank.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 900)});
  }
  run.Write("run.json", R"({"format": "gpubound.run.v1", "host": "host", "root_pid": 99,
                            "start_monotonic_ns": 0, "end_monotonic_ns": 1000})");
  const auto at = [&run](double factor) {
    WhatIf changes;
    changes.scalings = {{ScaledPart::kOperationCpu, "train", factor}};
    Result<WhatIfReport> report = ImagineRun(run.path(), {}, {changes});
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    return std::move(*report);
  };
  const WhatIfReport report = at(0.5);
  EXPECT_EQ(report.span_ns - report.predicted_span_ns, 400);
  EXPECT_DOUBLE_EQ(report.ratio.part, static_cast<double>(report.predicted_span_ns) /
                                          static_cast<double>(report.span_ns));
  const std::string text = RenderWhatIfText(report, 200, true);
  EXPECT_EQ(text.find("Predicted span of program (pid 100) "), 0u) << text;
  EXPECT_NE(text.find("\ntrain "), std::string::npos) << text;
  EXPECT_NE(text.find("\nSpan of program (pid 100) with"), std::string::npos) << text;
}

// A recording of iterations ends in all processes when one of them has done them.
TEST(WhatIfOfSteps, EndsInEveryProcessWithTheIterations) {
  const testing_support::TemporaryRun run;
  const auto write = [&run](int64_t pid, LabelId operation, const std::vector<Slot>& steps) {
    testing_support::SegmentWriter segment(run, {.pid = pid});
    segment.PutUsualRows();
    segment.Meta("steps", "0:2");
    segment.Meta("steps_end_ns", 900);
    std::vector<Slot> slots = {Begin(operation, 0)};
    slots.insert(slots.end(), steps.begin(), steps.end());
    slots.push_back(End(operation, 950));
    segment.Scopes({.thread = 1}, slots);
  };
  const auto step = [](uint64_t time_ns) { return MakeSlot(SlotKind::kStep, LabelId{0}, time_ns); };
  write(100, testing_support::kInner, {});  // the root, whose span the run's is
  write(101, kTrain, {step(450), 0, step(900), 1});
  WhatIf changes;
  changes.scalings = {{ScaledPart::kOperationCpu, "train", 0.5}};
  const Result<WhatIfReport> report = ImagineRun(run.path(), {}, {changes});
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_EQ(report->before.run.wall_ns, 900);
  EXPECT_EQ(report->after.run.wall_ns, 450);
  ASSERT_EQ(report->after.processes.size(), 2u);
  for (const ReportProcess& process : report->after.processes) EXPECT_EQ(process.span_ns, 450);
  for (const SpeedCurve& curve : report->curves) {
    if (curve.part != "gpu") continue;
    for (const SpeedPoint& point : curve.points) EXPECT_EQ(point.wall_ns, 450) << "no device work";
  }
}

// Of kernels whose geometry is not known each is taken to fill the device.
TEST_F(WhatIfReportTest, CopiesOfARunAsItIsSaySoAloneAndNothingOfFasterParts) {
  const Result<WhatIfReport> report = ImagineRun(run_.path(), {}, {.copies = 2});
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_TRUE(report->only_copies);
  EXPECT_TRUE(report->curves.empty());
  EXPECT_TRUE(report->halves.empty());
  ASSERT_EQ(report->copies.size(), 2u);
  EXPECT_GT(report->copies[1].sliced_ns, 0);
  WhatIfReport unknown = *report;
  unknown.sm_fill.reset();
  EXPECT_NE(RenderWhatIfText(unknown, 500, true).find("is taken to fill the GPU"),
            std::string::npos);
  WhatIf changes;
  changes.scalings = {{ScaledPart::kOperationCpu, "train", 0.5}};
  const Result<WhatIfReport> both = ImagineRun(run_.path(), {}, {changes, {}, 2});
  ASSERT_TRUE(both.ok()) << both.error().ToString();
  EXPECT_FALSE(both->only_copies);
  EXPECT_FALSE(both->curves.empty());
}

TEST_F(WhatIfReportTest, APredictionThatMayBeAnythingIsNotShown) {
  WhatIfReport report = With("device:0.5");
  report.ratio = {0.99, 0.02, 1.99};
  const std::string text = RenderWhatIfText(report, 500, true);
  EXPECT_EQ(text.find("No prediction: the run waits for something that was not recorded, and "
                      "depending on that it saves 1.0 % (-99 to 98).\n"),
            0u)
      << text;
  EXPECT_EQ(text.find("Predicted"), std::string::npos) << text;
  EXPECT_EQ(text.find("Operation"), std::string::npos) << text;
}

// After 100 ms come two cells of ten iterations. They begin 500 ms apart, and between them the kernel waits for its
// client. Of an iteration 0.5 ms are not `train`; of all twenty 19 of 29 ms are. Another thread sleeps and looks: once that
// falls into a framework's call.
class WhatIfOfANotebook : public testing::Test {
 protected:
  static constexpr LabelId kSelect{4};
  static constexpr LabelId kSleep{5};
  static constexpr LabelId kCall{6};

  WhatIfOfANotebook() {
    testing_support::SegmentWriter segment(run_, {});
    segment.PutUsualRows();
    segment.Meta("end_monotonic_ns", 1'000'000'000);
    segment.Meta("python", 1);
    segment.Sql("INSERT INTO label VALUES(4, 3, 2, '', 'EpollSelector.select')");
    segment.Sql("INSERT INTO label VALUES(5, 3, 2, '', 'time.sleep')");
    segment.Sql("INSERT INTO label VALUES(6, 3, 5, '', 'call')");
    segment.Sql("INSERT INTO thread VALUES(2, 101, 'poller')");
    std::vector<Slot> slots;
    for (uint64_t cell = 0; cell < 2; ++cell) {
      uint64_t us = 100'000 + cell * 500'000;
      const auto step = [&slots, &us](uint64_t number) {
        slots.insert(slots.end(), {MakeSlot(SlotKind::kStep, LabelId{0}, us * 1'000), number});
      };
      step(kIterationsBegin);
      for (uint64_t i = 0; i < 10; ++i) {
        slots.insert(slots.end(), {Begin(kTrain, us * 1'000), Begin(kCall, (us + 1) * 1'000)});
        us += 500 + 100 * i;
        slots.insert(slots.end(), {End(kCall, (us - 1) * 1'000), End(kTrain, us * 1'000)});
        us += 500;
        step(10 * cell + i);
      }
      slots.insert(slots.end(), {Begin(kSelect, (us + 10) * 1'000),
                                 End(kSelect, (590'000 + cell * 400'000) * 1'000)});
    }
    segment.Scopes({.thread = 1}, slots);
    segment.Scopes({.thread = 2}, {Begin(kSleep, 8'500'000), End(kSleep, 108'500'000),
                                   Begin(kSleep, 108'510'000), End(kSleep, 208'510'000)});
  }
  WhatIfReport WithFastTrain() const {
    WhatIf changes;
    changes.scalings = {{ScaledPart::kOperationCpu, "train", 0.5}};
    Result<WhatIfReport> report = ImagineRun(run_.path(), {}, {changes});
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    return std::move(*report);
  }

  testing_support::TemporaryRun run_;
};

TEST_F(WhatIfOfANotebook, SaysWhatAnIterationGainsWhateverLiesBetweenCells) {
  const WhatIfReport report = WithFastTrain();
  EXPECT_NEAR(report.iteration_ratio.part, 1 - 0.5 * 19 / 29, 1e-3);
  EXPECT_GT(report.iteration_ratio.low, 0.6);
  EXPECT_LT(report.iteration_ratio.high, 0.75) << "no wait for the client is in it";
  EXPECT_NEAR(report.ratio.part, 1 - 0.5 * 0.019, 1e-3);
  EXPECT_LT(report.ratio.high - report.ratio.low, 0.02) << "start-up and waits do not vary";
  const nlohmann::json json = nlohmann::json::parse(RenderWhatIfJson(report));
  EXPECT_DOUBLE_EQ(json["iteration"]["predicted_part"], report.iteration_ratio.part);
}

TEST_F(WhatIfOfANotebook, HasAPredictionOfAnIterationWhereTheRunHasNone) {
  const std::string saved =
      " Of an iteration, without what lies before, between and after them, it saves 33 % (";
  WhatIfReport report = WithFastTrain();
  EXPECT_NE(RenderWhatIfText(report, 500, true).find(saved.substr(1)), std::string::npos);
  report.ratio = {0.99, 0.02, 1.99};
  const std::string text = RenderWhatIfText(report, 500, true);
  EXPECT_EQ(text.find("No prediction: "), 0u) << text;
  EXPECT_NE(text.find(saved), std::string::npos) << text;
}

TEST_F(WhatIfReportTest, WithoutIterationsNothingIsSaidOfThem) {
  const WhatIfReport report = With("device:0.5");
  EXPECT_EQ(RenderWhatIfText(report, 500, true).find("iteration"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(RenderWhatIfJson(report))["iteration"].is_null());
}

TEST_F(WhatIfReportTest, WhatChangesNothingSavesNothingAndASlowerPartTakesLonger) {
  EXPECT_NE(RenderWhatIfText(With("device:1"), 500, true).find("1.30 us: saves 0 % ("),
            std::string::npos);
  EXPECT_NE(RenderWhatIfText(With("device:0"), 500, true).find(": saves "), std::string::npos);
  EXPECT_NE(RenderWhatIfText(With("device:2"), 500, true).find(": takes longer by "),
            std::string::npos);
}

TEST(WhatIfOfManyOperations, AnUnknownOneIsToldThoseWithMostTime) {
  const testing_support::TemporaryRun run;
  testing_support::SegmentWriter segment(run, {});
  segment.PutUsualRows();
  std::vector<Slot> slots;
  for (int i = 0; i < 100; ++i) {
    const std::string id = std::to_string(100 + i);
    segment.Sql("INSERT INTO label VALUES(" + id + ", 1, 0, '', 'operation_" + id + "')");
    const auto label = static_cast<LabelId>(100 + i);
    const uint64_t begin_ns = static_cast<uint64_t>(i) * 9;
    slots.push_back(Begin(label, begin_ns));
    slots.push_back(End(label, begin_ns + (i == 70 ? 8 : 5)));
  }
  segment.Scopes({.thread = 1, .first_sequence = 0}, slots);
  WhatIf changes;
  changes.scalings = {{ScaledPart::kOperationCpu, "foo", 0.5}};
  const Result<WhatIfReport> report = ImagineRun(run.path(), {}, {changes});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().expected.find("operation_170, "), std::string::npos);
  EXPECT_LT(report.error().expected.size(), 300u) << report.error().expected;
}

// The reporting thread does 300 us of its own in each iteration, then waits 600 us for another
// thread, which works for 560 of these; nothing says that it waits for that one.
class WhatIfOfCoupledThreads : public testing::Test {
 protected:
  static constexpr int kIterations = 20;
  static constexpr LabelId kWait{4};

  WhatIfOfCoupledThreads() {
    testing_support::SegmentWriter segment(run_, {});
    segment.PutUsualRows();
    segment.Meta("end_monotonic_ns", kIterations * 1'000'000);
    segment.Sql("INSERT INTO label VALUES(4, 3, 2, '', 'queue')");
    segment.Sql("INSERT INTO thread VALUES(2, 101, 'worker')");
    std::vector<Slot> main;
    std::vector<Slot> worker = {Begin(kWait, 0)};
    for (uint64_t i = 0; i < kIterations; ++i) {
      const uint64_t us = i * 1'000;
      const auto at = [us](uint64_t of) { return (us + of) * 1'000; };
      main.insert(main.end(),
                  {Begin(kTrain, at(1)), End(kTrain, at(301)), Begin(kWait, at(302)),
                   End(kWait, at(902)), MakeSlot(SlotKind::kStep, LabelId{0}, at(990)), i});
      worker.insert(worker.end(), {End(kWait, at(310)), Begin(testing_support::kInner, at(320)),
                                   End(testing_support::kInner, at(880)), Begin(kWait, at(890))});
    }
    segment.Scopes({.thread = 1}, main);
    segment.Scopes({.thread = 2}, worker);
  }
  SpanRatio Scaled(const std::string& operation, double factor) const {
    WhatIf changes;
    changes.scalings = {{ScaledPart::kOperationCpu, operation, factor}};
    const Result<WhatIfReport> report = ImagineRun(run_.path(), {}, {changes});
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    return report.ok() ? report->ratio : SpanRatio{};
  }

  testing_support::TemporaryRun run_;
};

TEST_F(WhatIfOfCoupledThreads, WhatTheOtherMayHaveBeenAwaitedForIsInTheInterval) {
  const SpanRatio faster = Scaled("inner", 0.5);
  EXPECT_NEAR(faster.part, 1, 0.001) << "nothing says that the wait was for it";
  EXPECT_NEAR(faster.low, 1 - 0.28, 0.005);
  EXPECT_NEAR(faster.high, 1, 0.001);
  EXPECT_NEAR(Scaled("inner", 0).low, 1 - 0.56, 0.005);
  const SpanRatio slower = Scaled("inner", 1.5);
  EXPECT_LE(slower.low, 1.28);
  EXPECT_GE(slower.high, 1.27);
}

TEST_F(WhatIfOfCoupledThreads, OthersThatDoTheSameWidenNothing) {
  const SpanRatio faster = Scaled("train", 0.5);
  EXPECT_NEAR(faster.part, 1 - 0.15, 0.005);
  EXPECT_NEAR(faster.high - faster.low, 0, 0.005);
  const SpanRatio same = Scaled("inner", 1);
  EXPECT_NEAR(same.high - same.low, 0, 0.001);
}

TEST_F(WhatIfReportTest, ALayerThatTheRunDoesNotHaveIsNoChange) {
  WhatIf changes;
  changes.scalings = {{ScaledPart::kLayer, "python", 0}};
  const Result<WhatIfReport> report = ImagineRun(run_.path(), {}, {changes});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().doing, "changing");
  EXPECT_EQ(report.error().object, "layer 'python'");
  EXPECT_EQ(report.error().expected, "cuda_api, native") << "waits cannot be scaled";
  changes.scalings = {{ScaledPart::kLayer, "native", 0.5}};
  EXPECT_TRUE(ImagineRun(run_.path(), {}, {changes}).ok());
}

// One kernel of 400 ns, of 8 blocks, on a T4 or what |device| is.
class OtherGpuTest : public testing::Test {
 protected:
  static Result<WhatIfReport> Imagine(const std::string& device, const WhatIf& changes,
                                      uint32_t copies = 0, const char* sql = "") {
    const testing_support::TemporaryRun run;
    {
      testing_support::SegmentWriter segment(run, {});
      segment.PutUsualRows();
      segment.Sql("UPDATE device SET name = '" + device +
                  "', multiprocessors = 40, max_warps = 32, max_blocks = 16, compute_major = 7");
      segment.Sql(sql);
      PutAwaitedKernel(&segment);
    }
    return ImagineRun(run.path(), {}, {changes, {}, copies});
  }
  static WhatIf On(const char* gpu) {
    WhatIf changes;
    changes.gpu.kind = KindNamed(gpu);
    return changes;
  }
};

// 8 blocks take one multiprocessor each: 40 of 108 share what the device reaches, so that the kernel
// takes 108 / 40 of 320 / 2039 of its time by memory, and of 65 / 312 by products of matrices.
TEST_F(OtherGpuTest, IsPredictedBetweenItsMemoryAndItsArithmetic) {
  const Result<WhatIfReport> report = Imagine("Tesla T4", On("A100"));
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_EQ(report->gpu_from, "T4");
  EXPECT_EQ(report->gpu_to, "A100");
  const double by_memory = 108.0 / 40 * 320 / 2039;
  const double by_arithmetic = 108.0 / 40 * 65 / 312;
  const auto span = static_cast<double>(report->span_ns);
  const auto spared = [&](double factor) { return 1 - 400 * (1 - factor) / span; };
  EXPECT_NEAR(report->ratio.low, spared(by_memory), 0.005);
  EXPECT_NEAR(report->ratio.part, spared(std::sqrt(by_memory * by_arithmetic)), 0.005);
  EXPECT_NEAR(report->ratio.high, spared(by_arithmetic), 0.005);
  EXPECT_NE(RenderWhatIfText(*report, 500, true).find("A100 in place of T4: "), std::string::npos);
  const auto said = nlohmann::json::parse(RenderWhatIfJson(*report));
  EXPECT_EQ(said["gpu"]["from"], "T4");
  EXPECT_EQ(said["gpu"]["to"], "A100");
}

TEST_F(OtherGpuTest, OfOneWithoutADataSheetIsRefused) {
  const Result<WhatIfReport> report = Imagine("Simulated GPU", On("A100"));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().doing, "changing");
  EXPECT_EQ(report.error().found, "Simulated GPU");
}

TEST_F(OtherGpuTest, HasRoomForMoreEnvironments) {
  WhatIf changes;
  changes.environments = 8;
  const Result<WhatIfReport> report = Imagine("Simulated GPU", changes);
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_EQ(report->predicted_span_ns, report->span_ns) << "64 blocks are one wave as well";
  EXPECT_DOUBLE_EQ(ThroughputRatio(*report), 8);
  EXPECT_NE(RenderWhatIfText(*report, 500, true)
                .find("8 times as many environments a launch: at most 8 times the throughput"),
            std::string::npos)
      << RenderWhatIfText(*report, 500, true);
  const auto said = nlohmann::json::parse(RenderWhatIfJson(*report));
  EXPECT_EQ(said["vectorised"]["environments"], 8);
  EXPECT_EQ(said["vectorised"]["throughput_at_most"], 8);
}

// A trainer and two that roll out, a process and a GPU each.
TEST(MovedGpusTest, ChangeTheTimeOfWhatProcessesDoInTheirRole) {
  const testing_support::TemporaryRun run;
  for (const int pid : {100, 101, 102}) {
    testing_support::SegmentWriter segment(run, {.pid = pid});
    segment.PutUsualRows();
    segment.Sql("UPDATE device SET uuid = 'GPU-" + std::to_string(pid) + "'");
    const bool trains = pid == 100;
    segment.Sql("UPDATE label SET text = '" + std::string(trains ? "update" : "rollout") +
                "' WHERE text = 'train'");
    const uint64_t end_ns = trains ? 800 : 300;
    segment.Scopes({1, 0, 0, INT64_MIN}, {Begin(kTrain, 200), End(kTrain, end_ns)});
    segment.Calls({9, 0, 0, INT64_MIN}, {testing_support::Launch(210, 212, 7)});
    segment.Work({9, 0, 0, INT64_MIN}, {testing_support::Kernel(220, 260, 7)});
  }
  const Result<WhatIfReport> report = ImagineRun(run.path(), {}, {.move = {"rollout", "train", 1}});
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  const auto wall = [&report](size_t process, const std::string& operation) {
    for (const ReportOperation& row : report->after.processes[process].operations) {
      if (row.operation == operation) return row.wall_ns;
    }
    return int64_t{-1};
  };
  EXPECT_NEAR(wall(0, "update"), 300, 2);
  EXPECT_NEAR(wall(1, "rollout"), 200, 2);
  EXPECT_NEAR(wall(2, "rollout"), 200, 2);
  EXPECT_NE(RenderWhatIfText(*report, 500, true)
                .find("rollout with 1 GPU instead of 2, train with 2 instead of 1"),
            std::string::npos)
      << RenderWhatIfText(*report, 500, true);
  const auto said = nlohmann::json::parse(RenderWhatIfJson(*report))["moved_gpus"];
  EXPECT_EQ(said["from"], "rollout");
  EXPECT_EQ(said["gpus"], 1);
  EXPECT_EQ(said["from_had"], 2);
  EXPECT_EQ(said["to_had"], 1);
}

// The kernels of two copies are ready at once. Sliced in time, one waits for 400 ns; its 8 blocks of
// 640 leave room for the other.
TEST_F(OtherGpuTest, IsSharedByCopiesOfTheRun) {
  const Result<WhatIfReport> report = Imagine("Simulated GPU", {}, 3);
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  ASSERT_EQ(report->copies.size(), 3u);
  const int64_t alone_ns = report->copies[0].sliced_ns;
  EXPECT_EQ(alone_ns, report->span_ns);
  EXPECT_EQ(report->copies[1].sliced_ns, alone_ns + 200) << "the mean of both";
  EXPECT_EQ(report->copies[2].sliced_ns, alone_ns + 400) << "the mean of 0, 400 and 800";
  EXPECT_EQ(report->copies[2].beside_ns, alone_ns);
  EXPECT_EQ(EnoughCopies(*report, false), 3u);
  const std::string text = RenderWhatIfText(*report, 500, true);
  EXPECT_NE(text.find("Runs like this one that share its GPU"), std::string::npos) << text;
  EXPECT_EQ(text.find("Predicted span"), std::string::npos) << "nothing else is asked\n" << text;
  const auto said = nlohmann::json::parse(RenderWhatIfJson(*report));
  EXPECT_EQ(said["copies"]["points"][1]["time_sliced_wall_ns"], alone_ns + 200);
  WhatIf faster;
  faster.scalings = {{ScaledPart::kDevice, "", 0}};
  const Result<WhatIfReport> both = Imagine("Simulated GPU", faster, 2);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->copies[1].sliced_ns, both->copies[0].sliced_ns) << "no kernel waits for another";
  EXPECT_EQ(RenderWhatIfText(*both, 500, true).find("Predicted span"), 0u);
}

TEST_F(OtherGpuTest, HasMemoryForAsManyCopiesAsWhatWasInUseFits) {
  const Result<WhatIfReport> unknown = Imagine("Simulated GPU", {}, 2);
  ASSERT_TRUE(unknown.ok());
  EXPECT_FALSE(unknown->fit_in_memory);
  EXPECT_TRUE(
      nlohmann::json::parse(RenderWhatIfJson(*unknown))["copies"]["fit_in_memory"].is_null());
  const char* used =
      "UPDATE device SET memory_bytes = 1000; INSERT INTO utilization(time_ns, uuid, "
      "memory_used_bytes) SELECT 200, uuid, 300 FROM device WHERE id = 1";
  const Result<WhatIfReport> report = Imagine("Tesla T4", {}, 2, used);
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_EQ(report->fit_in_memory, 3u);
  EXPECT_EQ(nlohmann::json::parse(RenderWhatIfJson(*report))["copies"]["fit_in_memory"], 3);
  const std::string text = RenderWhatIfText(*report, 500, true);
  EXPECT_NE(text.find("holds at least 3 such runs"), std::string::npos) << text;
}

TEST(EnoughCopiesTest, IsWhereOneMoreAddsLessThanAHundredth) {
  WhatIfReport report;
  report.copies = {{1, 100, 100}, {2, 110, 100}, {3, 164, 101}, {4, 220, 102}};
  EXPECT_EQ(EnoughCopies(report, false), 2u);
  EXPECT_EQ(EnoughCopies(report, true), 4u);
}

TEST_F(OtherGpuTest, AFusedOperationSaysHowManyKernelsRemain) {
  WhatIf changes;
  changes.fuse = {"train"};
  const Result<WhatIfReport> report = Imagine("Simulated GPU", changes);
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_NE(RenderWhatIfText(*report, 500, true).find("1 fused kernel. It may be shorter still"),
            std::string::npos)
      << RenderWhatIfText(*report, 500, true);
  changes.fuse = {"(no operation)"};
  EXPECT_FALSE(Imagine("Simulated GPU", changes).ok());
  changes.fuse = {"trian"};
  const Result<WhatIfReport> unknown = Imagine("Simulated GPU", changes);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().remedy, "Did you mean 'train'?");
}

TEST(WhatIfWithoutAGpu, AFasterDeviceIsNoChange) {
  testing_support::TemporaryRun run;
  {
    testing_support::SegmentWriter segment(run, {});
    segment.PutUsualRows();
    segment.Sql("DELETE FROM work");
    segment.Scopes({.thread = 1, .first_sequence = 0}, {Begin(kTrain, 50), End(kTrain, 900)});
  }
  WhatIf changes;
  changes.scalings = {{ScaledPart::kDevice, "", 0}};
  const Result<WhatIfReport> report = ImagineRun(run.path(), {}, {changes});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().found, "no device work in the run");
  const Result<WhatIfReport> copies = ImagineRun(run.path(), {}, {.copies = 2});
  ASSERT_FALSE(copies.ok()) << "nothing is shared";
  EXPECT_EQ(copies.error().found, "no device work in the run");
}

TEST_F(WhatIfReportTest, ThatTheProfilersCostsAreInItIsSaid) {
  ReportOptions options;
  options.why_no_costs = "not measured here";
  WhatIf changes;
  changes.scalings = {{ScaledPart::kDevice, "", 0.5}};
  const auto imagine = [&] { return ImagineRun(run_.path(), options, {changes}); };
  const Result<WhatIfReport> recorded = imagine();
  ASSERT_TRUE(recorded.ok());
  EXPECT_FALSE(recorded->not_corrected.empty());
  const std::string text = RenderWhatIfText(*recorded, 500, true);
  EXPECT_NE(text.find("not corrected for profiling (" + recorded->not_corrected),
            std::string::npos);
  const auto said = nlohmann::json::parse(RenderWhatIfJson(*recorded));
  EXPECT_EQ(said["corrected"], false);
  EXPECT_EQ(said["corrected_why_not"], recorded->not_corrected);
  EXPECT_EQ(said["before"]["processes"][0]["corrected_why_not"], recorded->not_corrected);
  WhatIfReport sentence = *recorded;
  sentence.not_corrected = "found none, expected one.";
  EXPECT_NE(RenderWhatIfText(sentence, 500, true).find("(found none, expected one).\n"),
            std::string::npos);

  options.costs.emplace();
  const Result<WhatIfReport> corrected = imagine();
  ASSERT_TRUE(corrected.ok());
  EXPECT_EQ(corrected->not_corrected, "");
  EXPECT_EQ(RenderWhatIfText(*corrected, 500, true).find("not corrected"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(RenderWhatIfJson(*corrected))["corrected"], true);
}

}  // namespace
}  // namespace gpubound
