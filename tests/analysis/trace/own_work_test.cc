// SPDX-License-Identifier: Apache-2.0
//
// What the profiler does on a program's threads, clipped to frames.
#include "analysis/trace/own_work.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace gpubound {
namespace {

constexpr LabelId kHooks{1};
constexpr LabelId kOperation{2};

ProcessTrace ProcessWithThreads(std::initializer_list<std::vector<ThreadEvent>> threads) {
  ProcessTrace process;
  process.labels.resize(3);
  process.labels[1] = {LabelKind::kAnnotation, Layer::kUnset, kOwnDomain, "hooks"};
  process.labels[2] = {LabelKind::kOperation, Layer::kUnset, "", "train"};
  for (const std::vector<ThreadEvent>& events : threads) {
    process.threads.emplace_back().events = events;
  }
  return process;
}

std::vector<ThreadEvent> Scope(LabelId label, int64_t begin_ns, int64_t end_ns) {
  ThreadEvent begin;
  begin.time_ns = begin_ns;
  begin.kind = SlotKind::kBegin;
  begin.label = label;
  ThreadEvent end = begin;
  end.time_ns = end_ns;
  end.kind = SlotKind::kEnd;
  return {begin, end};
}

TEST(OwnWorkTest, CountsWhatLiesInFrames) {
  const ProcessTrace process = ProcessWithThreads({Scope(kHooks, 100, 200)});
  EXPECT_EQ(OwnWorkWithin(process, {{50, 120}, {150, 160}, {190, 300}}), 20 + 10 + 10);
  EXPECT_EQ(OwnWorkWithin(process, {{200, 300}}), 0);
  EXPECT_EQ(OwnWorkWithin(process, {}), 0);
}

TEST(OwnWorkTest, TheProgramsScopesAreNone) {
  EXPECT_EQ(OwnWorkWithin(ProcessWithThreads({Scope(kOperation, 0, 900)}), {{0, 900}}), 0);
}

TEST(OwnWorkTest, WhatNestsOrOverlapsCountsOnce) {
  std::vector<ThreadEvent> nested = Scope(kHooks, 100, 200);
  const std::vector<ThreadEvent> inner = Scope(kHooks, 120, 130);
  nested.insert(nested.begin() + 1, inner.begin(), inner.end());
  const ProcessTrace process = ProcessWithThreads({nested, Scope(kHooks, 150, 250)});
  EXPECT_EQ(OwnWorkWithin(process, {{0, 900}}), 150);
}

}  // namespace
}  // namespace gpubound
