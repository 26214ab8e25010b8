// SPDX-License-Identifier: Apache-2.0
//
// Looks at threads that a test moves, on virtual time: what each look becomes, and how often there
// is one.
#include "libprofiler/cpu_sampler.h"

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
  Period(5, 0);
  Periods(3, 0);
  Period(7, 1);
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 5, 0}, {20, 80, 0, 0}, {80, 100, 7, 1}}));
}

TEST_F(CpuSamplerTest, WhatIsCountedLateCutsTheBlockedStretchBeforeIt) {
  sampler_.SampleIfDue();
  Period(5, 0);
  Periods(4, 0);
  Period(10, 50);  // it got a CPU after 50 ms in which it was ready
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 20, 5, 0}, {20, 60, 0, 0}, {60, 120, 10, 50}}));
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
  EXPECT_EQ(Looks(), (std::vector<Look>{{0, 1000, 0, 0}, {1000, 2000, 0, 0}}));
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

TEST_F(CpuSamplerTest, ANewThreadIsRecordedFromItsFirstLookOn) {
  sampler_.SampleIfDue();
  tasks_.tasks[9] = TaskCounters{100 * kMs, 0};
  Period(0, 0);
  Period(4, 0, 9);
  EXPECT_EQ(Looks(9), (std::vector<Look>{{20, 40, 4, 0}}));
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

TEST_F(CpuSamplerTest, AFewBlockedThreadsAreLookedAtEveryTime) {
  sampler_.SampleIfDue();
  tasks_.reads.clear();
  Periods(64, 0);
  EXPECT_EQ(tasks_.reads[kTid], 64);
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
