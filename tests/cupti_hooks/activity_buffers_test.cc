// SPDX-License-Identifier: Apache-2.0
//
// The pool of buffers: what CUPTI is given, when it is declined, what is zeroed and what is known
// to be outstanding.
#include "cupti_hooks/cupti/activity_buffers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "tests/cupti_hooks/allocation_count.h"

namespace gpubound {
namespace {

constexpr size_t kBytes = 4096;
constexpr size_t kSmallBytes = 512;

class ActivityBuffersTest : public ::testing::Test {
 protected:
  void Make(ActivityBuffers::Options options) {
    options.bytes = kBytes;
    options.small_bytes = kSmallBytes;
    buffers_ = ActivityBuffers::Create(options);
    ASSERT_NE(buffers_, nullptr);
  }
  uint8_t* Request(int64_t now_ns = 1) {
    uint8_t* buffer = nullptr;
    buffers_->Request(now_ns, &buffer, &size_);
    return buffer;
  }
  std::vector<ActivityBuffers::Completed> TakeAll() {
    std::vector<ActivityBuffers::Completed> all;
    ActivityBuffers::Completed completed;
    while (buffers_->TakeCompleted(&completed)) all.push_back(completed);
    return all;
  }
  void RecycleAll() {
    for (const auto& completed : TakeAll()) buffers_->Recycle(completed);
  }
  static bool IsZero(const uint8_t* buffer) {
    return std::all_of(buffer, buffer + kBytes, [](uint8_t byte) { return byte == 0; });
  }

  ActivityBuffers* buffers_ = nullptr;  // lives until the process ends
  size_t size_ = 0;
};

TEST_F(ActivityBuffersTest, HandsOutAlignedZeroedMemoryThatIsDistinct) {
  Make({.count = 4, .small_count = 0});
  uint8_t* first = Request();
  uint8_t* second = Request();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 8, 0u);
  EXPECT_GE(static_cast<size_t>(std::abs(second - first)), kBytes);
  EXPECT_TRUE(IsZero(first));
  EXPECT_EQ(size_, kBytes);
}

// They are called inside the program's CUDA calls.
TEST_F(ActivityBuffersTest, RequestsAndCompletionsAllocateNothing) {
  Make({.count = 2, .small_count = 2});
  const uint64_t before = AllocationsOfThisThread();
  for (int i = 0; i < 100; ++i) {
    while (uint8_t* buffer = Request()) buffers_->Complete(buffer, 40);
    ActivityBuffers::Completed completed;
    while (buffers_->TakeCompleted(&completed)) buffers_->Recycle(completed);
  }
  EXPECT_EQ(AllocationsOfThisThread(), before);
  void* volatile memory = ::operator new(1);
  ::operator delete(memory);
  EXPECT_GT(AllocationsOfThisThread(), before) << "they would be noticed";
}

TEST_F(ActivityBuffersTest, DeclinesWhenAllAreInUse) {
  Make({.count = 2, .small_count = 0});
  Request();
  Request();
  EXPECT_EQ(Request(), nullptr);
  EXPECT_EQ(size_, 0u);
}

TEST_F(ActivityBuffersTest, ABufferComesBackZeroedToItsLastByte) {
  Make({.count = 1, .small_count = 0});
  uint8_t* buffer = Request();
  std::memset(buffer, 0xab, kBytes);
  buffers_->Complete(buffer, 40);
  RecycleAll();
  EXPECT_EQ(Request(), buffer);
  EXPECT_TRUE(IsZero(buffer));
}

TEST_F(ActivityBuffersTest, TellsHowMuchOfABufferIsValid) {
  Make({.count = 2, .small_count = 0});
  buffers_->Complete(Request(), 40);
  const auto taken = TakeAll();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].valid_bytes, 40u);
}

TEST_F(ActivityBuffersTest, NeverReadsBeyondABufferWhateverCuptiSays) {
  Make({.count = 1, .small_count = 0});
  buffers_->Complete(Request(), 10 * kBytes);
  EXPECT_EQ(TakeAll()[0].valid_bytes, kBytes);
}

TEST_F(ActivityBuffersTest, IgnoresBuffersThatAreNotOurs) {
  Make({.count = 2, .small_count = 0});
  uint8_t foreign[8] = {};
  uint8_t* own = Request();
  buffers_->Complete(foreign, 8);
  buffers_->Complete(nullptr, 0);
  buffers_->Complete(own + 8, 8);
  EXPECT_TRUE(TakeAll().empty());
}

TEST_F(ActivityBuffersTest, ACuptiThatCrashesWhenDeclinedGetsWhatNobodyHasReadYet) {
  Make({.count = 2, .small_count = 0, .may_decline = false});
  uint8_t* unread = Request();
  Request();
  std::memset(unread, 0xab, kBytes);
  buffers_->Complete(unread, 80);
  EXPECT_EQ(Request(), unread);
  EXPECT_TRUE(IsZero(unread));
  EXPECT_EQ(buffers_->TakeDiscardedBytes(), 80u);
  EXPECT_TRUE(TakeAll().empty());
}

TEST_F(ActivityBuffersTest, ACuptiThatCrashesWhenDeclinedGetsTheEmergencyReserveLast) {
  Make({.count = 1, .small_count = 0, .emergency_count = 1, .may_decline = false});
  uint8_t* first = Request();
  uint8_t* emergency = Request();
  EXPECT_NE(emergency, nullptr);
  EXPECT_NE(emergency, first);
  buffers_->Complete(emergency, 8);
  RecycleAll();
  EXPECT_EQ(Request(), emergency);
}

TEST_F(ActivityBuffersTest, TheOldestOutstandingBufferBoundsWhatIsKnown) {
  Make({.count = 4, .small_count = 0});
  EXPECT_EQ(buffers_->OldestOutstanding(0), INT64_MAX);
  uint8_t* old = Request(100);
  Request(200);
  EXPECT_EQ(buffers_->OldestOutstanding(0), 100);
  buffers_->Complete(old, 8);
  EXPECT_EQ(buffers_->OldestOutstanding(0), 100) << "not read yet";
  RecycleAll();
  EXPECT_EQ(buffers_->OldestOutstanding(0), 200);
  EXPECT_EQ(buffers_->outstanding(), 1u);
}

TEST_F(ActivityBuffersTest, GivesAsMuchOfALargeBufferAsIsPreferred) {
  Make({.count = 4, .small_count = 0});
  buffers_->set_preferred_bytes(1024);
  Request();
  EXPECT_EQ(size_, 1024u);
}

TEST_F(ActivityBuffersTest, GivesSmallOnesWhileMoreThanHalfOfTheLargeOnesAreInUse) {
  Make({.count = 4, .small_count = 4});
  Request();
  Request();
  EXPECT_EQ(size_, kBytes);
  Request();
  EXPECT_EQ(size_, kSmallBytes);
}

TEST_F(ActivityBuffersTest, GivesSmallOnesToAProgramThatMakesFewRecords) {
  Make({.count = 4, .small_count = 1});
  buffers_->set_preferred_bytes(kSmallBytes);
  uint8_t* small = Request();
  uint8_t* large = Request();
  EXPECT_EQ(size_, kSmallBytes) << "of a large one";
  EXPECT_NE(large, nullptr);
  buffers_->Complete(small, 8);
  RecycleAll();
  EXPECT_EQ(Request(), small);
}

TEST_F(ActivityBuffersTest, ALargeOneIsTakenWhenNoSmallOneIsLeft) {
  Make({.count = 2, .small_count = 1});
  for (int i = 0; i < 3; ++i) EXPECT_NE(Request(), nullptr) << i;
  EXPECT_EQ(Request(), nullptr);
}

TEST_F(ActivityBuffersTest, TheWorkerIsWokenWhenFewerThanAQuarterIsFree) {
  Make({.count = 0, .small_count = 8});
  for (int i = 0; i < 6; ++i) Request();
  EXPECT_FALSE(buffers_->IsShort());
  Request();
  EXPECT_TRUE(buffers_->IsShort());
  buffers_->worker_signal().Wait(INT64_MAX);  // returns: it was set
}

TEST_F(ActivityBuffersTest, ConcurrentUsersNeverShareABuffer) {
  constexpr int kThreads = 4, kRounds = 5000;
  Make({.count = 4, .small_count = 4});
  std::atomic<bool> done{false};
  std::atomic<int> shared{0}, handed_out{0};
  std::thread worker([&] {
    while (!done) RecycleAll();
    RecycleAll();
  });
  std::vector<std::thread> programs;
  for (int t = 1; t <= kThreads; ++t) {
    programs.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        uint8_t* buffer = nullptr;
        size_t size = 0;
        if (!buffers_->Request(1, &buffer, &size)) continue;
        ++handed_out;
        if (*reinterpret_cast<std::atomic<int>*>(buffer) != 0) ++shared;
        reinterpret_cast<std::atomic<int>*>(buffer)->store(t);
        if (*reinterpret_cast<std::atomic<int>*>(buffer) != t) ++shared;
        buffers_->Complete(buffer, sizeof(int));
      }
    });
  }
  for (std::thread& program : programs) program.join();
  done = true;
  worker.join();
  EXPECT_EQ(shared, 0);
  EXPECT_GT(handed_out, 0);
  EXPECT_EQ(buffers_->outstanding(), 0u);
}

TEST(PreferredBufferBytesTest, HoldsHalfASecondOfRecordsWithinItsBounds) {
  constexpr size_t kLargest = 1 << 20;
  EXPECT_EQ(PreferredBufferBytes(0, kLargest), size_t{32} << 10);
  EXPECT_EQ(PreferredBufferBytes(64 << 10, kLargest), size_t{32} << 10);
  EXPECT_EQ(PreferredBufferBytes((64 << 10) + 2, kLargest), size_t{64} << 10);
  EXPECT_EQ(PreferredBufferBytes(uint64_t{1} << 40, kLargest), kLargest);
  EXPECT_EQ(PreferredBufferBytes(0, kBytes), kBytes);
}

}  // namespace
}  // namespace gpubound
