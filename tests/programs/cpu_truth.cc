// SPDX-License-Identifier: Apache-2.0
//
// Threads whose whereabouts are known: one that spins, one that sleeps, one that spins and sleeps
// in turn, and four that share one core. Each does so in an operation of its own, and says at its
// end what its own clock and the kernel counted meanwhile:
//
//   OPERATION wall_ns on_cpu_ns ready_ns
//
// The main thread waits for them in the operation `join`. cpu_truth SECONDS.
//
// cpu_truth SECONDS RIVALS: the main thread sleeps for 100 ms in the operation `sleeps` and computes
// for 37 in `computes`, in turns, beside so many threads that spin. It says the sums.
#include <fcntl.h>
#include <gpubound/annotate.h>
#include <sched.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>

namespace {

int64_t ReadNs(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int64_t ReadyNs() {
  char text[96] = {};
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  const ssize_t length = read(file, text, sizeof(text) - 1);
  close(file);
  char* end = text;
  std::strtoll(text, &end, 10);
  return length <= 0 ? -1 : std::strtoll(end, nullptr, 10);
}

void SleepMs(int64_t ms) {
  const timespec pause = {static_cast<time_t>(ms / 1000), (ms % 1000) * 1'000'000};
  nanosleep(&pause, nullptr);
}

void SpinUntil(int64_t end_ns) {
  while (ReadNs(CLOCK_MONOTONIC) < end_ns) continue;
}

std::mutex g_out;

struct Times {
  int64_t wall_ns = 0;
  int64_t on_cpu_ns = 0;
  int64_t ready_ns = 0;
};

// Adds what it took.
template <typename Act>
void Do(const char* operation, Times* times, Act act) {
  gpubound::Operation scope(operation);
  times->wall_ns -= ReadNs(CLOCK_MONOTONIC);
  times->on_cpu_ns -= ReadNs(CLOCK_THREAD_CPUTIME_ID);
  times->ready_ns -= ReadyNs();
  act();
  times->wall_ns += ReadNs(CLOCK_MONOTONIC);
  times->on_cpu_ns += ReadNs(CLOCK_THREAD_CPUTIME_ID);
  times->ready_ns += ReadyNs();
}

void Print(const char* operation, const Times& times) {
  const std::lock_guard<std::mutex> lock(g_out);
  std::printf("%s %lld %lld %lld\n", operation, static_cast<long long>(times.wall_ns),
              static_cast<long long>(times.on_cpu_ns), static_cast<long long>(times.ready_ns));
}

// Sleeps a little before and after it: what is counted then is no part of the operation. Of a thread
// that was short of a CPU its last blocked stretch is not known; so the operation's is not the last:
// the pause after it is long enough for looks at a thread that rests, even where they come late.
template <typename Act>
void Say(const char* operation, Act act) {
  SleepMs(100);
  Times times;
  Do(operation, &times, act);
  SleepMs(500);
  Print(operation, times);
}

void OnFirstCore() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof(allowed), &allowed);
  int core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof(one), &one);
}

void TakeTurns(int64_t length_ns, int rivals) {
  const int64_t end_ns = ReadNs(CLOCK_MONOTONIC) + length_ns;
  std::vector<std::thread> threads;
  for (int i = 0; i < rivals; ++i) threads.emplace_back([end_ns] { SpinUntil(end_ns); });
  Times sleeps;
  Times computes;
  while (ReadNs(CLOCK_MONOTONIC) < end_ns) {
    Do("sleeps", &sleeps, [] { SleepMs(100); });
    Do("computes", &computes, [] { SpinUntil(ReadNs(CLOCK_MONOTONIC) + 37'000'000); });
  }
  for (std::thread& thread : threads) thread.join();
  Print("sleeps", sleeps);
  Print("computes", computes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  const int64_t length_ns = std::atoi(argv[1]) * int64_t{1'000'000'000};
  if (argc == 3) {
    TakeTurns(length_ns, std::atoi(argv[2]));
    return 0;
  }
  const auto spin = [length_ns] { SpinUntil(ReadNs(CLOCK_MONOTONIC) + length_ns); };
  gpubound::Operation join("join");
  std::vector<std::thread> threads;
  threads.emplace_back([&] { Say("spin", spin); });
  threads.emplace_back([&] { Say("sleep", [length_ns] { SleepMs(length_ns / 1'000'000); }); });
  threads.emplace_back([&] {
    Say("turns", [length_ns] {
      const int64_t end_ns = ReadNs(CLOCK_MONOTONIC) + length_ns;
      while (ReadNs(CLOCK_MONOTONIC) < end_ns) {
        SpinUntil(ReadNs(CLOCK_MONOTONIC) + 3'000'000);
        SleepMs(7);
      }
    });
  });
  for (const char* operation : {"starved", "rival", "rival", "rival"}) {
    threads.emplace_back([&, operation] {
      OnFirstCore();
      Say(operation, spin);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}
