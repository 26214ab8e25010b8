// SPDX-License-Identifier: Apache-2.0
//
// The background thread: wakes when pages are full or five times a second, runs the drain, and ends
// the trace when it is asked to. In between it looks where the program's threads are
// (cpu_sampler.h) and what Python they run (python/stack_sampler.h). The only thread of the recording that makes system calls on a schedule; it
// blocks every signal, so that the program's handlers never run on it.
#ifndef GPUBOUND_LIBPROFILER_FLUSHER_H_
#define GPUBOUND_LIBPROFILER_FLUSHER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "libprofiler/bystanders.h"
#include "libprofiler/clock.h"
#include "libprofiler/cpu_sampler.h"
#include "libprofiler/drain.h"
#include "libprofiler/latch.h"
#include "libprofiler/live_mapping.h"
#include "libprofiler/page_pool.h"
#include "libprofiler/process_end.h"
#include "libprofiler/python/stack_sampler.h"
#include "libprofiler/step_window.h"
#include "libprofiler/trace_writer.h"

namespace gpubound {

class Flusher {
 public:
  struct Parts {
    Drain* drain;
    TraceWriter* writer;
    PagePool* pool;
    LiveMapping* mapping;
    Clock* clock;
    Bystanders* bystanders;
    CpuSampler* cpu_sampler;      // null: nobody looks where the threads are
    StackSampler* stack_sampler;  // null: nobody looks at stacks
    LastThreadWatch* last_thread;
    // Ends the recording as it is told: stops the sources and calls Finish(). May wait for pages.
    std::function<void(const char* how)> end;
    // Called behind the end of the trace, again and again until it says true: the program is left
    // alone.
    std::function<bool()> leave;
    // From |end_ns| (CLOCK_MONOTONIC; 0: never) on, |finish| is called with kDurationOver on a
    // thread of its own; once |window| (null: none) is over, with kStepsOver.
    uint64_t end_ns = 0;
    const StepWindow* window = nullptr;
    void (*finish)(const char* how) noexcept = nullptr;
    bool may_be_short = false;  // the process: a fork child
  };

  // What |parts| point to outlives the flusher. |live_interval|: how often pages still being
  // written are drained.
  Flusher(Parts parts, std::chrono::milliseconds live_interval);

  // False: no thread could be made.
  bool Start();

  // Writes everything that was recorded before the call; returns when it is in the database. Also
  // without a thread. Not after Finish.
  void DrainNow();

  // Ends the trace as |how| says, and waits for that until |timeout|; whether it has ended. Once.
  // Safe at every instant to be killed in: what is not sealed is salvaged.
  bool Finish(const char* how, std::chrono::milliseconds timeout);

  // Has the recording ended as |how| says, a string that stays, by another thread than this one,
  // which may be inside a signal handler and hold any lock of the program; waits for that until
  // |timeout|.
  void EndElsewhere(const char* how, std::chrono::milliseconds timeout) noexcept;

  // Waits for that, at most until the |timeout| of whoever waited first: a process has several exit
  // handlers of ours, and a disk that hangs is to hold it up once.
  void AwaitEnd(std::chrono::milliseconds timeout) noexcept;

  // Held while anything inside SQLite or malloc-heavy runs. A fork takes it, so that the child
  // inherits both in one piece.
  std::mutex& io_mutex() { return io_mutex_; }

 private:
  static void* ThreadMain(void* self);
  static void* EndMain(void* self);
  static void* DueMain(void* self);
  void EndIfDue();
  void LookAround(bool at_end) noexcept;
  void Run();
  void AwaitWork(std::chrono::nanoseconds longest);
  void ObeyEnd();
  void Close();
  void AwaitLeave();
  void EndWithLastThread();
  // Room for events that are to come.
  void PrepareAhead();

  const Parts parts_;
  const std::chrono::milliseconds live_interval_;
  bool has_thread_ = false;
  bool exiting_ = false;       // of the background thread
  const char* due_ = nullptr;  // how it is to end since its time is over; of the background thread
  std::mutex io_mutex_;

  std::atomic<bool> finish_{false};
  const char* how_ = nullptr;  // a string that stays

  std::atomic<const char*> wanted_end_{nullptr};
  std::atomic<uint64_t> end_deadline_ns_{0};  // 0: nobody has waited
  const char* end_ = nullptr;                 // taken from there
  bool ends_here_ = false;  // no thread could be made for it: the background thread ends itself
  Latch ended_;             // several threads may end the process at once

  std::mutex state_mutex_;
  std::condition_variable state_changed_;
  bool closed_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_FLUSHER_H_
