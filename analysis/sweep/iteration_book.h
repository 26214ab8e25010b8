// SPDX-License-Identifier: Apache-2.0
//
// Cuts a process's span at its steps: start-up, iterations, and what comes after the last one.
// Iteration 1 begins with the first operation; without operations it is part of start-up, since
// nothing says when it began. Importers say where each one begins. An iteration is warm-up when it
// is the first, or when it and all before it began in a phase called so; of a profile that has one
// alone none is. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_SWEEP_ITERATION_BOOK_H_
#define GPUBOUND_ANALYSIS_SWEEP_ITERATION_BOOK_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/random.h"
#include "analysis/base/state_archive.h"
#include "analysis/sweep/cell_book.h"
#include "analysis/sweep/queued_time.h"
#include "analysis/trace/idle_cause.h"

namespace gpubound {

// Time of an operation within a part of the span.
struct PartTime {
  int64_t wall_ns = 0;
  int64_t busy_ns = 0;
  int64_t unknown_ns = 0;
  int64_t blocked_ns = 0;  // the thread waited
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(wall_ns, busy_ns, unknown_ns, blocked_ns);
  }
  PartTime& operator+=(const PartTime& other) {
    wall_ns += other.wall_ns;
    busy_ns += other.busy_ns;
    unknown_ns += other.unknown_ns;
    blocked_ns += other.blocked_ns;
    return *this;
  }
};
using PartTimes = std::vector<PartTime>;  // by OperationIndex

struct Iteration {
  uint64_t number = 0;  // as the program counts
  Interval time;
  int64_t busy_ns = 0;
};

// What an iteration after warm-up was made of.
struct IterationDetail {
  size_t index = 0;                                       // of IterationTimes::steady
  std::vector<std::pair<uint32_t, PartTime>> operations;  // by OperationIndex, those with any time
  IdleTimes idle_ns{};  // time of each cause during which no device of the process worked
  // Of it what a gap had that was open at the end, while it is: its cause may change.
  IdleTimes open_ns{};
  bool open = false;
  void Move(const IdleTimes& ns, IdleCause to) {
    for (size_t from = 0; from < kIdleCauses; ++from) {
      idle_ns[from] -= ns[from];
      idle_ns[static_cast<size_t>(to)] += ns[from];
    }
  }
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(index, operations, idle_ns, open);
    if (open) archive.All(open_ns);
  }
};

// At most so many iterations are kept in detail: of longer runs a random sample.
inline constexpr size_t kDetailedIterations = 1024;

struct IterationTimes {
  std::vector<Iteration> warm_up;  // in order of time, before |steady|
  std::vector<Iteration> steady;
  std::vector<IterationDetail> details;  // in order of time
  PartTimes in_steady;
  int64_t first_begin_ns = 0;  // of the first iteration; valid when there is one
  bool empty() const { return warm_up.empty() && steady.empty(); }
};

// From the begin of the first iteration to the end of the last warm-up one; absent without any
// iteration.
std::optional<Interval> WarmUpOf(const IterationTimes& times);

class IterationBook {
 public:
  // |first_counts|: the first iteration is none of warm-up.
  IterationBook(const Interval& span, size_t operations, bool first_counts);

  // An iteration begins at |now_ns|, in the span; |book| has booked until then. |warm_up|: the
  // phase that holds now is warm-up. What has begun and not ended is none. |book| is the same at
  // every call: iterations are its parts.
  void Begin(int64_t now_ns, bool warm_up, CellBook* book);
  // Iteration |number| ends at |now_ns|, and the next begins. Takes as long as there are cells in
  // which the iteration spent time, however many others there are.
  // |queued|: of the idle time in it what is not of the causes that |book| has.
  void Step(uint64_t number, int64_t now_ns, bool warm_up, const QueuedPart& queued,
            CellBook* book);
  // The gap is over that was open at the end of those iterations whose |queued| said so, and is of
  // |cause|; kUnknown: of those that |book| has.
  void EndGap(IdleCause cause);

  // What it was told so far; of operations that became known since, nothing.
  void Visit(StateArchive& archive);

  // The iterations that have ended so far.
  const IterationTimes& times() const { return times_; }
  // Where the one that has not ended began; absent while none has.
  std::optional<int64_t> begun_ns() const {
    return begun_ ? std::optional(begin_ns_) : std::nullopt;
  }
  IterationTimes Take();

 private:
  struct PartOfSpan {
    std::vector<uint32_t> operations;  // those with any cell, ascending; their times are in |part_|
    IdleTimes idle_ns{};
  };
  PartOfSpan TakePart(const CellBook& book);
  void KeepDetail(const PartOfSpan& part, const QueuedPart& queued);

  const Interval span_;
  const size_t operations_;
  IterationTimes times_;
  PartTimes part_;                // of the iteration that ends; else zero
  std::vector<bool> is_in_part_;  // by OperationIndex; likewise
  Random random_{0};
  int64_t begin_ns_ = 0;
  bool begun_ = false;
  bool still_warm_up_ = true;  // every iteration so far was
  bool began_in_warm_up_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_ITERATION_BOOK_H_
