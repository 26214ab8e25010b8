// SPDX-License-Identifier: Apache-2.0
//
// Something that happens once, and any number of threads that wait for it: no lock, no allocation,
// at most one system call each, so that signal handlers and threads that hold any lock may use it.
#ifndef GPUBOUND_LIBPROFILER_LATCH_H_
#define GPUBOUND_LIBPROFILER_LATCH_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace gpubound {

class Latch {
 public:
  // What was written before is seen by whoever sees it open.
  void Open() noexcept {
    open_.store(1, std::memory_order_release);
    syscall(SYS_futex, &open_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }
  bool is_open() const noexcept { return open_.load(std::memory_order_acquire) != 0; }

  // Returns once it is open or |duration_ns| of CLOCK_MONOTONIC has passed; may return early.
  void Wait(int64_t duration_ns) noexcept {
    if (is_open() || duration_ns <= 0) return;
    const timespec timeout = {static_cast<time_t>(duration_ns / 1'000'000'000),
                              static_cast<long>(duration_ns % 1'000'000'000)};
    syscall(SYS_futex, &open_, FUTEX_WAIT_PRIVATE, 0, &timeout, nullptr, 0);
  }

 private:
  std::atomic<uint32_t> open_{0};
  static_assert(sizeof(open_) == sizeof(uint32_t));
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_LATCH_H_
