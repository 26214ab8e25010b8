// SPDX-License-Identifier: Apache-2.0
//
// The book of iterations. One object, one caller.
#include "analysis/iteration_book.h"

#include <algorithm>

namespace gpubound {
namespace {

IdleTimes IdleOf(const CellBook& book) {
  IdleTimes idle_ns{};
  book.ForEachCell([&idle_ns](const CpuState& cpu, GpuState gpu, int64_t ns) {
    if (gpu == kGpuIdle) idle_ns[static_cast<size_t>(cpu.cause)] += ns;
  });
  return idle_ns;
}

// There may be millions, so they take little: mostly |iteration| is the next and begins where the
// one before it ended. Numbers of damaged bytes may be any, hence without a sign.
void VisitNext(StateArchive& archive, const Iteration& before, Iteration& iteration) {
  const uint64_t next_number = before.number + 1;
  const auto next_begin = static_cast<uint64_t>(before.time.end_ns);
  uint64_t number = iteration.number - next_number;
  uint64_t begin = static_cast<uint64_t>(iteration.time.begin_ns) - next_begin;
  uint64_t length =
      static_cast<uint64_t>(iteration.time.end_ns) - static_cast<uint64_t>(iteration.time.begin_ns);
  archive.All(number, begin, length, iteration.busy_ns);
  iteration.number = number + next_number;
  iteration.time.begin_ns = static_cast<int64_t>(begin + next_begin);
  iteration.time.end_ns = static_cast<int64_t>(begin + next_begin + length);
}

}  // namespace

IterationBook::IterationBook(const Interval& span, size_t operations)
    : span_(span), operations_(operations) {
  times_.in_steady.resize(operations);
}

void IterationBook::Begin(int64_t now_ns, bool warm_up, const CellBook& book) {
  at_begin_ = TotalsOf(book);
  idle_at_begin_ = IdleOf(book);
  begin_ns_ = now_ns;
  began_in_warm_up_ = warm_up;
  begun_ = true;
}

void IterationBook::Step(uint64_t number, int64_t now_ns, bool warm_up, const CellBook& book) {
  if (begun_) {
    const PartTimes totals = TotalsOf(book);
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
    if (!still_warm_up_) KeepDetail(totals, IdleOf(book));
  }
  Begin(now_ns, warm_up, book);
}

// Of the last steady iteration. Each of n iterations stays with a chance of kDetailedIterations /
// n.
void IterationBook::KeepDetail(const PartTimes& totals, const IdleTimes& idle_ns) {
  IterationDetail detail;
  detail.index = times_.steady.size() - 1;
  IterationDetail* place = nullptr;
  if (times_.details.size() < kDetailedIterations) {
    place = &times_.details.emplace_back();
  } else if (const uint64_t drawn = random_.Below(times_.steady.size());
             drawn < kDetailedIterations) {
    place = &times_.details[drawn];
  }
  if (place == nullptr) return;
  for (size_t operation = 0; operation < totals.size(); ++operation) {
    const PartTime& before = at_begin_[operation];
    const PartTime& after = totals[operation];
    if (after.wall_ns == before.wall_ns) continue;
    detail.operations.emplace_back(
        static_cast<uint32_t>(operation),
        PartTime{after.wall_ns - before.wall_ns, after.busy_ns - before.busy_ns,
                 after.unknown_ns - before.unknown_ns});
  }
  for (size_t cause = 0; cause < kIdleCauses; ++cause) {
    detail.idle_ns[cause] = idle_ns[cause] - idle_at_begin_[cause];
  }
  *place = std::move(detail);
}

void IterationBook::Visit(StateArchive& archive) {
  archive.Chained(times_.warm_up, VisitNext);
  archive.Chained(times_.steady, VisitNext);
  archive.All(times_.details, times_.first_begin_ns);
  archive.Grown(times_.in_steady);
  archive.All(at_begin_, idle_at_begin_, random_, begin_ns_, begun_, still_warm_up_,
              began_in_warm_up_);
  at_begin_.resize(operations_);
  for (const IterationDetail& detail : times_.details) {
    for (const auto& [operation, time] : detail.operations) {
      if (operation >= operations_ || detail.index >= times_.steady.size()) return archive.Fail();
    }
  }
}

IterationTimes IterationBook::Take() {
  std::sort(times_.details.begin(), times_.details.end(),
            [](const IterationDetail& a, const IterationDetail& b) { return a.index < b.index; });
  return std::move(times_);
}

PartTimes IterationBook::TotalsOf(const CellBook& book) const {
  PartTimes totals(operations_);
  book.ForEachCell([&totals](const CpuState& cpu, GpuState state, int64_t ns) {
    PartTime& total = totals[cpu.operation];
    total.wall_ns += ns;
    if (IsBusy(state)) total.busy_ns += ns;
    if (state == kGpuUnknown) total.unknown_ns += ns;
  });
  return totals;
}

}  // namespace gpubound
