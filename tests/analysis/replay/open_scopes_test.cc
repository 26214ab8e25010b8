// SPDX-License-Identifier: Apache-2.0
//
// Open scopes against a plain list of them, and hand-overs that nobody takes up.
#include "analysis/replay/open_scopes.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "analysis/replay/hand_overs.h"

namespace gpubound {
namespace {

class OpenScopesTest : public testing::Test {
 protected:
  // What opens has a name, or a number as a range has; maybe an operation, maybe a layer.
  void Open() {
    OpenScope scope;
    scope.is_range = random_() % 2 == 0;
    scope.label = static_cast<LabelId>(random_() % kNames);
    scope.range = random_() % kNames;
    scope.begun_ns = ++opened_;
    if (random_() % 3 == 0) scope.operation = static_cast<OperationIndex>(opened_);
    if (random_() % 3 == 0) scope.layer = static_cast<Layer>(1 + random_() % 7);
    scopes_.Open(scope);
    list_.push_back(scope);
  }
  // The innermost of a kind, if one is open.
  void End() {
    const bool is_range = random_() % 2 == 0;
    const uint64_t name = random_() % kNames;
    size_t i = list_.size();
    while (i > 0 && (list_[i - 1].is_range != is_range ||
                     (is_range ? list_[i - 1].range : Raw(list_[i - 1].label)) != name)) {
      --i;
    }
    OpenScope* const found =
        scopes_.FindEnded({0, is_range ? name : 0, static_cast<LabelId>(is_range ? 0 : name),
                           is_range ? SlotKind::kRangeEnd : SlotKind::kEnd});
    ASSERT_EQ(found == nullptr, i == 0);
    if (i == 0) return;
    ASSERT_EQ(found->begun_ns, list_[i - 1].begun_ns);
    scopes_.Close(found);
    list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(i - 1));
  }
  void ExpectTheSame() {
    OperationIndex operation = kNotOne;
    Layer layer = Layer::kUnset;
    for (const OpenScope& scope : list_) {
      if (scope.operation != kNotOne) operation = scope.operation;
      if (scope.layer != Layer::kUnset) layer = scope.layer;
    }
    ASSERT_EQ(scopes_.operation(), operation);
    ASSERT_EQ(scopes_.layer(), layer);
    ASSERT_EQ(scopes_.empty(), list_.empty());
    if (!list_.empty()) {
      ASSERT_EQ(scopes_.top().begun_ns, list_.back().begun_ns);
    }
  }

  static constexpr uint64_t kNames = 150;
  std::mt19937_64 random_{1};
  int64_t opened_ = 0;
  OpenScopes scopes_;
  std::vector<OpenScope> list_;
};

TEST_F(OpenScopesTest, AnyOrderOfEndsLeavesWhatAListWouldHold) {
  for (int i = 0; i < 50'000 && !HasFatalFailure(); ++i) {
    // Now and then hardly any is open.
    const uint64_t usual = i % 5'000 < 4'000 ? 300 : 3;
    if (random_() % (2 * usual) >= list_.size()) {
      Open();
    } else {
      End();
    }
    ExpectTheSame();
  }
}

TEST(HandOversTest, TheLatestAreKnownAndOthersTakeNoMemory) {
  HandOvers hand_overs;
  constexpr uint64_t kMany = 10 * HandOvers::kMost;
  for (uint64_t token = 1; token <= kMany; ++token) {
    hand_overs.Add(token, {static_cast<int64_t>(token), {}});
  }
  EXPECT_EQ(hand_overs.size(), HandOvers::kMost);
  EXPECT_EQ(hand_overs.Find(1), nullptr);
  ASSERT_NE(hand_overs.Find(kMany), nullptr);
  EXPECT_EQ(hand_overs.Find(kMany)->time_ns, static_cast<int64_t>(kMany));
}

TEST(HandOversTest, ATokenOfferedAgainIsAsNewAsThat) {
  HandOvers hand_overs;
  hand_overs.Add(0, {1, {}});
  for (uint64_t token = 1; token < HandOvers::kMost; ++token) hand_overs.Add(token, {2, {}});
  hand_overs.Add(0, {3, {}});
  for (uint64_t token = 1; token < HandOvers::kMost; ++token) {
    hand_overs.Add(HandOvers::kMost + token, {4, {}});
    ASSERT_NE(hand_overs.Find(0), nullptr) << token;
    ASSERT_EQ(hand_overs.Find(0)->time_ns, 3);
  }
  hand_overs.Add(2 * HandOvers::kMost, {5, {}});
  EXPECT_EQ(hand_overs.Find(0), nullptr);
}

}  // namespace
}  // namespace gpubound
