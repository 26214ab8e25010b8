// SPDX-License-Identifier: Apache-2.0
//
// Sources of a collector and the end of its recording, which may come while one is being started.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/libprofiler/collector_fixture.h"

namespace gpubound {
namespace {

// What was done to a source.
struct Life {
  std::vector<AfterStop> stops;
  int prepared = 0;
  std::function<void()> in_stop;
  int abandoned = 0;
  int yields = 0;
  int forgotten = 0;
  bool started = false;
  bool ends_in_time = true;
};

class WatchedSource final : public DeviceSource {
 public:
  // |meanwhile| happens inside Start().
  explicit WatchedSource(Life* life, std::function<void()> meanwhile = {})
      : life_(*life), meanwhile_(std::move(meanwhile)) {}
  const char* name() const override { return "watched"; }
  bool Start(DeviceHost*) override {
    if (meanwhile_) meanwhile_();
    life_.started = true;
    return true;
  }
  bool ReadClock(int64_t* now_ns) override {
    *now_ns = 0;
    return false;
  }
  void PrepareStop(int64_t, AfterStop) override { ++life_.prepared; }
  bool Stop(int64_t, AfterStop after) override {
    EXPECT_TRUE(life_.started);
    if (life_.in_stop) life_.in_stop();
    life_.stops.push_back(after);
    return life_.ends_in_time;
  }
  bool HasStopped() const override { return life_.ends_in_time; }
  void Abandon() noexcept override { ++life_.abandoned; }
  void Yield(int64_t, std::string_view) override { ++life_.yields; }
  void AbandonInForkChild() noexcept override { ++life_.forgotten; }

 private:
  Life& life_;
  const std::function<void()> meanwhile_;
};

using Stops = std::vector<AfterStop>;

class SourceLifeTest : public CollectorFixture {
 protected:
  SourceLifeTest() { StartCollector(); }
  void Start(Life* life, std::function<void()> meanwhile = {}) {
    collector_->StartSource(std::make_unique<WatchedSource>(life, std::move(meanwhile)));
  }
};

TEST_F(SourceLifeTest, TheEndOfTheProgramStopsEachOnce) {
  Life first, second;
  Start(&first);
  Start(&second);
  Finish("exit");
  EXPECT_EQ(first.stops, Stops{AfterStop::kProgramEnds});
  EXPECT_EQ(second.stops, Stops{AfterStop::kProgramEnds});
  EXPECT_FALSE(collector_->program_went_on());
}

TEST_F(SourceLifeTest, TheRecordingHasEndedOnceNoSourceActsAnyMore) {
  Life first, second;
  Start(&first);
  Start(&second);
  first.ends_in_time = false;
  Finish("steps");
  EXPECT_TRUE(collector_->program_went_on());
  EXPECT_FALSE(collector_->ended()) << "what iterations take is not what they take without it";
  EXPECT_FALSE(collector_->LeaveProgram());
  first.ends_in_time = true;
  EXPECT_TRUE(collector_->LeaveProgram());
  EXPECT_TRUE(collector_->ended());
}

TEST_F(SourceLifeTest, AProgramThatEndsMeanwhileIsNotWaitedFor) {
  Life life;
  Start(&life);
  life.ends_in_time = false;
  Finish("steps");
  collector_->AbandonSources();
  EXPECT_TRUE(collector_->LeaveProgram());
  EXPECT_FALSE(collector_->ended());
}

TEST_F(SourceLifeTest, EachIsToldBeforeTheFirstIsWaitedFor) {
  Life first, second;
  Start(&first);
  Start(&second);
  first.in_stop = [&] { EXPECT_EQ(second.prepared, 1); };
  Finish("duration");
  EXPECT_EQ(second.stops.size(), 1u);
}

TEST_F(SourceLifeTest, WhereTheProgramGoesOnASourceIsToldAndAbandonedAtItsEnd) {
  Life life;
  Start(&life);
  Finish("duration");
  EXPECT_EQ(life.stops, Stops{AfterStop::kProgramGoesOn});
  EXPECT_TRUE(collector_->program_went_on());
  EXPECT_EQ(life.abandoned, 0);
  collector_->YieldSources("torch");
  EXPECT_EQ(life.yields, 1);
  collector_->AbandonSources();
  EXPECT_EQ(life.abandoned, 1);
}

TEST_F(SourceLifeTest, ASourceThatMeetsTheEndIsStoppedWhenItHasStarted) {
  Life life;
  Start(&life, [&] {
    Finish("exit");
    EXPECT_EQ(life.stops, Stops{}) << "it has not been started";
  });
  EXPECT_EQ(life.stops, Stops{AfterStop::kProgramEnds});
}

TEST_F(SourceLifeTest, ASourceThatMeetsTheEndOfTheRecordingLeavesTheProgramAsItWas) {
  Life life;
  Start(&life, [this] { Finish("duration"); });
  EXPECT_EQ(life.stops, Stops{AfterStop::kProgramGoesOn});
}

TEST_F(SourceLifeTest, NothingIsStartedBehindTheEnd) {
  Finish("duration");
  Life life;
  Start(&life);
  EXPECT_FALSE(life.started);
}

TEST_F(SourceLifeTest, AForkChildForgetsASourceThatWasBeingStarted) {
  Life whole, half;
  Start(&whole);
  Start(&half, [&] { collector_->AbandonInForkChild(); });
  EXPECT_EQ(whole.forgotten, 1);
  EXPECT_EQ(half.forgotten, 1);
}

}  // namespace
}  // namespace gpubound
