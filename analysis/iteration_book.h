// SPDX-License-Identifier: Apache-2.0
//
// Cuts a process's span at its steps: start-up, iterations, and what comes after the last one.
// Iteration 1 begins with the first operation; without operations it is part of start-up, since
// nothing says when it began. An iteration is warm-up when it is the first, or when it and all
// before it began in a phase called so. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_ITERATION_BOOK_H_
#define GPUBOUND_ANALYSIS_ITERATION_BOOK_H_

#include <cstdint>
#include <vector>

#include "analysis/cell_book.h"
#include "analysis/interval.h"

namespace gpubound {

// Time of an operation within a part of the span.
struct PartTime {
  int64_t wall_ns = 0;
  int64_t busy_ns = 0;
  int64_t unknown_ns = 0;
  PartTime& operator+=(const PartTime& other) {
    wall_ns += other.wall_ns;
    busy_ns += other.busy_ns;
    unknown_ns += other.unknown_ns;
    return *this;
  }
};
using PartTimes = std::vector<PartTime>;  // by OperationIndex

struct Iteration {
  uint64_t number = 0;  // as the program counts
  Interval time;
  int64_t busy_ns = 0;
};

struct IterationTimes {
  std::vector<Iteration> warm_up;  // in order of time, before |steady|
  std::vector<Iteration> steady;
  PartTimes in_steady;
  int64_t first_begin_ns = 0;  // of the first iteration; valid when there is one
};

class IterationBook {
 public:
  IterationBook(const Interval& span, size_t operations);

  // Iteration 1 begins at |now_ns|, in the span. |warm_up|: the phase that holds now is warm-up.
  void Begin(int64_t now_ns, bool warm_up, const std::vector<CellBook::Row>& rows);
  // Iteration |number| ends at |now_ns|, and the next begins.
  void Step(uint64_t number, int64_t now_ns, bool warm_up, const std::vector<CellBook::Row>& rows);

  IterationTimes Take() { return std::move(times_); }

 private:
  PartTimes TotalsOf(const std::vector<CellBook::Row>& rows) const;

  const Interval span_;
  const size_t operations_;
  IterationTimes times_;
  PartTimes at_begin_;  // totals when the iteration began
  int64_t begin_ns_ = 0;
  bool begun_ = false;
  bool still_warm_up_ = true;  // every iteration so far was
  bool began_in_warm_up_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ITERATION_BOOK_H_
