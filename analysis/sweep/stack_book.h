// SPDX-License-Identifier: Apache-2.0
//
// What stacks of a thread were seen in each operation. A look at a stack is a point in time, and counts for the
// operation in which the thread is then:
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
  bool started = false;  // after start-up, which ends with the first operation or iteration
  FrameId frame{};
  bool synchronises = false;  // the thread is in layer cuda_sync: a line of it waits for the GPU
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
  // Before |started_ns| the process starts up.
  StackBook(const Interval& span, int64_t started_ns) : span_(span), started_ns_(started_ns) {}

  // Before the window in which they begin; in order of begin.
  void Add(const StackLooks& seen);

  // Window by window, what the thread did: |at_begin| from |begin_ns| on, then each of |changes|,
  // until |end_ns|. Not needed for a window before which nothing was added that is not counted yet.
  void Follow(const Doing& at_begin, int64_t begin_ns, std::span<const ThreadChange> changes,
              int64_t end_ns);

  // What was seen until the span's end, and nothing comes any more.
  StackCounts Take();

  void Visit(StateArchive& archive);

 private:
  struct Seen : StackLooks {
    // Of the |first| looks, taken to be as the others are.
    uint64_t RunnableOf(uint32_t first) const { return uint64_t{runnable} * first / looks; }
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(start_ns, end_ns, frame, looks, runnable);
    }
  };
  void Enter(const Doing& doing);
  void CountUntil(int64_t end_ns);
  void Count(const Seen& seen, bool started, uint32_t first, uint32_t until);

  const Interval span_;
  const int64_t started_ns_;
  OperationIndex operation_ = kNoOperationIndex;
  bool synchronises_ = false;
  Fifo<Seen> seen_;
  uint32_t counted_ = 0;  // looks of the first of them
  StackCounts counts_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_STACK_BOOK_H_
