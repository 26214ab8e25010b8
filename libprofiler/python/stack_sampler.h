// SPDX-License-Identifier: Apache-2.0
//
// Looks at the stack of every Python thread, a hundred times a second unless asked otherwise, and
// records what it saw. Looks between which a thread did not run saw the same and are one record:
// nothing of the thread's can have happened in between. The pauses between looks vary by half, so
// that a loop whose iterations take as long as one is not always seen at the same place.
//
// Cost: 20 to 40 us to wake up, 10 us for a thread (bench/python/stacks_bench.py). Looks are as
// rare as it takes for all of it to stay below a hundredth of a core; `stack_looks` in the trace
// says how many there were.
//
// Owner and thread: of the flusher, on its thread, outside all locks. Where no page is free records
// are dropped.
#ifndef GPUBOUND_LIBPROFILER_PYTHON_STACK_SAMPLER_H_
#define GPUBOUND_LIBPROFILER_PYTHON_STACK_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "libprofiler/clock.h"
#include "libprofiler/device_tables.h"
#include "libprofiler/python/frame_table.h"
#include "libprofiler/python/interpreter_stacks.h"
#include "libprofiler/record_sink.h"
#include "libprofiler/recording_context.h"
#include "libprofiler/task_stats.h"
#include "proto/cpu_time_limits.h"

namespace gpubound {

class StackSampler {
 public:
  // So many times as long as a look took, with all that goes with it, passes before the next one.
  static constexpr int64_t kRarerThanItTakes = 120;
  static constexpr int64_t kMostToWakeUpNs = 60'000;  // beyond that other work was done meanwhile
  // A record is written at the latest after this, so that those who read along see it.
  static constexpr int64_t kLongestNs = 1'000'000'000;
  static constexpr int64_t kLongestPauseNs = 4'000'000'000;
  static_assert(kLongestNs + kLongestPauseNs <= kLatestCpuTimeNs);

  // Looks at the threads of the interpreter at |address|, |per_second| times. All others outlive
  // the object.
  StackSampler(const InterpreterAddress& address, RecordingContext* context, Clock* clock,
               TaskStats* stats, FrameTable* frames, DeviceTables* facts, uint32_t per_second);

  // Looks at the threads if it is time to; says when it will be. Never throws: without memory it
  // stops looking.
  int64_t SampleIfDue() noexcept;
  // Writes what is still to be written.
  void SampleAtEnd() noexcept;

 private:
  // Writes its records under no thread of the program.
  static constexpr ThreadId kRecorder{0};
  // A look that took longer was interrupted: what it read may be of another time than it says.
  static constexpr int64_t kLongestLookNs = 500'000;
  // Of so many looks at first none is a stack: this is no interpreter that we know.
  static constexpr uint64_t kLooksToJudge = 100;

  // Looks at a thread that saw the same stack.
  struct Seen {
    uint32_t tid = 0;
    FrameId frame{};
    int64_t first_ns = 0;
    int64_t last_ns = 0;
    uint32_t looks = 0;
    uint32_t runnable = 0;
    int64_t cpu_ns = 0;  // of the thread at the last look
    bool is_there = true;
  };
  void Look();
  void LookAt(const InterpreterStacks::Thread& thread);
  Seen* Of(uint32_t tid);
  void Put(Seen* seen);
  int64_t About(int64_t pause_ns);
  void Say(const char* key, uint64_t value);

  RecordSink sink_;
  Clock& clock_;
  TaskStats& stats_;
  FrameTable& frames_;
  DeviceTables& facts_;
  const int64_t period_ns_;
  std::unique_ptr<InterpreterStacks> stacks_;
  std::vector<InterpreterStacks::Thread> threads_;
  std::vector<Seen> seen_;  // by tid
  int64_t due_ns_ = INT64_MAX;
  int64_t own_cpu_ns_ = 0;  // of the thread, after the last look
  uint64_t looks_ = 0;
  uint64_t torn_ = 0;
  uint64_t random_ = 0x9e3779b97f4a7c15;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_PYTHON_STACK_SAMPLER_H_
