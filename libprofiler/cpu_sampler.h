// SPDX-License-Identifier: Apache-2.0
//
// Where the program's threads are: on a CPU, ready to run without one, or blocked. The kernel
// counts the first two for each thread (task_stats.h); this looks at the counters 50 times a second
// and records what each look added to the one before as a CpuTimeRecord.
//
//   looks      |     |     |     |     |     |     |     |
//   counters   +9    +10   +0    +0    +0    +3    +10   +10 ms
//   records    |--9--|--10-|------blocked----|--3--|--10-|
//
// Stretches in which nothing was added are one record: the thread was blocked from the look at its
// begin to that at its end, and its wait may be longer by a look on either side. Time without a CPU
// is added when the thread gets one. So it may be more than fits between two looks: then it began
// during what looked like a blocked stretch, which is cut. Of a thread that ends nothing more is
// added: where it was short of a CPU before, what looks like its last blocked stretch is left out.
//
// Cost. To wake up for a look takes 19 us, twice that on a busy machine; to look at a thread 1 us,
// or up to 10 where it has been on a CPU and its file is not open (a virtual machine on AMD EPYC
// cores; bench/cpu_sampler_bench). The oldest kAlwaysLookedAt threads, the main one among them, are
// looked at as often as all of it takes no more than a 600th of a core, the others as often as they
// add no more than a 10,000th, but at least every kLongestPeriodNs. What that costs in accuracy
// the length of each record says.
//
// Owner and thread: of the flusher, on its thread, outside all locks. Where no page is free records
// are dropped, which leaves a gap in a thread's time that the reader shows as unknown.
#ifndef GPUBOUND_LIBPROFILER_CPU_SAMPLER_H_
#define GPUBOUND_LIBPROFILER_CPU_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "libprofiler/clock.h"
#include "libprofiler/record_sink.h"
#include "libprofiler/recording_context.h"
#include "libprofiler/task_stats.h"
#include "proto/cpu_time_limits.h"

namespace gpubound {

class CpuSampler {
 public:
  static constexpr int64_t kPeriodNs = 20'000'000;
  // So many times as long as a look at the oldest threads took, with all that goes with it, or one
  // at the others, passes before the next one.
  static constexpr int64_t kRarerThanItTakes = 600;
  static constexpr int64_t kMostToWakeUpNs = 60'000;  // beyond that other work was done meanwhile
  static constexpr int64_t kOthersRarerThanItTakes = 10'000;
  static constexpr int64_t kLongestPeriodNs = 5'000'000'000;
  // A blocked stretch is recorded at the latest after this, so that those who read along see it.
  static constexpr int64_t kLongestBlockedNs = 1'000'000'000;
  static_assert(kLongestBlockedNs + kLongestPeriodNs <= kLatestCpuTimeNs);
  static constexpr size_t kAlwaysLookedAt = ProcTaskStats::kMostOpen;
  // New threads are looked for at the latest after this, or when as much time has passed as for
  // other threads; before, where their number changes.
  static constexpr int64_t kListAnewNs = 1'000'000'000;

  // All outlive the object.
  CpuSampler(RecordingContext* context, Clock* clock, TaskStats* stats)
      : sink_(context, kRecorder), clock_(*clock), stats_(*stats) {}

  // Looks at the threads if it is time to; says when it will be. Never throws: without memory it
  // stops looking.
  int64_t SampleIfDue() noexcept;
  // A last look at all of them.
  void SampleAtEnd() noexcept;

 private:
  // Writes its records under no thread of the program.
  static constexpr ThreadId kRecorder{0};
  struct Task {
    uint32_t tid = 0;
    TaskCounters counters;   // at the last look
    int64_t looked_ns = 0;   // when that was
    int64_t blocked_ns = 0;  // since when it has been blocked, where it has
    bool is_blocked = false;
    bool lacks_cpu = false;  // when it was not blocked last, it was ready for a good part of it
    bool listed = true;
  };
  int64_t LookAt(size_t begin, size_t end);
  void ForgetEnded();
  bool ListTasks(int64_t now_ns);
  bool Look(Task* task);
  void Advance(Task* task, const TaskCounters& now, int64_t now_ns);
  void PutBlocked(Task* task, int64_t until_ns);
  void PutLast(Task* task);
  void Put(const Task& task, int64_t begin_ns, int64_t end_ns, uint64_t on_cpu_ns,
           uint64_t ready_ns);

  RecordSink sink_;
  Clock& clock_;
  TaskStats& stats_;
  int64_t due_ns_ = INT64_MIN;
  int64_t others_due_ns_ = INT64_MIN;
  int64_t list_due_ns_ = INT64_MIN;
  int64_t own_cpu_ns_ = 0;   // of the thread, after the last look
  std::vector<Task> tasks_;  // by tid
  std::vector<uint32_t> tids_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_CPU_SAMPLER_H_
