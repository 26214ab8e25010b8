// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound top` sees of a run whose older detail is gone, and of one that is too short.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/compact/compact.h"
#include "analysis/output/live/live_run.h"
#include "analysis/output/live/live_text.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::Begin;
using testing_support::End;
using testing_support::Kernel;
using testing_support::kInner;
using testing_support::kTrain;
using testing_support::SegmentWriter;

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMs;
constexpr uint64_t kSeconds = 8;
constexpr uint64_t kWindowSeconds = 3;

class ThinnedRun : public testing::Test {
 protected:
  ThinnedRun() : run_(files_.path()) {}

  // A segment for each second.
  struct Segment : SegmentWriter {
    Segment(const ThinnedRun& test, uint64_t second)
        : SegmentWriter(test.files_, {}, static_cast<uint32_t>(second)) {
      PutUsualRows();
      Meta("end_monotonic_ns", kSeconds * kSecond);
      Meta("sealed", 1);
    }
  };
  // In each second an operation of 800 ms, a kernel of 500 ms, and the end of an iteration.
  void WriteSeconds() {
    for (uint64_t second = 0; second < kSeconds; ++second) {
      const uint64_t at = second * kSecond;
      Segment writer(*this, second);
      writer.Scopes({.thread = 1, .first_sequence = 4 * second},
                    {Begin(kTrain, at), End(kTrain, at + 800 * kMs),
                     MakeSlot(SlotKind::kStep, LabelId{0}, at + 900 * kMs), second});
      WriteKernel(second, &writer);
    }
  }
  static void WriteKernel(uint64_t second, SegmentWriter* writer) {
    const uint64_t at = second * kSecond + 100 * kMs;
    writer->Work({.thread = 9, .first_sequence = second}, {Kernel(at, at + 500 * kMs, 1)});
  }
  void Thin() {
    Retention retention;
    retention.window_ns = kWindowSeconds * kSecond;
    const auto compaction = CompactRun(files_.path(), {}, retention);
    ASSERT_TRUE(compaction.ok()) << compaction.error().ToString();
    ASSERT_GT(compaction->events_removed, 0u);
  }
  LiveGlance Look() {
    Result<LiveGlance> glance = run_.Look();
    EXPECT_TRUE(glance.ok()) << (glance.ok() ? "" : glance.error().ToString());
    return glance.ok() ? std::move(*glance) : LiveGlance{};
  }
  static std::string TextOf(const LiveGlance& glance) {
    return RenderGlance(glance, "run", 100, {});
  }

  testing_support::TemporaryRun files_;
  LiveRun run_;
};

TEST_F(ThinnedRun, IsShownFromWhereDetailBegins) {
  WriteSeconds();
  Thin();
  const LiveGlance glance = Look();
  constexpr int64_t kWindow = kWindowSeconds * kSecond;
  EXPECT_EQ(glance.windows_ns, (LiveTimes{kSecond, kWindow, kWindow}));
  EXPECT_EQ(glance.Leading().operations.at(0).ns[2], kWindow * 8 / 10);
  EXPECT_EQ(glance.devices.at(0).busy_ns[2], kWindow / 2);
  EXPECT_EQ(glance.Leading().steps[2], kWindowSeconds);
  EXPECT_THAT(TextOf(glance), HasSubstr("Only the last 3.00 s have all detail"));
}

TEST_F(ThinnedRun, WhatWasReadBeforeIsStillShown) {
  WriteSeconds();
  Look();
  Thin();
  const LiveGlance glance = Look();
  constexpr int64_t kAll = kSeconds * kSecond;
  EXPECT_EQ(glance.windows_ns[2], kAll);
  EXPECT_EQ(glance.Leading().operations.at(0).ns[2], kAll * 8 / 10);
  EXPECT_THAT(TextOf(glance), Not(HasSubstr("Only the")));
}

TEST_F(ThinnedRun, AnOperationBegunBeforeGoesOnInWhatIsLeft) {
  for (uint64_t second = 0; second < kSeconds; ++second) {
    const uint64_t at = second * kSecond;
    Segment writer(*this, second);
    WriteKernel(second, &writer);
    if (second == 0) writer.Scopes({.thread = 1}, {Begin(kTrain, at)});
    if (second != 6) continue;
    writer.Scopes({.thread = 1, .first_sequence = 1},
                  {Begin(kInner, at), End(kInner, at + kSecond), End(kTrain, at + kSecond)},
                  {Raw(kTrain)});
  }
  Thin();
  const LiveGlance glance = Look();
  ASSERT_EQ(glance.Leading().operations.size(), 2u);
  for (const LiveGlance::OperationRow& row : glance.Leading().operations) {
    EXPECT_EQ(row.ns[2], kSecond) << row.name;
  }
}

TEST_F(ThinnedRun, AThreadOfWhichNoDetailIsLeftIsNotKnown) {
  for (uint64_t second = 0; second < kSeconds; ++second) {
    Segment writer(*this, second);
    WriteKernel(second, &writer);
    if (second == 0) writer.Scopes({.thread = 1}, {Begin(kTrain, 0)});
  }
  Thin();
  const LiveGlance glance = Look();
  EXPECT_FALSE(glance.Leading().operations_known);
  EXPECT_THAT(TextOf(glance), testing::ContainsRegex("not known. +100 % +100 %"));
  EXPECT_THAT(TextOf(glance), Not(HasSubstr("no operation")));
}

TEST_F(ThinnedRun, ARunOfLessThanABucketHasNoShares) {
  Segment writer(*this, 0);
  writer.Meta("end_monotonic_ns", 14 * kMs);
  writer.Work({.thread = 9}, {Kernel(0, 7 * kMs, 1)});
  const std::string text = TextOf(Look());
  EXPECT_THAT(text, HasSubstr("Less than 200 ms is recorded: too short for shares"));
  EXPECT_THAT(text, HasSubstr("now in  GPU busy\n"));
  EXPECT_THAT(text, Not(HasSubstr("%")));
}

TEST_F(ThinnedRun, AStepThatSaysWhereIterationsBeginEndsNone) {
  Segment writer(*this, 0);
  writer.Scopes({.thread = 1}, {MakeSlot(SlotKind::kStep, LabelId{0}, 10), kIterationsBegin,
                                MakeSlot(SlotKind::kStep, LabelId{0}, kSecond), 0});
  EXPECT_EQ(Look().Leading().steps[2], 1);
}

}  // namespace
}  // namespace gpubound
