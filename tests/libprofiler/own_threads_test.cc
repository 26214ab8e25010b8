// SPDX-License-Identifier: Apache-2.0
//
// Threads of ours and how they are told from the program's.
#include "libprofiler/own_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <thread>

#include "libprofiler/process_info.h"

namespace gpubound {
namespace {

// What a thread finds, and when it may end.
struct Inside {
  std::atomic<uint32_t> tid{0};
  std::atomic<bool> is_own{false};
  std::atomic<bool> gets_signals{true};
  std::atomic<bool> release{false};
};

void* Look(void* argument) {
  auto* const inside = static_cast<Inside*>(argument);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  inside->gets_signals = sigismember(&blocked, SIGTERM) == 0;
  inside->is_own = IsOwnThread(CurrentTid());
  inside->tid = CurrentTid();
  while (!inside->release) std::this_thread::yield();
  return nullptr;
}

TEST(OwnThreadsTest, AreKnownWhileTheyWorkAndGetNoSignals) {
  Inside inside;
  ASSERT_TRUE(StartOwnThread("test", &Look, &inside));
  while (inside.tid == 0) std::this_thread::yield();
  EXPECT_TRUE(inside.is_own);
  EXPECT_FALSE(inside.gets_signals);
  EXPECT_TRUE(IsOwnThread(inside.tid));
  EXPECT_FALSE(IsOwnThread(CurrentTid()));
  inside.release = true;
  while (IsOwnThread(inside.tid)) std::this_thread::yield();
}

TEST(OwnThreadsTest, PlacesAreGivenBack) {
  static std::array<Inside, 100> insides;  // nobody joins these threads
  for (Inside& inside : insides) {
    inside.release = true;
    ASSERT_TRUE(StartOwnThread("test", &Look, &inside)) << &inside - insides.data();
    while (inside.tid == 0 || IsOwnThread(inside.tid)) std::this_thread::yield();
  }
}

}  // namespace
}  // namespace gpubound
