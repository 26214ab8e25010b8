// SPDX-License-Identifier: Apache-2.0
//
// Wakes one waiting thread from inside a callback of CUPTI or a signal handler: no lock, no
// allocation, at most one system call. Any thread may Set; one thread waits. Remembers one Set that
// nobody waited for.
#ifndef GPUBOUND_LIBPROFILER_WAKE_SIGNAL_H_
#define GPUBOUND_LIBPROFILER_WAKE_SIGNAL_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace gpubound {

class WakeSignal {
 public:
  void Set() noexcept {
    if (set_.exchange(1, std::memory_order_release) == 0) {
      syscall(SYS_futex, &set_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    }
  }

  // Returns once the signal was set (clearing it) or |duration_ns| of CLOCK_MONOTONIC has passed;
  // may return early.
  void Wait(int64_t duration_ns) noexcept {
    if (Clear() || duration_ns <= 0) return;
    const timespec timeout = {static_cast<time_t>(duration_ns / 1'000'000'000),
                              static_cast<long>(duration_ns % 1'000'000'000)};
    syscall(SYS_futex, &set_, FUTEX_WAIT_PRIVATE, 0, &timeout, nullptr, 0);
    Clear();
  }

 private:
  bool Clear() noexcept { return set_.exchange(0, std::memory_order_acquire) != 0; }

  std::atomic<uint32_t> set_{0};
  static_assert(sizeof(set_) == sizeof(uint32_t));
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_WAKE_SIGNAL_H_
