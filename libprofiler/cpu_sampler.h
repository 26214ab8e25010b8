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
// begin to that at its end. It was blocked for a part of the time before and after that too, for as
// long as the sums of these leave, and most likely next to it. So a blocked stretch reaches that far
// into the records beside it, which stay as they are:
//
//   records    |--9--|--10-|              |--3--|--10-|
//                          |---blocked-------|
//
// Thus it begins and ends when the thread did, whatever the looks were, but for a thread that runs
// several times between two of them. Looks that come seldom lose that, and nothing of the sums.
//
// Time without a CPU is added when the thread gets one. So it may be more than fits between two
// looks: then it began during what looked like a blocked stretch, which is cut. Of a thread that
// ends nothing more is added: where it was short of a CPU before, what looks like its last blocked
// stretch is left out. What a new thread did before its first look, its counters say.
//
// Cost. To wake up for a look takes 20 to 28 us on a virtual machine (AMD EPYC), and the first call
// of a kind 2 to 7, since nothing of it is in a cache by then; to look at one more thread 0.5 us, or
// 2 where it has been on a CPU, or up to 10 where its file is not open (bench/cpu_sampler_bench). So
// a look makes few calls. The oldest kAlwaysLookedAt threads, the main one among them, are looked at
// as often as all of it takes no more than a 580th of a core, those that have been blocked for long ten
// times a second, the others as often as they add no more than a 10,000th, but at least every
// kLongestPeriodNs.
//
// Owner and thread: of the flusher, on its thread, outside all locks. Where no page is free records
// are dropped, which leaves a gap in a thread's time that the reader shows as unknown.
#ifndef GPUBOUND_LIBPROFILER_CPU_SAMPLER_H_
#define GPUBOUND_LIBPROFILER_CPU_SAMPLER_H_

#include <cstdint>
#include <optional>
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
  static constexpr int64_t kRarerThanItTakes = 580;
  static constexpr int64_t kMostToWakeUpNs = 60'000;  // beyond that other work was done meanwhile
  static constexpr int64_t kOthersRarerThanItTakes = 10'000;
  static constexpr int64_t kLongestPeriodNs = 5'000'000'000;
  // A blocked stretch is recorded at the latest after this, so that those who read along see it.
  static constexpr int64_t kLongestBlockedNs = 1'000'000'000;
  static_assert(kLongestBlockedNs + kLongestPeriodNs <= kLatestCpuTimeNs);
  static constexpr size_t kAlwaysLookedAt = ProcTaskStats::kMostOpen;
  // How far a blocked stretch reaches into the records beside it at most, and what is known of a new
  // thread back from its first look.
  static constexpr int64_t kLongestBesideNs = 200'000'000;
  // A thread that has been blocked for long is looked at after a part of that, or so long at most.
  static constexpr int64_t kRestingPart = 4;
  static constexpr int64_t kLongestRestNs = 100'000'000;
  // Whether there are more threads or fewer is asked so often. Those that came as others went are
  // looked for at the latest after kListAnewNs, or when as much time has passed as for other threads.
  static constexpr int64_t kCountAnewNs = 100'000'000;
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
  // What was added since it was blocked last. While it is ready what is added lags behind: so the
  // least that was ever left is what it was blocked for at the begin, and what is left at the end
  // beyond that is what it was blocked for then.
  struct Run {
    int64_t begin_ns = 0;
    int64_t active_ns = 0;
    int64_t left_ns = 0;
    int64_t head_ns = 0;
    int64_t longest_tail_ns = 0;
  };
  struct Task {
    uint32_t tid = 0;
    TaskCounters counters;  // at the last look
    int64_t looked_ns = 0;  // when that was
    int64_t stands_ns = 0;  // since which look nothing was added, where nothing was
    bool stands_still = false;
    std::optional<int64_t> blocked_ns;  // since when it is known to be blocked, not recorded yet
    bool head_is_open = false;          // until somewhere in its run
    Run run;
    bool lacks_cpu = false;  // when it was not blocked last, it was ready for a good part of it
    bool listed = true;
    int64_t ran_ns = 0;          // the last look at which it had run
    int64_t due_ns = INT64_MIN;  // no look at it before
  };
  void LookAt(size_t begin, size_t end, int64_t now_ns);
  void ForgetEnded();
  bool ListTasks(int64_t now_ns);
  void Meet(uint32_t tid, bool is_new);
  int64_t NextDue(size_t oldest) const;
  bool Look(Task* task);
  void Advance(Task* task, const TaskCounters& now, int64_t now_ns);
  void StandStill(Task* task, int64_t begin_ns, int64_t now_ns);
  void BeginBlocked(Task* task);
  void EndHead(Task* task);
  void EndBlocked(Task* task, int64_t until_ns);
  void PutBlocked(Task* task, int64_t until_ns);
  void PutLast(Task* task);
  void Put(const Task& task, int64_t begin_ns, int64_t end_ns, uint64_t on_cpu_ns,
           uint64_t ready_ns);

  RecordSink sink_;
  Clock& clock_;
  TaskStats& stats_;
  int64_t due_ns_ = INT64_MIN;
  int64_t others_due_ns_ = INT64_MIN;
  int64_t count_due_ns_ = INT64_MIN;
  int64_t list_due_ns_ = INT64_MIN;
  int64_t counted_ns_ = INT64_MIN;  // INT64_MIN: never
  int64_t own_cpu_ns_ = 0;          // of the thread, after the last look
  std::vector<Task> tasks_;         // by tid
  std::vector<uint32_t> tids_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_CPU_SAMPLER_H_
