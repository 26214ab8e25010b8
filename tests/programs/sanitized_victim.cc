// SPDX-License-Identifier: Apache-2.0
//
// A program that was built with a sanitizer of its own: threads annotate and wait for each other at
// conditions, and it ends with 0 unless the sanitizer finds fault. It keeps the account that
// $VICTIM_PROGRESS names.
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/programs/victim.h"

namespace gpubound {

ProgressFile* Progress() {
  static ProgressFile* progress = MapProgress(std::getenv("VICTIM_PROGRESS"));
  return progress;
}

}  // namespace gpubound

namespace {

constexpr int kThreads = 4;
constexpr int kTurns = 50;

// Threads that take turns. Whoever does not see that a wait gives the mutex up sees a race.
class Turns {
 public:
  void Take(int thread) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto is_its_turn = [&] { return turn_ % kThreads == thread; };
    if (thread % 2 == 0) {
      changed_.wait(lock, is_its_turn);
    } else {
      while (!changed_.wait_for(lock, std::chrono::seconds(1), is_its_turn)) {
      }
    }
    ++turn_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = 0;
};

}  // namespace

int main() {
  Turns turns;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&turns, t] {
      gpubound::Worker().Scopes(20'000);
      for (int turn = 0; turn < kTurns; ++turn) turns.Take(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}
