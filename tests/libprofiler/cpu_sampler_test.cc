// SPDX-License-Identifier: Apache-2.0
//
// Looks at threads that a test moves, on virtual time: what each look becomes, and how often there
// is one.
#include "libprofiler/cpu_sampler.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tests/libprofiler/manual_clock.h"
#include "tests/libprofiler/recording_fixture.h"

namespace gpubound {
namespace {

constexpr int64_t kMs = 1'000'000;

class FakeTasks final : public TaskStats {
 public:
  bool List(bool anew, std::vector<uint32_t>* tids) override {
    if (!anew && tasks.size() == listed_) return false;
    listed_ = tasks.size();
    tids->clear();
    for (const auto& [tid, counters] : tasks) tids->push_back(tid);
    return true;
  }
  std::optional<TaskCounters> Read(uint32_t tid, const TaskCounters*) override {
    ++reads[tid];
    const auto found = tasks.find(tid);
    if (found == tasks.end()) return std::nullopt;
    if (tid == costly_tid) own_cpu_ns += 40'000;
    return found->second;
  }
  int64_t CpuNs(uint32_t tid) override {
    const auto found = tasks.find(tid);
    return found == tasks.end() ? -1 : static_cast<int64_t>(found->second.on_cpu_ns);
  }
  bool IsRunnable(uint32_t) override { return false; }
  void Forget(uint32_t tid) override { forgotten.push_back(tid); }
  int64_t OwnCpuNs() override { return own_cpu_ns; }

  std::map<uint32_t, TaskCounters> tasks;
  std::map<uint32_t, int> reads;
  std::vector<uint32_t> forgotten;
  int64_t own_cpu_ns = 0;
  uint32_t costly_tid = 0;

 private:
  size_t listed_ = 0;
};

// Begin and end since the first look in ms, then on a CPU and ready in ms; -1: not known.
using Look = std::tuple<int64_t, int64_t, int64_t, int64_t>;

class CpuSamplerTest : public RecordingFixture {
 protected:
  static constexpr uint32_t kTid = 7;

  CpuSamplerTest() { tasks_.tasks[kTid] = TaskCounters{0, 0}; }

  // A period goes by in which the thread is on a CPU and ready for so long.
  void Period(int64_t on_cpu_ms, int64_t ready_ms, uint32_t tid = kTid) {
    TaskCounters& counters = tasks_.tasks[tid];
    counters.on_cpu_ns += static_cast<uint64_t>(on_cpu_ms * kMs);
    if (counters.ready_ns) *counters.ready_ns += static_cast<uint64_t>(ready_ms * kMs);
    clock_.Advance(CpuSampler::kPeriodNs);
    sampler_.SampleIfDue();
  }
  void Periods(int count, int64_t on_cpu_ms) {
    for (int i = 0; i < count; ++i) Period(on_cpu_ms, 0);
  }

  std::vector<Look> Looks(uint32_t tid = kTid) {
    std::vector<Look> looks;
    for (const uint32_t page : PagesInOrder()) {
      const LivePageHeader& header = *mapping_->page(page);
      EXPECT_EQ(header.family, static_cast<uint32_t>(EventFamily::kCpuTime));
      EXPECT_EQ(header.thread, 0u);
      const auto* records = reinterpret_cast<const CpuTimeRecord*>(mapping_->body(page));
      for (uint32_t i = 0; i < header.record_count; ++i) {
        const CpuTimeRecord& of = records[i];
        if (of.tid != tid) continue;
        looks.emplace_back(Since(of.start_ns), Since(of.end_ns), of.on_cpu_ns / kMs,
                           of.ready_ns == kReadyNotKnown ? -1 : int64_t(of.ready_ns) / kMs);
      }
    }
    std::sort(looks.begin(), looks.end());
    return looks;
  }
  int64_t Since(uint64_t time_ns) const { return (int64_t(time_ns) - first_ns_) / kMs; }

  ManualClock clock_;
  const int64_t first_ns_ = clock_.MonotonicNs();
  FakeTasks tasks_;
  CpuSampler sampler_{&context_, &clock_, &tasks_};
};

TEST_F(CpuSamplerTest, WhatWasAddedBetweenTwoLooksIsARecord) {
  sampler_.SampleIfDue();
  Period(15, 3);
  Period(20, 0);
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 15, 3}, {20, 40, 20, 0}}));
}

TEST_F(CpuSamplerTest, LooksBetweenWhichNothingWasAddedAreOneRecord) {
  sampler_.SampleIfDue();
  Period(20, 0);
  Periods(3, 0);
  Period(18, 2);
  sampler_.SampleAtEnd();
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 20, 0}, {20, 80, 0, 0}, {80, 100, 18, 2}}));
}

// Of 100 ms that began 5 ms after a look nothing is missing.
TEST_F(CpuSamplerTest, ABlockedStretchBeginsAndEndsWhereTheSumsBesideItLeaveRoom) {
  sampler_.SampleIfDue();
  Period(5, 0);
  Periods(4, 0);
  Period(14, 1);
  sampler_.SampleAtEnd();
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 5, 0}, {5, 105, 0, 0}, {100, 120, 14, 1}}));
}

// It computes for 37 ms from 113 on, which takes it until 198: it had no CPU from 118 to 138, and from
// 158 to 186. What is counted late is no part of the waits around it.
TEST_F(CpuSamplerTest, AThreadThatIsShortOfACpuIsBlockedForNoLongerThanItWas) {
  sampler_.SampleIfDue();
  Period(20, 0);
  Periods(4, 0);
  Period(5, 0);   // until 120: 13 blocked, 2 of being ready are not counted yet
  Period(2, 20);  // until 140
  Period(18, 0);  // until 160: again 2 are not counted
  Period(0, 0);
  Period(12, 28);  // until 200: blocked for the last 2
  Periods(3, 0);
  Period(20, 0);
  sampler_.SampleAtEnd();
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 20, 0},
                                        {20, 113, 0, 0},
                                        {100, 120, 5, 0},
                                        {120, 140, 2, 20},
                                        {140, 160, 18, 0},
                                        {160, 200, 12, 28},
                                        {198, 260, 0, 0},
                                        {260, 280, 20, 0}}));
}

TEST_F(CpuSamplerTest, AShortTurnBetweenTwoBlockedStretchesBelongsToTheFirstOnesEnd) {
  sampler_.SampleIfDue();
  Periods(2, 0);
  Period(3, 0);
  Periods(2, 0);
  Period(20, 0);
  sampler_.SampleAtEnd();
  EXPECT_EQ(Looks(),
            (std::vector<Look>{{0, 57, 0, 0}, {40, 60, 3, 0}, {60, 100, 0, 0}, {100, 120, 20, 0}}));
}

TEST_F(CpuSamplerTest, LooksThatAreFarApartSayNothingOfWhatWasBlockedBetweenThem) {
  sampler_.SampleIfDue();
  Periods(2, 0);
  clock_.Advance(CpuSampler::kLongestBesideNs);
  Period(5, 0);
  Periods(1, 0);
  Period(20, 0);
  sampler_.SampleAtEnd();
  EXPECT_EQ(Looks(), (std::vector<Look>{
                         {0, 40, 0, 0}, {40, 260, 5, 0}, {260, 280, 0, 0}, {280, 300, 20, 0}}));
}

TEST_F(CpuSamplerTest, WhatIsCountedLateCutsTheBlockedStretchBeforeIt) {
  sampler_.SampleIfDue();
  Period(20, 0);
  Periods(4, 0);
  Period(10, 50);  // it got a CPU after 50 ms in which it was ready
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 20, 0}, {20, 60, 0, 0}, {60, 120, 10, 50}}));
}

TEST_F(CpuSamplerTest, WhatIsCountedLateReachesNoFurtherBackThanTheBlockedStretch) {
  sampler_.SampleIfDue();
  Period(5, 0);
  Period(0, 0);
  Period(1, 45);
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 5, 0}, {20, 60, 1, 45}}));
}

TEST_F(CpuSamplerTest, ALongBlockedStretchIsRecordedOnceASecond) {
  sampler_.SampleIfDue();
  Periods(110, 0);
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 1080, 0, 0}, {1080, 2080, 0, 0}}));
}

TEST_F(CpuSamplerTest, TheLastLookRecordsTheBlockedStretchThatGoesOn) {
  sampler_.SampleIfDue();
  Periods(2, 0);
  clock_.Advance(7 * kMs);
  sampler_.SampleAtEnd();
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 47, 0, 0}}));
}

TEST_F(CpuSamplerTest, AThreadThatEndsIsRecordedUntilItsLastLook) {
  sampler_.SampleIfDue();
  Periods(2, 0);
  tasks_.tasks.erase(kTid);
  clock_.Advance(CpuSampler::kPeriodNs);
  sampler_.SampleIfDue();
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 40, 0, 0}}));
  EXPECT_EQ(tasks_.forgotten, std::vector<uint32_t>{kTid});
}

TEST_F(CpuSamplerTest, AThreadThatEndsWhileItIsShortOfACpuIsNotSaidToBeBlocked) {
  sampler_.SampleIfDue();
  Period(5, 15);
  Periods(2, 0);
  tasks_.tasks.erase(kTid);
  clock_.Advance(CpuSampler::kPeriodNs);
  sampler_.SampleIfDue();
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 5, 15}}));
}

TEST_F(CpuSamplerTest, ANewThreadIsLookedForWithinATenthOfASecond) {
  sampler_.SampleIfDue();
  tasks_.tasks[9] = TaskCounters{0, 0};
  Periods(5, 1);
  Period(4, 0, 9);
  EXPECT_EQ(Looks(9), (std::vector<Look>{{100, 120, 4, 0}}));
}

TEST_F(CpuSamplerTest, OfANewThreadTheCountersSayWhatItDidBeforeItsFirstLook) {
  sampler_.SampleIfDue();
  Periods(3, 1);
  tasks_.tasks[9] = TaskCounters{0, 0};
  Period(20, 0, 9);
  Period(11, 3, 9);
  Period(4, 0, 9);
  EXPECT_EQ(Looks(9), (std::vector<Look>{{66, 100, 31, 3}, {100, 120, 4, 0}}));
}

TEST_F(CpuSamplerTest, AThreadThatIsFoundLateHasNoTimeBeforeItsFirstLook) {
  sampler_.SampleIfDue();
  tasks_.tasks[9] = TaskCounters{0, 0};
  clock_.Advance(CpuSampler::kLongestBesideNs);
  Period(30, 0, 9);
  Period(4, 0, 9);
  EXPECT_EQ(Looks(9), (std::vector<Look>{{220, 240, 4, 0}}));
}

TEST_F(CpuSamplerTest, ALookThatComesLateMakesTheNextOneNoLater) {
  sampler_.SampleIfDue();
  clock_.Advance(CpuSampler::kPeriodNs + 3 * kMs);
  EXPECT_EQ(sampler_.SampleIfDue() - first_ns_, 2 * CpuSampler::kPeriodNs);
  clock_.Advance(5 * CpuSampler::kPeriodNs);
  tasks_.tasks[kTid].on_cpu_ns += kMs;
  EXPECT_EQ(sampler_.SampleIfDue() - clock_.MonotonicNs(), CpuSampler::kPeriodNs / 2);
}

TEST_F(CpuSamplerTest, ATidThatAnotherThreadGotLeavesAGap) {
  sampler_.SampleIfDue();
  Period(9, 0);
  tasks_.tasks[kTid] = TaskCounters{0, 0};
  Period(2, 0);
  Period(3, 0);
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 9, 0}, {40, 60, 3, 0}}));
}

TEST_F(CpuSamplerTest, WithoutTimesOfReadinessTheyAreSaidNotToBeKnown) {
  tasks_.tasks[kTid] = TaskCounters{0, std::nullopt};
  sampler_.SampleIfDue();
  Period(4, 0);
  Period(0, 0);
  Period(4, 0);
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 4, -1}, {20, 40, 0, -1}, {40, 60, 4, -1}}));
}

TEST_F(CpuSamplerTest, AThreadThatRunsIsLookedAtEveryTime) {
  sampler_.SampleIfDue();
  tasks_.reads.clear();
  Periods(64, 1);
  EXPECT_EQ(tasks_.reads[kTid], 64);
}

TEST_F(CpuSamplerTest, TheLongerAThreadIsBlockedTheMoreSeldomItIsLookedAt) {
  sampler_.SampleIfDue();
  tasks_.reads.clear();
  Periods(5, 0);
  EXPECT_EQ(tasks_.reads[kTid], 5);
  Periods(100, 0);
  tasks_.reads.clear();
  Periods(50, 0);
  EXPECT_EQ(tasks_.reads[kTid], 10);
  Period(3, 0);
  Periods(5, 0);  // the next look finds that it has run
  tasks_.reads.clear();
  Periods(3, 0);
  EXPECT_EQ(tasks_.reads[kTid], 3);
}

TEST_F(CpuSamplerTest, WhereAllThreadsAreBlockedForLongNobodyIsWoken) {
  sampler_.SampleIfDue();
  Periods(100, 0);
  while (sampler_.SampleIfDue() == clock_.MonotonicNs()) clock_.Advance(kMs);
  const int64_t due_ns = sampler_.SampleIfDue();
  EXPECT_GT(due_ns - clock_.MonotonicNs(), CpuSampler::kPeriodNs);
  EXPECT_LE(due_ns - clock_.MonotonicNs(), CpuSampler::kLongestRestNs);
}

TEST_F(CpuSamplerTest, OfManyThreadsTheOldestAreLookedAtEveryTimeAndTheOthersSeldom) {
  for (uint32_t tid = 100; tid < 100 + CpuSampler::kAlwaysLookedAt; ++tid) {
    tasks_.tasks[tid] = TaskCounters{0, 0};
  }
  const uint32_t newest = 99 + CpuSampler::kAlwaysLookedAt;
  sampler_.SampleIfDue();
  tasks_.reads.clear();
  tasks_.costly_tid = newest;  // 40 us, so every 400 ms
  Periods(65, 1);
  EXPECT_EQ(tasks_.reads[kTid], 65);
  EXPECT_EQ(tasks_.reads[newest], 4);
}

TEST_F(CpuSamplerTest, LooksThatTakeLongComeSeldom) {
  sampler_.SampleIfDue();
  clock_.Advance(CpuSampler::kPeriodNs);
  tasks_.costly_tid = kTid;
  const int64_t due_ns = sampler_.SampleIfDue();
  EXPECT_EQ(due_ns - clock_.MonotonicNs(), 40'000 * CpuSampler::kRarerThanItTakes);
  tasks_.reads.clear();
  EXPECT_EQ(sampler_.SampleIfDue(), due_ns);
  EXPECT_EQ(tasks_.reads[kTid], 0);
}

TEST_F(CpuSamplerTest, WithoutAPageRecordsAreLeftOutAndNothingWaits) {
  std::vector<uint32_t> taken;
  for (uint32_t i = 0; i < mapping_->page_count(); ++i) taken.push_back(pool_->Acquire(false));
  sampler_.SampleIfDue();
  Period(5, 0);
  EXPECT_EQ(Count(LedgerCounter::backpressure_waits), 0u);
  EXPECT_EQ(Count(LedgerCounter::device_records_dropped), 0u);
}

TEST_F(CpuSamplerTest, ALastLookIsRecordedOnceNoOtherWriterMayHaveAPage) {
  sampler_.SampleIfDue();
  context_.finished = true;
  clock_.Advance(CpuSampler::kPeriodNs);
  sampler_.SampleAtEnd();
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 0, 0}}));
}

}  // namespace
}  // namespace gpubound
