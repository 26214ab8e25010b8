// SPDX-License-Identifier: Apache-2.0
//
// Where a thread was during each operation: on a CPU, ready to run without one, or blocked. What is
// known are sums between two looks at the thread (CpuTime), so the time of an operation gets of each
// sum as much as it has of the time between the looks:
//
//   looks        |---------- 20 ms: 12 on a CPU, 4 ready ----------|
//   operations   |---- A 10 ms ----|-- B 5 ms --|-- A 5 ms --|
//   A            15 ms of 20: 9 on a CPU, 3 ready, 3 blocked; of the 12, A may have had 7 to 12
//
// All that is shared out adds up to the sums to the nanosecond. By how much the truth can differ
// from it is kept beside it. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_SWEEP_CPU_SPLIT_H_
#define GPUBOUND_ANALYSIS_SWEEP_CPU_SPLIT_H_

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/base/fifo.h"
#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/timeline/thread_change.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct CpuSplit {
  int64_t told_ns = 0;  // it is known where the thread was; the sum of the three
  int64_t on_cpu_ns = 0;
  int64_t ready_ns = 0;
  int64_t error_ns = 0;  // so much more or less of any of the three it can have been
  int64_t blocked_ns() const { return told_ns - on_cpu_ns - ready_ns; }
  CpuSplit& operator+=(const CpuSplit& other) {
    told_ns += other.told_ns;
    on_cpu_ns += other.on_cpu_ns;
    ready_ns += other.ready_ns;
    error_ns += other.error_ns;
    return *this;
  }
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(told_ns, on_cpu_ns, ready_ns, error_ns);
  }
  friend bool operator==(const CpuSplit&, const CpuSplit&) = default;
};

using CpuSplits = std::map<OperationIndex, CpuSplit>;

class CpuSplitter {
 public:
  explicit CpuSplitter(const Interval& span) : span_(span) {}

  // Before the window in which it begins; of a thread in order of begin. Where a blocked stretch
  // reaches into the sums beside it, these hold; of the rest what overlaps with what was added before
  // is left out.
  void Add(uint32_t thread, const CpuTime& time);

  // Threads with time that is not shared out yet. Of each has to be said, window by window, what it
  // did: in which operation it was from |begin_ns| on, then from each of |changes| on, which
  // |operation_of|(Doing) says, until |end_ns|.
  const std::vector<uint32_t>& open() const { return open_; }
  template <typename OperationOf>
  void Follow(uint32_t thread, OperationIndex at_begin, int64_t begin_ns,
              std::span<const ThreadChange> changes, int64_t end_ns, OperationOf operation_of) {
    Thread& of = threads_.at(thread);
    Switch(at_begin, begin_ns, &of);
    for (const ThreadChange& change : changes) {
      const OperationIndex operation = operation_of(change.doing);
      if (operation != of.operation) Switch(operation, change.time_ns, &of);
    }
    Advance(end_ns, &of);
  }
  void CloseShared();  // after all of them

  // What was shared out until the span's end, and no more of the thread is asked.
  CpuSplits Take(uint32_t thread);

  void Visit(StateArchive& archive);

 private:
  struct Sum {
    int64_t begin_ns;
    int64_t end_ns;
    int64_t on_cpu_ns;
    int64_t ready_ns;  // -1: not known
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(begin_ns, end_ns, on_cpu_ns, ready_ns);
    }
  };
  struct Share {
    OperationIndex operation = kNoOperationIndex;
    int64_t ns = 0;
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.IndexBelow(archive.operations(), operation);
      archive.All(ns);
    }
  };
  struct Thread {
    OperationIndex operation = kNoOperationIndex;
    int64_t now_ns = INT64_MIN;
    int64_t added_until_ns = INT64_MIN;
    int64_t sums_until_ns = INT64_MIN;  // but for the blocked stretch at the end
    Fifo<Sum> sums;
    std::vector<Share> shares;  // of the first of them, in the order of first use
    CpuSplits splits;
    void Visit(StateArchive& archive);
  };
  void Switch(OperationIndex operation, int64_t now_ns, Thread* thread) {
    Advance(now_ns, thread);
    thread->operation = operation;
  }
  void Advance(int64_t now_ns, Thread* thread);
  static void ShareOut(const Sum& sum, Thread* thread);

  const Interval span_;
  std::map<uint32_t, Thread> threads_;
  std::vector<uint32_t> open_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_CPU_SPLIT_H_
