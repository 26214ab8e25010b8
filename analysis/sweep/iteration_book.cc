// SPDX-License-Identifier: Apache-2.0
//
// The book of iterations. One object, one caller.
#include "analysis/sweep/iteration_book.h"

#include <algorithm>

namespace gpubound {
namespace {

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

IterationBook::IterationBook(const Interval& span, size_t operations, bool first_counts)
    : span_(span),
      operations_(operations),
      part_(operations),
      is_in_part_(operations),
      still_warm_up_(!first_counts) {
  times_.in_steady.resize(operations);
}

void IterationBook::Begin(int64_t now_ns, bool warm_up, CellBook* book) {
  book->BeginPart();
  begin_ns_ = now_ns;
  began_in_warm_up_ = warm_up;
  begun_ = true;
}

void IterationBook::Step(uint64_t number, int64_t now_ns, bool warm_up, const QueuedPart& queued,
                         CellBook* book) {
  if (begun_) {
    const PartOfSpan part = TakePart(*book);
    const bool first = times_.empty();
    still_warm_up_ = still_warm_up_ && (first || began_in_warm_up_);
    if (first) times_.first_begin_ns = begin_ns_;
    Iteration& iteration = (still_warm_up_ ? times_.warm_up : times_.steady).emplace_back();
    iteration.number = number;
    iteration.time = {begin_ns_, now_ns};
    for (const uint32_t operation : part.operations) {
      iteration.busy_ns += part_[operation].busy_ns;
      if (!still_warm_up_) times_.in_steady[operation] += part_[operation];
    }
    if (!still_warm_up_) KeepDetail(part, queued);
    for (const uint32_t operation : part.operations) {
      part_[operation] = {};
      is_in_part_[operation] = false;
    }
  }
  Begin(now_ns, warm_up, book);
}

IterationBook::PartOfSpan IterationBook::TakePart(const CellBook& book) {
  PartOfSpan part;
  book.ForEachCellOfPart([&](const CpuState& cpu, GpuState gpu, int64_t ns) {
    if (!is_in_part_[cpu.operation]) {
      is_in_part_[cpu.operation] = true;
      part.operations.push_back(cpu.operation);
    }
    PartTime& time = part_[cpu.operation];
    time.wall_ns += ns;
    if (IsBusy(gpu)) time.busy_ns += ns;
    if (gpu == kGpuUnknown) time.unknown_ns += ns;
    if (cpu.layer == Layer::kWait) time.blocked_ns += ns;
    if (gpu == kGpuIdle) part.idle_ns[static_cast<size_t>(cpu.cause)] += ns;
  });
  std::sort(part.operations.begin(), part.operations.end());
  return part;
}

// Of the last steady iteration. Each of n iterations stays with a chance of kDetailedIterations /
// n.
void IterationBook::KeepDetail(const PartOfSpan& part, const QueuedPart& queued) {
  IterationDetail* place = nullptr;
  if (times_.details.size() < kDetailedIterations) {
    place = &times_.details.emplace_back();
  } else if (const uint64_t drawn = random_.Below(times_.steady.size());
             drawn < kDetailedIterations) {
    place = &times_.details[drawn];
  }
  if (place == nullptr) return;
  *place = {};
  place->index = times_.steady.size() - 1;
  place->idle_ns = part.idle_ns;
  place->Move(queued.queued_ns, IdleCause::kQueued);
  place->Move(queued.event_wait_ns, IdleCause::kEventWait);
  place->open = queued.open;
  place->open_ns = queued.open_ns;
  for (const uint32_t operation : part.operations) {
    if (part_[operation].wall_ns != 0) place->operations.emplace_back(operation, part_[operation]);
  }
}

void IterationBook::EndGap(IdleCause cause) {
  for (IterationDetail& detail : times_.details) {
    if (!detail.open) continue;
    if (cause != IdleCause::kUnknown) detail.Move(detail.open_ns, cause);
    detail.open = false;
    detail.open_ns = {};
  }
}

void IterationBook::Visit(StateArchive& archive) {
  archive.Chained(times_.warm_up, VisitNext);
  archive.Chained(times_.steady, VisitNext);
  archive.All(times_.details, times_.first_begin_ns);
  archive.Grown(times_.in_steady);
  archive.All(random_, begin_ns_, begun_, still_warm_up_, began_in_warm_up_);
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

std::optional<Interval> WarmUpOf(const IterationTimes& times) {
  if (times.empty()) return std::nullopt;
  if (times.warm_up.empty()) return Interval{times.first_begin_ns, times.first_begin_ns};
  return Interval{times.first_begin_ns, times.warm_up.back().time.end_ns};
}

}  // namespace gpubound
