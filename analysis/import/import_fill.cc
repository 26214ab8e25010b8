// SPDX-License-Identifier: Apache-2.0
//
// Walks along the gaps of a thread and the times of its helpers at once. One object, one caller.
#include "analysis/import/import_fill.h"

#include <algorithm>
#include <utility>

#include "analysis/base/interval.h"

namespace gpubound {
namespace {

// Of one gap: more than a gap between two events has.
constexpr size_t kMostPieces = 4096;

}  // namespace

ThreadFill::ThreadFill(uint32_t thread, const Labels& labels, NextHelper next, Emit emit)
    : thread_(thread), labels_(labels), next_(std::move(next)), emit_(std::move(emit)) {}

Status ThreadFill::Advance() {
  const Result<bool> more = next_(&helper_);
  if (!more.ok()) return more.error();
  more_ = *more;
  return Ok{};
}

Status ThreadFill::Before(const CpuInterval& interval, Says says) {
  const Status filled = FillUntil(interval.start_ns);
  if (!filled.ok()) return filled;
  if (interval.end_ns > interval.start_ns && says != Says::kNothing) {
    open_.push_back({interval.end_ns, says == Says::kNative});
  }
  return Ok{};
}

Status ThreadFill::Finish() { return FillUntil(INT64_MAX); }

Status ThreadFill::FillUntil(int64_t time_ns) {
  if (!begun_) {
    begun_ = true;
    const Status first = Advance();
    if (!first.ok()) return first;
  }
  while (filled_until_ns_ < time_ns) {
    while (!open_.empty() && open_.back().end_ns <= filled_until_ns_) open_.pop_back();
    const int64_t end_ns = open_.empty() ? time_ns : std::min(time_ns, open_.back().end_ns);
    if (open_.empty() || open_.back().is_native) {
      const Status filled = Fill(filled_until_ns_, end_ns);
      if (!filled.ok()) return filled;
    }
    filled_until_ns_ = end_ns;
  }
  return Ok{};
}

Status ThreadFill::Fill(int64_t from_ns, int64_t to_ns) {
  std::vector<Interval> pieces;
  Interval backward{INT64_MAX, INT64_MIN};
  const auto see = [&](int64_t begin_ns, int64_t end_ns) {
    backward.begin_ns = std::min(backward.begin_ns, std::max(begin_ns, from_ns));
    backward.end_ns = std::max(backward.end_ns, std::min(end_ns, to_ns));
  };
  if (backward_until_ns_ > from_ns) see(from_ns, backward_until_ns_);
  int64_t now_ns = from_ns;
  while (now_ns < to_ns) {
    while (more_ && helper_.start_ns <= std::max(now_ns, std::min(helped_until_ns_, to_ns - 1))) {
      helped_until_ns_ = std::max(helped_until_ns_, helper_.end_ns);
      if (helper_.is_backward) {
        backward_until_ns_ = std::max(backward_until_ns_, helper_.end_ns);
        if (helper_.end_ns > from_ns) see(helper_.start_ns, helper_.end_ns);
      }
      const Status advanced = Advance();
      if (!advanced.ok()) return advanced;
    }
    if (helped_until_ns_ > now_ns) {
      const int64_t end_ns = std::min(helped_until_ns_, to_ns);
      pieces.push_back({now_ns, end_ns});
      now_ns = end_ns;
    } else if (more_ && helper_.start_ns < to_ns) {
      now_ns = helper_.start_ns;
    } else {
      break;
    }
    if (pieces.size() == kMostPieces) break;
  }
  const bool is_operation = labels_.backward && !backward.empty();
  bool put = !is_operation;
  const auto put_backward = [&] {
    put = true;
    CpuInterval interval;
    interval.thread = thread_;
    interval.start_ns = backward.begin_ns;
    interval.end_ns = backward.end_ns;
    interval.label = *labels_.backward;
    emit_(interval);
  };
  for (const Interval& piece : pieces) {
    if (!put && backward.begin_ns <= piece.begin_ns) put_backward();
    CpuInterval interval;
    interval.thread = thread_;
    interval.start_ns = piece.begin_ns;
    interval.end_ns = piece.end_ns;
    interval.layer = Layer::kBackend;
    interval.label = labels_.backend;
    emit_(interval);
  }
  if (!put) put_backward();
  const bool rest = pieces.size() == kMostPieces && now_ns < to_ns;
  return rest ? Fill(now_ns, to_ns) : Status(Ok{});
}

}  // namespace gpubound
