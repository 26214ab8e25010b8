// SPDX-License-Identifier: Apache-2.0
//
// The share of a core that it takes to look where the threads of a process are, all of it: waking
// up, reading, recording. For 8, 64 and 512 threads, of which all are blocked, or all take turns of
// 1 ms on a CPU and 20 ms off it. cpu_sampler_bench [SECONDS]: default 5 each.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

#include "libprofiler/clock.h"
#include "libprofiler/cpu_sampler.h"
#include "libprofiler/page_pool.h"

namespace gpubound {
namespace {

void SleepNs(int64_t ns) {
  const timespec pause = {static_cast<time_t>(ns / 1'000'000'000),
                          static_cast<long>(ns % 1'000'000'000)};
  nanosleep(&pause, nullptr);
}

class Threads {
 public:
  Threads(int count, bool busy) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, busy] {
        while (!stop_.load(std::memory_order_relaxed)) {
          const uint64_t until_ns = ReadMonotonicNs() + (busy ? 1'000'000 : 0);
          while (ReadMonotonicNs() < until_ns) continue;
          SleepNs(busy ? 20'000'000 : 200'000'000);
        }
      });
    }
  }
  ~Threads() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

struct Cost {
  double share;
  double looks_per_second;
};

Cost Measure(int64_t length_ns) {
  const auto mapping = LiveMapping::Create("", 64, {1, 2, 3, true});
  Ledger ledger(mapping->header()->ledger);
  PagePool pool(mapping.get(), &ledger);
  RecordingContext context;
  context.mapping = mapping.get();
  context.pool = &pool;
  context.ledger = &ledger;
  SystemClock clock(false);
  ProcTaskStats stats;
  CpuSampler sampler(&context, &clock, &stats);
  sampler.SampleIfDue();
  const int64_t begin_ns = clock.MonotonicNs();
  const int64_t begin_cpu_ns = stats.OwnCpuNs();
  int64_t looks = 0;
  for (int64_t now_ns = begin_ns; now_ns < begin_ns + length_ns; now_ns = clock.MonotonicNs()) {
    const int64_t due_ns = sampler.SampleIfDue();
    ++looks;
    pool.WaitForWork(std::chrono::nanoseconds(due_ns - clock.MonotonicNs()));
    std::vector<PagePool::FullPage> full;
    pool.TakeFull(SIZE_MAX, &full, nullptr);
    pool.Recycle(full);
  }
  const auto took_ns = static_cast<double>(clock.MonotonicNs() - begin_ns);
  return {static_cast<double>(stats.OwnCpuNs() - begin_cpu_ns) / took_ns,
          static_cast<double>(looks) * 1e9 / took_ns};
}

int Main(int64_t length_ns) {
  for (const int count : {8, 64, 512}) {
    for (const bool busy : {false, true}) {
      const Threads threads(count, busy);
      SleepNs(500'000'000);
      const Cost cost = Measure(length_ns);
      std::printf("%3d threads, %s: %.3f %% of a core, %.0f looks a second\n", count,
                  busy ? "busy   " : "blocked", 100 * cost.share, cost.looks_per_second);
    }
  }
  return 0;
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 5;
  return gpubound::Main(seconds * int64_t{1'000'000'000});
}
