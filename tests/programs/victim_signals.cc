// SPDX-License-Identifier: Apache-2.0
//
// What signal handlers do, at any moment: the thread that one interrupts may hold the allocator's
// lock, the loader's or one of the collector's.
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/victim.h"

namespace gpubound {
namespace {

constexpr int kLeft = 25;

void StartTimer(int after_us, int every_us) {
  const itimerval timer = {{0, every_us}, {0, after_us}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// In the allocator most of the time, until the alarm, and with nothing left of what it keeps for
// each thread, so that whoever wants memory needs its lock.
[[noreturn]] void ChurnMemory() {
  constexpr size_t kKept = 64;
  constexpr size_t kSizes[] = {1'500, 3'000, 20'000, 100'000};
  constexpr int kOfEachSize = 8;
  { GPUBOUND_OPERATION("churn"); }
  for (size_t bytes = 8; bytes <= 1'040; bytes += 8) {
    for (int i = 0; i < kOfEachSize; ++i) {
      [[maybe_unused]] static void* volatile leaked;
      leaked = std::malloc(bytes);
    }
  }
  std::vector<std::unique_ptr<char[]>> kept(kKept);
  for (size_t i = 0;; ++i) kept[i * 7 % kKept].reset(new char[kSizes[i % std::size(kSizes)]]);
}

// New threads and new names, until the alarm, which one of the new threads gets.
[[noreturn]] void StartThreads() {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
  for (int turn = 0;; ++turn) {
    std::thread([turn, &alarm] {
      pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
      const std::string name = "turn " + std::to_string(turn);
      Operation operation(name);
    }).join();
  }
}

int HandlersLeaveAtAnyMoment() {
  constexpr int kChildren = 60;
  constexpr int kLongestUs = 20'000;
  std::mt19937 random(7);
  signal(SIGALRM, [](int) { _exit(kLeft); });
  for (int i = 0; i < kChildren; ++i) {
    const int after_us = 1 + static_cast<int>(random() % kLongestUs);
    const pid_t child = fork();
    if (child == 0) {
      StartTimer(after_us, 0);
      if (i % 2 == 0) ChurnMemory();
      StartThreads();
    }
    const int code = WaitForChild(child);
    if (code != kLeft) return 1;
  }
  return 0;
}

int HandlersAnnotate() {
  using Clock = std::chrono::steady_clock;
  static const char* const name = "a name that is longer than what the program keeps of such names";
  signal(SIGALRM, [](int) { gpubound_end(gpubound_begin_operation(name)); });
  gpubound_end(gpubound_begin_operation(name));
  StartTimer(200, 200);
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(300);
  while (Clock::now() < end) gpubound_end(gpubound_begin_operation(name));
  StartTimer(0, 0);
  return 0;
}

}  // namespace

const std::map<std::string, Action>& SignalActions() {
  static const std::map<std::string, Action> actions = {
      {"signal handlers leave at any moment", HandlersLeaveAtAnyMoment},
      {"signal handlers annotate", HandlersAnnotate},
  };
  return actions;
}

}  // namespace gpubound
