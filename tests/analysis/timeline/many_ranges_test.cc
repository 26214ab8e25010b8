// SPDX-License-Identifier: Apache-2.0
//
// Ranges and scopes that end in any order, many open at once. What is beneath an ended one shows
// through, and where an end cost what is open above it, the last of these tests would go on for
// minutes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analysis/attribution/process_report.h"
#include "analysis/replay/replay.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

constexpr int64_t kEvents = 6000;
constexpr size_t kUsuallyOpen = 200;
constexpr int64_t kMany = 100'000;

using Cells = std::map<std::string, int64_t>;  // "operation|layer" -> ns

struct Name {
  LabelKind kind;
  Layer layer;
  std::string text;
};
const std::vector<Name> kNames = {{LabelKind::kOperation, Layer::kUnset, "a"},
                                  {LabelKind::kOperation, Layer::kUnset, "b"},
                                  {LabelKind::kAnnotation, Layer::kUnset, "note"},
                                  {LabelKind::kLayer, Layer::kNative, "native"},
                                  {LabelKind::kLayer, Layer::kBackend, "backend"}};

class ManyRangesTest : public testing::Test {
 protected:
  ManyRangesTest() {
    trace_.identity = {"host", 7, 1};
    trace_.main_tid = 1;
    trace_.python = true;
    trace_.labels.resize(1);
    for (const Name& name : kNames) trace_.labels.push_back({name.kind, name.layer, "", name.text});
    trace_.threads.resize(1);
    trace_.threads[0].ordinal = ThreadId{1};
    trace_.threads[0].tid = 1;
  }

  void Start(int64_t time_ns, uint64_t range, size_t name) {
    trace_.threads[0].events.push_back(
        {time_ns, range, static_cast<LabelId>(name + 1), SlotKind::kRangeStart});
  }
  void End(int64_t time_ns, uint64_t range) {
    trace_.threads[0].events.push_back({time_ns, range, LabelId{}, SlotKind::kRangeEnd});
  }

  Cells Analyzed(int64_t span_end_ns) {
    trace_.span_end_ns = span_end_ns;
    Result<ProcessAnalysis> analysis = AnalyzeProcess(trace_, {});
    EXPECT_TRUE(analysis.ok()) << (analysis.ok() ? "" : analysis.error().ToString());
    Cells cells;
    if (!analysis.ok()) return cells;
    for (const ReportCell& cell : analysis->report.cells) {
      cells[cell.operation + "|" + cell.layer] += cell.ns;
    }
    return cells;
  }

  // Of a replay that changes nothing.
  int64_t ReplayedSpan(int64_t span_end_ns) {
    trace_.span_end_ns = span_end_ns;
    gpubound::Run run;
    run.processes.push_back(trace_);
    ReplayOptions options;
    options.keep_events = false;
    const Result<ReplayedRun> replayed = ReplayRun(run, options);
    EXPECT_TRUE(replayed.ok());
    return (*replayed).facts.at(0).span_end_ns - (*replayed).facts.at(0).span_begin_ns;
  }

  ProcessTrace trace_;
};

TEST_F(ManyRangesTest, WhatLiesBeneathShowsThroughWhicheverEnds) {
  struct Open {
    uint64_t range;
    size_t name;
  };
  std::mt19937_64 random(1);
  std::vector<Open> open;
  Cells expected;
  for (int64_t now_ns = 0; now_ns < kEvents; ++now_ns) {
    // About as many are open, and now and then nearly none.
    const bool fewer = now_ns % 1000 > 700;
    if (open.empty() || (!fewer && random() % (2 * kUsuallyOpen) >= open.size())) {
      open.push_back({static_cast<uint64_t>(now_ns), random() % kNames.size()});
      Start(now_ns, open.back().range, open.back().name);
    } else {
      const auto ended = open.begin() + static_cast<std::ptrdiff_t>(random() % open.size());
      End(now_ns, ended->range);
      open.erase(ended);
    }
    std::string operation = kNoOperation;
    std::string layer = "python";
    for (const Open& of : open) {
      if (kNames[of.name].kind == LabelKind::kOperation) operation = kNames[of.name].text;
      if (kNames[of.name].kind == LabelKind::kLayer) layer = kNames[of.name].text;
    }
    ++expected[operation + "|" + layer];
  }
  EXPECT_EQ(Analyzed(kEvents), expected);
}

TEST_F(ManyRangesTest, TheFirstOfManyMayEndFirst) {
  for (int64_t i = 0; i < kMany; ++i) Start(i, static_cast<uint64_t>(i), i % 2 == 0 ? 0 : 1);
  for (int64_t i = 0; i < kMany; ++i) End(kMany + i, static_cast<uint64_t>(i));
  const Cells cells = Analyzed(2 * kMany - 1);
  // The one begun last owns the time until it ends, last of all.
  EXPECT_EQ(cells, (Cells{{"a|python", kMany / 2}, {"b|python", kMany / 2 + kMany - 1}}));
}

TEST_F(ManyRangesTest, InAReplayToo) {
  for (int64_t i = 0; i < kMany; ++i) Start(i, static_cast<uint64_t>(i), i % 2 == 0 ? 0 : 1);
  for (int64_t i = 0; i < kMany; ++i) End(kMany + i, static_cast<uint64_t>(i));
  EXPECT_EQ(ReplayedSpan(2 * kMany), 2 * kMany);
}

// Each scope by another name: the end of one that lies deep is looked up.
TEST_F(ManyRangesTest, SoMayTheFirstOfManyScopes) {
  const size_t first = trace_.labels.size();
  std::vector<ThreadEvent>& events = trace_.threads[0].events;
  for (int64_t i = 0; i < kMany; ++i) {
    trace_.labels.push_back(trace_.labels[1 + static_cast<size_t>(i % 2)]);
    events.push_back(
        {i, 0, static_cast<LabelId>(first + static_cast<size_t>(i)), SlotKind::kBegin});
  }
  for (int64_t i = 0; i < kMany; ++i) {
    events.push_back(
        {kMany + i, 0, static_cast<LabelId>(first + static_cast<size_t>(i)), SlotKind::kEnd});
  }
  EXPECT_EQ(Analyzed(2 * kMany - 1),
            (Cells{{"a|python", kMany / 2}, {"b|python", kMany / 2 + kMany - 1}}));
  EXPECT_EQ(ReplayedSpan(2 * kMany), 2 * kMany);
}

}  // namespace
}  // namespace gpubound
