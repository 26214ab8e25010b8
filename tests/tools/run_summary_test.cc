// SPDX-License-Identifier: Apache-2.0
//
// Which runs are replayed before the prompt comes back.
#include "tools/commands/run_summary.h"

#include <gtest/gtest.h>

#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

class RunSummaryTest : public testing::Test {
 protected:
  bool Replays() const { return SummaryOptions(temporary_.path()).replays; }
  void Grow(const std::string& name, size_t bytes) {
    temporary_.Write(name, std::string(bytes, 'x'));
  }

  TemporaryFolder temporary_;
};

TEST_F(RunSummaryTest, AShortRunIsReplayedAndALongOneIsNot) {
  Grow("host.1.2.0.db", 1'000'000);
  EXPECT_TRUE(Replays());
  Grow("host.1.2.1.db", 1'000'001);
  EXPECT_FALSE(Replays());
}

TEST_F(RunSummaryTest, WhatIsInTheLogOfADatabaseCounts) {
  Grow("host.1.2.0.db", 4096);
  Grow("host.1.2.0.db-wal", 3'000'000);
  EXPECT_FALSE(Replays());
}

TEST_F(RunSummaryTest, RoomThatIsKeptForBuffersIsNoTrace) {
  Grow("host.1.2.live", 20'000'000);
  EXPECT_TRUE(Replays());
}

TEST_F(RunSummaryTest, WhatWasLeftOutSaysWhereItIs) {
  EXPECT_NE(SummaryOptions(temporary_.path()).why_not_replayed.find("gpubound report"),
            std::string::npos);
}

}  // namespace
}  // namespace gpubound
