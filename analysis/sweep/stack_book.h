// SPDX-License-Identifier: Apache-2.0
//
// What stacks were seen in each operation. A look at a stack is a point in time, and counts for the
// operation in which its thread is then:
//
//   looks        x         x         x         x         x
//   operations   |---- A ----|-- B --|------ A ------|
//   A            3 looks, B 1
//
// Of looks is also known at how many of them the thread was on a CPU, or ready to run. One object,
// one caller.
#ifndef GPUBOUND_ANALYSIS_SWEEP_STACK_BOOK_H_
#define GPUBOUND_ANALYSIS_SWEEP_STACK_BOOK_H_

#include <compare>
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

// Where a stack was seen.
struct StackPlace {
  OperationIndex operation = kNoOperationIndex;
  bool started = false;  // behind the process's start-up: behind its first operation or iteration
  FrameId frame{};
  friend auto operator<=>(const StackPlace&, const StackPlace&) = default;
};

struct StackCount {
  uint64_t looks = 0;
  uint64_t runnable = 0;
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(looks, runnable);
  }
  friend bool operator==(const StackCount&, const StackCount&) = default;
};

using StackCounts = std::map<StackPlace, StackCount>;

class StackBook {
 public:
  explicit StackBook(const Interval& span) : span_(span) {}

  // Before the window in which they begin; of a thread in order of begin.
  void Add(uint32_t thread, const StackLooks& seen);

  // Threads with looks that are not counted yet; as of CpuSplitter::Follow(). Before |started_ns|
  // the process starts up.
  const std::vector<uint32_t>& open() const { return open_; }
  template <typename OperationOf>
  void Follow(uint32_t thread, OperationIndex at_begin, int64_t begin_ns,
              std::span<const ThreadChange> changes, int64_t end_ns, int64_t started_ns,
              OperationOf operation_of) {
    Thread& of = threads_.at(thread);
    CountUntil(begin_ns, started_ns, &of);
    of.operation = at_begin;
    for (const ThreadChange& change : changes) {
      if (of.seen.empty()) break;
      const OperationIndex operation = operation_of(change.doing);
      if (operation == of.operation) continue;
      CountUntil(change.time_ns, started_ns, &of);
      of.operation = operation;
    }
    CountUntil(end_ns, started_ns, &of);
    if (!changes.empty()) of.operation = operation_of(changes.back().doing);
  }
  void CloseCounted();  // after all of them

  // What was seen until the span's end, and no more of the thread is asked.
  StackCounts Take(uint32_t thread, int64_t started_ns);

  void Visit(StateArchive& archive);

 private:
  struct Seen {
    int64_t begin_ns;
    int64_t end_ns;
    FrameId frame;
    uint32_t looks;
    uint32_t runnable;
    int64_t TimeOf(uint32_t look) const;
    // Of the |first| looks, taken to be as the others are.
    uint64_t RunnableOf(uint32_t first) const { return uint64_t{runnable} * first / looks; }
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(begin_ns, end_ns, frame, looks, runnable);
    }
  };
  struct Thread {
    OperationIndex operation = kNoOperationIndex;
    Fifo<Seen> seen;
    uint32_t counted = 0;  // looks of the first of them
    StackCounts counts;
    void Visit(StateArchive& archive);
  };
  void CountUntil(int64_t end_ns, int64_t started_ns, Thread* thread);

  const Interval span_;
  std::map<uint32_t, Thread> threads_;
  std::vector<uint32_t> open_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_STACK_BOOK_H_
