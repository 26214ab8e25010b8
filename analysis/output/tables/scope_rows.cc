// SPDX-License-Identifier: Apache-2.0
//
// Reads scopes out of pieces. One object, one thread.
#include "analysis/output/tables/scope_rows.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace gpubound {
namespace {

// Begin of a scope that began before everything that was read.
constexpr int64_t kBefore = std::numeric_limits<int64_t>::min();

}  // namespace

const ScopeRow* ScopeRows::Next() {
  while (!Pop()) {
    if (!Advance()) return nullptr;
  }
  return &row_;
}

bool ScopeRows::Pop() {
  row_.process = process_;
  row_.thread = thread_;
  while (builder_.Pop(&row_.scope)) {
    if (row_.scope.begin_ns == kBefore) continue;
    row_.trace = &run_.process(process_);
    return true;
  }
  if (ranges_.empty()) return false;
  row_.trace = &run_.process(process_);
  row_.thread = ranges_.front().thread;
  row_.scope = ranges_.front().range.scope;
  ranges_.pop_front();
  return true;
}

// One step: a piece, or on to the next thread or process. False at the end.
bool ScopeRows::Advance() {
  if (process_ == run_.processes()) return false;
  if (!filter_.TakesProcess(process_) || thread_ == run_.process(process_).threads.size()) {
    if (unended_.empty()) {
      ++process_;
      thread_ = 0;
    } else {
      EndProcess();
    }
    return true;
  }
  if (state_ == State::kEnded || !filter_.TakesThread(thread_)) {
    state_ = State::kNew;
    ++thread_;
    return true;
  }
  const auto& pieces = run_.pieces(process_).OfThread(static_cast<uint32_t>(thread_));
  if (state_ == State::kNew) BeginThread(pieces);
  if (piece_ == pieces.size()) {
    EndThread();
  } else if (PastInterest(pieces[piece_])) {
    LeaveThread();
  } else {
    ReadPiece(pieces[piece_++]);
  }
  return true;
}

void ScopeRows::BeginThread(const std::vector<EventPiece>& pieces) {
  builder_ = ScopeBuilder();
  state_ = State::kReading;
  piece_ = 0;
  while (piece_ < pieces.size() && pieces[piece_].max_ns < filter_.begin_min_ns) ++piece_;
  // What is open after a gap may have begun in it: the piece before tells.
  if (piece_ > 0 && piece_ < pieces.size() && pieces[piece_].gap) --piece_;
  skipped_ = piece_ > 0;
  lost_ = past_ends_ = false;
  known_until_ns_ = kBefore;
}

void ScopeRows::ReadPiece(const EventPiece& piece) {
  ThreadPiece read;
  if (!run_.pieces(process_).Read(piece, &read)) {
    lost_ = true;
    return;
  }
  if (skipped_) {
    builder_.Resync(kBefore, kBefore, read.open);
  } else if (read.gap || lost_) {
    builder_.Resync(known_until_ns_, piece.min_ns, read.open);
  }
  skipped_ = lost_ = false;
  past_ends_ = piece.min_ns > filter_.end_max_ns;
  for (const ThreadEvent& event : read.events) builder_.Add(event);
  known_until_ns_ = piece.max_ns;
}

bool ScopeRows::PastInterest(const EventPiece& piece) const {
  const bool open = builder_.HasOpenSince(filter_.begin_min_ns);
  if (piece.min_ns > filter_.begin_max_ns && !open) return true;
  // What never ends does so with the span. What is open where events are missing ends with the last
  // one before: the first piece behind the limit tells whether some are.
  if (filter_.end_max_ns >= run_.process(process_).span_end_ns) return false;
  return piece.min_ns > filter_.end_max_ns && (!open || past_ends_);
}

// What is still open is not asked for, but for a range that another thread may have ended in time.
void ScopeRows::LeaveThread() {
  state_ = State::kEnded;
  for (const OpenRange& range : builder_.TakeOpenRanges()) {
    const int64_t begin_ns = range.scope.begin_ns;
    const bool asked = begin_ns >= filter_.begin_min_ns && begin_ns <= filter_.begin_max_ns &&
                       begin_ns <= filter_.end_max_ns;
    if (asked) unended_.push_back({thread_, range});
  }
  builder_.Drop();
}

void ScopeRows::EndThread() {
  state_ = State::kEnded;
  const ProcessTrace& process = run_.process(process_);
  const bool thinned = process.threads[thread_].tail_thinned;
  if (thinned) builder_.CutRanges(known_until_ns_);
  builder_.Finish(thinned ? known_until_ns_ : process.span_end_ns);
  for (const OpenRange& range : builder_.TakeOpenRanges()) unended_.push_back({thread_, range});
}

void ScopeRows::EndProcess() {
  LookForEnds();
  for (RangeOfThread& unended : unended_) {
    Scope& scope = unended.range.scope;
    if (!scope.end_cut) {
      scope.end_cut = true;
      scope.end_ns = std::max(scope.begin_ns, run_.process(process_).span_end_ns);
    }
    ranges_.push_back(unended);
  }
  unended_.clear();
}

// Another thread of the process may have ended a range: those that it did go to |ranges_|.
void ScopeRows::LookForEnds() {
  std::unordered_map<uint64_t, std::vector<size_t>> places;  // by id, in |unended_|
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < unended_.size(); ++i) {
    places[unended_[i].range.id].push_back(i);
    first_ns = std::min(first_ns, unended_[i].range.scope.begin_ns);
  }
  std::vector<bool> ended(unended_.size());
  const auto end = [&](const ThreadEvent& event) {
    const auto found = places.find(event.payload);
    if (found == places.end()) return;
    for (const size_t place : found->second) {
      RangeOfThread& unended = unended_[place];
      if (ended[place] || unended.range.scope.begin_ns > event.time_ns) continue;
      unended.range.scope.end_ns = event.time_ns;
      unended.range.scope.end_cut = false;
      ranges_.push_back(unended);
      ended[place] = true;
      return;
    }
  };
  ThreadPiece read;
  for (uint32_t t = 0; t < run_.process(process_).threads.size(); ++t) {
    for (const EventPiece& piece : run_.pieces(process_).OfThread(t)) {
      if (piece.max_ns < first_ns || !run_.pieces(process_).Read(piece, &read)) continue;
      for (const ThreadEvent& event : read.events) {
        if (event.kind == SlotKind::kRangeEnd) end(event);
      }
    }
  }
  size_t place = 0;
  std::erase_if(unended_, [&](const RangeOfThread&) { return ended[place++]; });
}

}  // namespace gpubound
