// SPDX-License-Identifier: Apache-2.0
#include "analysis/processes/communicators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace gpubound {
namespace {

constexpr size_t kAny = Communicators::kAny;

// A stream has the number of its rank, but for those from 10 on, which are second streams.
class CommunicatorsTest : public testing::Test {
 protected:
  static constexpr int64_t kTurnNs = 100;
  void Kernel(size_t stream, int64_t begin_ns, int64_t end_ns,
              const std::string& name = "AllReduce") {
    kernels_.push_back({stream, {begin_ns, end_ns}, name});
  }
  // In turns from |from| to before |until|.
  void InTurns(int64_t from, int64_t until, size_t stream, int64_t begin_ns, int64_t end_ns) {
    for (int64_t turn = from; turn < until; ++turn) {
      Kernel(stream, turn * kTurnNs + begin_ns, turn * kTurnNs + end_ns);
    }
  }
  void Learn() { LearnAs(10); }
  // Every stream is of a rank of its own.
  void LearnOfRanks() { LearnAs(kAny); }
  void LearnAs(size_t ranks) {
    std::stable_sort(kernels_.begin(), kernels_.end(), [](const Added& a, const Added& b) {
      return a.time.begin_ns < b.time.begin_ns;
    });
    for (const Added& kernel : kernels_) {
      communicators_.Add(kernel.name, kernel.stream, kernel.stream % ranks, kernel.time);
    }
    communicators_.Finish();
  }
  size_t Group(size_t stream) const { return communicators_.Group("AllReduce", stream); }

  struct Added {
    size_t stream;
    Interval time;
    std::string name;
  };
  std::vector<Added> kernels_;

 private:
  Communicators communicators_;
};

TEST_F(CommunicatorsTest, LanesThatMeetEachTimeAreTogetherAndOthersApart) {
  InTurns(0, 40, 0, 10, 50);
  InTurns(0, 40, 1, 30, 50);
  InTurns(0, 20, 2, 40, 70);  // meets those of the others half of the time
  InTurns(20, 40, 2, 60, 90);
  InTurns(0, 20, 3, 45, 70);
  InTurns(20, 40, 3, 65, 90);
  Learn();
  EXPECT_NE(Group(0), kAny);
  EXPECT_EQ(Group(0), Group(1));
  EXPECT_NE(Group(2), kAny);
  EXPECT_EQ(Group(2), Group(3));
  EXPECT_NE(Group(0), Group(2));
}

TEST_F(CommunicatorsTest, OneRankIsInSeveralGroupsByItsStreams) {
  InTurns(0, 40, 0, 10, 30);
  InTurns(0, 40, 1, 15, 30);
  InTurns(0, 40, 10, 50, 80);
  InTurns(0, 40, 11, 60, 80);
  Learn();
  EXPECT_EQ(Group(0), Group(1));
  EXPECT_EQ(Group(10), Group(11));
  EXPECT_NE(Group(0), Group(10));
}

TEST_F(CommunicatorsTest, ARankThatLacksKernelsStaysWithItsGroup) {
  InTurns(0, 40, 0, 10, 50);
  InTurns(0, 20, 1, 30, 50);
  InTurns(0, 40, 2, 40, 50);
  Learn();
  EXPECT_NE(Group(1), kAny);
  EXPECT_EQ(Group(0), Group(1));
}

TEST_F(CommunicatorsTest, WhoIsWithNobodyMayBeInAnyGroup) {
  InTurns(0, 40, 0, 10, 50);
  InTurns(0, 40, 1, 30, 50);
  InTurns(0, 20, 2, 40, 70);
  InTurns(20, 40, 2, 60, 90);
  Learn();
  EXPECT_EQ(Group(2), kAny);
}

TEST_F(CommunicatorsTest, FromFewKernelsNothingIsConcluded) {
  InTurns(0, Communicators::kFewest - 1, 0, 10, 50);
  InTurns(0, Communicators::kFewest - 1, 1, 30, 50);
  Learn();
  EXPECT_EQ(Group(0), kAny);
}

TEST_F(CommunicatorsTest, TheLastOneThatIsNeededDecides) {
  InTurns(0, Communicators::kFewest, 0, 10, 50);
  InTurns(0, Communicators::kFewest, 1, 30, 50);
  Learn();
  EXPECT_NE(Group(0), kAny);
}

TEST_F(CommunicatorsTest, StreamsOfOneRankNeverMeet) {
  InTurns(0, 40, 0, 10, 50);
  InTurns(0, 40, 10, 10, 50);
  Learn();
  EXPECT_EQ(Group(0), kAny);
}

TEST_F(CommunicatorsTest, NamesAreToldApart) {
  for (int64_t turn = 0; turn < 40; ++turn) {
    Kernel(0, 100 * turn, 100 * turn + 50, "AllGather");
    Kernel(1, 100 * turn, 100 * turn + 50, "AllGather");
  }
  Learn();
  EXPECT_EQ(Group(0), kAny);
}

// Four ranks in two groups of tensor parallelism (0 and 1, 2 and 3), which reduce ten times an
// iteration, each rank after a time of its own; then all reduce gradients on second streams, by
// kernels of the same name, and begin the next iteration at one time.
TEST_F(CommunicatorsTest, GroupsThatMeetInEveryIterationAreToldApart) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int64_t> computes_ns(50'000, 150'000);
  int64_t now_ns = 0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    int64_t all_ns = 0;
    for (const size_t first : {0, 2}) {
      int64_t group_ns = now_ns;
      for (int i = 0; i < 10; ++i) {
        const int64_t entered_ns[] = {group_ns + computes_ns(random),
                                      group_ns + computes_ns(random)};
        group_ns = std::max(entered_ns[0], entered_ns[1]) + 20'000;
        Kernel(first, entered_ns[0], group_ns);
        Kernel(first + 1, entered_ns[1], group_ns);
      }
      all_ns = std::max(all_ns, group_ns);
      Kernel(first + 10, group_ns, all_ns + 100'000);
      Kernel(first + 11, group_ns, all_ns + 100'000);
    }
    now_ns = all_ns + 100'000;
  }
  Learn();
  EXPECT_EQ(Group(0), Group(1));
  EXPECT_EQ(Group(2), Group(3));
  EXPECT_NE(Group(0), Group(2));
}

// 300 ranks in groups of ten, of which the ranks of each begin at random and end as one; beside them
// groups run kernels of the same name whenever they like.
TEST_F(CommunicatorsTest, GroupsOfManyRanksAreToldApart) {
  constexpr size_t kRanks = 300;
  constexpr size_t kOfGroup = 10;
  std::mt19937 random(1);
  std::uniform_int_distribution<int64_t> computes_ns(1'000, 9'000);
  for (size_t first = 0; first < kRanks; first += kOfGroup) {
    int64_t now_ns = 0;
    for (int turn = 0; turn < 100; ++turn) {
      int64_t last_ns = 0;
      int64_t entered_ns[kOfGroup];
      for (int64_t& entered : entered_ns) {
        entered = now_ns + computes_ns(random);
        last_ns = std::max(last_ns, entered);
      }
      now_ns = last_ns + 500;
      for (size_t i = 0; i < kOfGroup; ++i) {
        kernels_.push_back({first + i, {entered_ns[i], now_ns}, "AllReduce"});
      }
    }
  }
  LearnOfRanks();
  for (size_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(Group(rank), Group(rank / kOfGroup * kOfGroup)) << rank;
    EXPECT_NE(Group(rank), Group((rank + kOfGroup) % kRanks)) << rank;
  }
}

}  // namespace
}  // namespace gpubound
