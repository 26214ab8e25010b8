// SPDX-License-Identifier: Apache-2.0
#include "analysis/processes/collective_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class CollectiveMatchTest : public testing::Test {
 protected:
  void Kernel(size_t rank, int64_t begin_ns, int64_t end_ns,
              const std::string& name = "AllReduce") {
    match_.Add(name, {rank, {begin_ns, end_ns}});
  }
  void KernelOfGroup(size_t group, size_t rank, int64_t begin_ns, int64_t end_ns) {
    match_.Add("AllReduce", {rank, {begin_ns, end_ns}, group});
  }
  // The ranks of each collective that is complete, in the order in which they entered.
  std::vector<std::vector<size_t>> Complete() {
    std::vector<std::vector<size_t>> collectives;
    for (const Collective& collective : match_.Take()) {
      collectives.emplace_back();
      for (const CollectiveMember& member : collective) collectives.back().push_back(member.rank);
    }
    return collectives;
  }
  std::vector<std::vector<size_t>> CompleteAtTheEnd() {
    match_.Finish();
    return Complete();
  }

  CollectiveMatch match_;
};

TEST_F(CollectiveMatchTest, KernelsSideBySideAreOneCollective) {
  Kernel(0, 0, 10);
  Kernel(1, 9, 12);
  EXPECT_THAT(CompleteAtTheEnd(), ElementsAre(ElementsAre(0, 1)));
}

TEST_F(CollectiveMatchTest, TwoPairsOfUnknownGroupsThatOverlapOnceAreOneThatMayBeSeveral) {
  for (size_t rank = 0; rank < 4; ++rank) Kernel(rank, static_cast<int64_t>(rank), 10);
  match_.Finish();
  const std::vector<Collective> found = match_.Take();
  ASSERT_THAT(found, testing::SizeIs(1));
  EXPECT_TRUE(MayBeSeveral(found[0]));
}

TEST_F(CollectiveMatchTest, WhatIsOneGroupOrTooFewForTwoIsNotSeveral) {
  const auto of_groups = [](const std::vector<size_t>& groups) {
    Collective collective;
    for (const size_t group : groups) collective.push_back({collective.size(), {0, 10}, group});
    return MayBeSeveral(collective);
  };
  constexpr size_t kAny = Communicators::kAny;
  EXPECT_FALSE(of_groups({0, 0, 0, 0}));
  EXPECT_FALSE(of_groups({kAny, kAny, kAny}));
  EXPECT_FALSE(of_groups({0, 0, 0, kAny}));
  EXPECT_TRUE(of_groups({0, 0, kAny, kAny}));
}

TEST_F(CollectiveMatchTest, NobodyEntersAfterSomebodyLeft) {
  Kernel(0, 0, 10);
  Kernel(1, 10, 12);
  EXPECT_THAT(CompleteAtTheEnd(), UnorderedElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST_F(CollectiveMatchTest, TheFirstToLeaveClosesItForAll) {
  Kernel(0, 0, 30);
  Kernel(1, 5, 8);
  Kernel(2, 9, 30);
  EXPECT_THAT(CompleteAtTheEnd(), UnorderedElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

TEST_F(CollectiveMatchTest, DifferentNamesAreDifferentCollectives) {
  Kernel(0, 0, 10, "AllReduce");
  Kernel(1, 0, 10, "Broadcast");
  EXPECT_THAT(CompleteAtTheEnd(), UnorderedElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST_F(CollectiveMatchTest, ARankIsInACollectiveOnce) {
  Kernel(0, 0, 10);
  Kernel(0, 1, 10);
  Kernel(1, 2, 10);
  Kernel(1, 3, 10);
  EXPECT_THAT(CompleteAtTheEnd(), UnorderedElementsAre(ElementsAre(0, 1), ElementsAre(0, 1)));
}

TEST_F(CollectiveMatchTest, GroupsAreKeptApart) {
  KernelOfGroup(7, 0, 0, 10);
  KernelOfGroup(8, 2, 1, 10);
  KernelOfGroup(7, 1, 2, 10);
  KernelOfGroup(8, 3, 3, 10);
  EXPECT_THAT(CompleteAtTheEnd(), UnorderedElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST_F(CollectiveMatchTest, ARankOfWhichNoGroupIsKnownMayBeOfAny) {
  Kernel(4, 0, 10);
  KernelOfGroup(8, 2, 1, 10);
  KernelOfGroup(7, 0, 2, 10);
  EXPECT_THAT(CompleteAtTheEnd(), UnorderedElementsAre(ElementsAre(4, 2), ElementsAre(0)));
}

TEST_F(CollectiveMatchTest, ACollectiveIsGivenOutOnceAndNotBeforeItIsOver) {
  Kernel(0, 0, 10);
  Kernel(1, 5, 10);
  EXPECT_THAT(Complete(), IsEmpty());
  Kernel(0, 20, 30);
  EXPECT_THAT(Complete(), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(CompleteAtTheEnd(), ElementsAre(ElementsAre(0)));
}

}  // namespace
}  // namespace gpubound
