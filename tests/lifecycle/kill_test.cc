// SPDX-License-Identifier: Apache-2.0
//
// SIGKILL at a random moment of a program whose threads do nothing but annotate: whatever had
// completed is recovered, once, in order. GPUBOUND_TEST_KILLS says how often.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/lifecycle/recorded_run.h"
#include "tests/lifecycle/victim_run.h"

namespace gpubound {
namespace {

constexpr int kMaxDelayUs = 700'000;  // several flushes

class KillTest : public VictimRun {
 protected:
  // From the moment the first scope has completed.
  void KillAfterUs(int delay_us) {
    runner()->WhileRunning([this, delay_us](pid_t victim) {
      for (int waits = 0; waits < 10'000; ++waits) {
        if (progress()->used > 0 && progress()->lines[0].completed > 0) break;
        usleep(1000);
      }
      usleep(static_cast<useconds_t>(delay_us));
      kill(victim, SIGKILL);
    });
  }
  uint64_t Completed() {
    uint64_t completed = 0;
    for (uint32_t i = 0; i < progress()->used; ++i) completed += progress()->lines[i].completed;
    return completed;
  }
};

TEST_F(KillTest, EveryCompletedScopeIsRecovered) {
  const char* kills = std::getenv("GPUBOUND_TEST_KILLS");
  const int count = kills == nullptr ? 50 : std::atoi(kills);
  ASSERT_GT(count, 0);
  std::mt19937 random(20211);
  // Half of the kills come early, where start and first flush lie.
  std::uniform_int_distribution<int> delay(0, kMaxDelayUs);
  std::uniform_int_distribution<int> early(0, 5000);
  uint64_t recovered = 0;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const int delay_us = i % 2 == 0 ? early(random) : delay(random);
    SCOPED_TRACE("kill " + std::to_string(i) + " after " + std::to_string(delay_us) + " us");
    KillAfterUs(delay_us);
    EXPECT_EQ(RunVictim("annotate until killed").signal, SIGKILL);
    ExpectTraceAgreesWithVictim();
    recovered += Completed();
  }
  std::printf("%d kills, %llu completed scopes, all recovered\n", count,
              static_cast<unsigned long long>(recovered));
}

}  // namespace
}  // namespace gpubound
