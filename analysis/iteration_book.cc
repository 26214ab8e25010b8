// SPDX-License-Identifier: Apache-2.0
//
// The book of iterations. One object, one caller.
#include "analysis/iteration_book.h"

namespace gpubound {

IterationBook::IterationBook(const Interval& span, size_t operations)
    : span_(span), operations_(operations) {
  times_.in_steady.resize(operations);
}

void IterationBook::Begin(int64_t now_ns, bool warm_up, const std::vector<CellBook::Row>& rows) {
  at_begin_ = TotalsOf(rows);
  begin_ns_ = now_ns;
  began_in_warm_up_ = warm_up;
  begun_ = true;
}

void IterationBook::Step(uint64_t number, int64_t now_ns, bool warm_up,
                         const std::vector<CellBook::Row>& rows) {
  if (begun_) {
    const PartTimes totals = TotalsOf(rows);
    const bool first = times_.warm_up.empty();
    still_warm_up_ = still_warm_up_ && (first || began_in_warm_up_);
    if (first) times_.first_begin_ns = begin_ns_;
    Iteration& iteration = (still_warm_up_ ? times_.warm_up : times_.steady).emplace_back();
    iteration.number = number;
    iteration.time = {begin_ns_, now_ns};
    for (size_t operation = 0; operation < totals.size(); ++operation) {
      const PartTime& before = at_begin_[operation];
      const PartTime& after = totals[operation];
      iteration.busy_ns += after.busy_ns - before.busy_ns;
      if (still_warm_up_) continue;
      times_.in_steady[operation] +=
          {after.wall_ns - before.wall_ns, after.busy_ns - before.busy_ns,
           after.unknown_ns - before.unknown_ns};
    }
  }
  Begin(now_ns, warm_up, rows);
}

PartTimes IterationBook::TotalsOf(const std::vector<CellBook::Row>& rows) const {
  PartTimes totals(operations_);
  for (const CellBook::Row& row : rows) {
    PartTime& total = totals[row.state.operation];
    for (GpuState state = 0; state < kGpuStates; ++state) {
      const int64_t ns = row.time.by_state[state];
      total.wall_ns += ns;
      if (IsBusy(state)) total.busy_ns += ns;
    }
    total.unknown_ns += row.time.by_state[kGpuUnknown];
  }
  return totals;
}

}  // namespace gpubound
