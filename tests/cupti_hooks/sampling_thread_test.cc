// SPDX-License-Identifier: Apache-2.0
#include "cupti_hooks/sampling/sampling_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "libprofiler/clock.h"

namespace gpubound {
namespace {

constexpr int64_t kLongNs = 60'000'000'000;

int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

TEST(SamplingThreadTest, WorkThatEndsWhenAskedIsNotAbandoned) {
  std::atomic<bool> abandoned{true};
  SamplingThread thread;
  ASSERT_TRUE(thread.Start("test", [&](SamplingThread::Control* control) {
    while (!control->stopping()) control->SleepUntil(NowNs() + kLongNs);
    abandoned = control->abandoned();
  }));
  thread.Stop(NowNs() + kLongNs);
  EXPECT_FALSE(abandoned);
}

// What work that is in a call of a foreign library, which cannot be interrupted, sees when |end|
// has come meanwhile.
template <typename End>
bool IsAbandonedBy(const End& end) {
  std::atomic<bool> in_call{true};
  std::atomic<bool> abandoned{false};
  SamplingThread thread;
  EXPECT_TRUE(thread.Start("test", [&](SamplingThread::Control* control) {
    while (in_call) {
    }
    abandoned = control->abandoned();
  }));
  end(&thread);
  in_call = false;
  thread.Stop(NowNs() + kLongNs);
  return abandoned;
}

// The recording ends, the program goes on: what was begun is still to be undone.
TEST(SamplingThreadTest, WorkThatIsLateIsNotAbandonedByThat) {
  EXPECT_FALSE(IsAbandonedBy([](SamplingThread* thread) { thread->Stop(NowNs()); }));
}

TEST(SamplingThreadTest, WorkThatNobodyWaitsForAnyMoreIsTold) {
  EXPECT_TRUE(IsAbandonedBy([](SamplingThread* thread) {
    thread->Stop(NowNs());
    thread->Abandon();
  }));
}

}  // namespace
}  // namespace gpubound
