// SPDX-License-Identifier: Apache-2.0
//
// The thread of a source that samples at a rate of its own. The program's signals stay the
// program's: none is delivered to it. What it uses lives as long as it does, which may be longer
// than its owner: a call into a foreign library cannot be interrupted.
#ifndef GPUBOUND_CUPTI_HOOKS_SAMPLING_SAMPLING_THREAD_H_
#define GPUBOUND_CUPTI_HOOKS_SAMPLING_SAMPLING_THREAD_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "libprofiler/wake_signal.h"

namespace gpubound {

class SamplingThread {
 public:
  // What the work is given: when to end, and how to sleep so that it can.
  class Control {
   public:
    bool stopping() const { return stop_.load(std::memory_order_acquire); }
    // Nobody waits for the end any more: the process may be taking itself apart, and a library that
    // was in use may be gone. What is left open stays so.
    bool abandoned() const { return abandoned_.load(std::memory_order_acquire); }
    // Until |time_ns| of CLOCK_MONOTONIC, or until the thread is to stop.
    void SleepUntil(int64_t time_ns);

   private:
    friend class SamplingThread;
    std::atomic<bool> stop_{false};
    std::atomic<bool> abandoned_{false};
    WakeSignal wake_;
  };
  using Work = std::function<void(Control*)>;

  SamplingThread() = default;
  SamplingThread(const SamplingThread&) = delete;
  SamplingThread& operator=(const SamplingThread&) = delete;
  ~SamplingThread();  // leaks what a thread that has not ended still uses

  // Runs |work| on a thread called |name|, at most 15 characters. False: none could be made. An
  // exception ends the work. Once.
  bool Start(const char* name, Work work);
  // Asks the work to end, and waits for it until |deadline_ns| of CLOCK_MONOTONIC; whether it has
  // ended. All three any number of times, also without a thread.
  void RequestStop();
  bool Stop(int64_t deadline_ns);
  bool HasEnded() const;
  // Nobody waits for it any more. From a signal handler too.
  void Abandon() noexcept;
  // In a fork child, which has no such thread.
  void AbandonInForkChild() noexcept { state_ = nullptr; }

 private:
  struct State {
    Control control;
    Work work;
    std::atomic<bool> ended{false};
    WakeSignal end;
  };
  static void* Main(void* state);

  State* state_ = nullptr;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_SAMPLING_SAMPLING_THREAD_H_
