// SPDX-License-Identifier: Apache-2.0
//
// Walks pieces. One object, one thread.
#include "analysis/output/tables/event_scan.h"

#include <utility>

namespace gpubound {

const ThreadEvent* ThreadEventScan::Next() {
  while (at_ == read_.events.size()) {
    if (!NextPiece()) return nullptr;
  }
  return &read_.events[at_++];
}

bool ThreadEventScan::NextPiece() {
  at_ = 0;
  read_.events.clear();
  for (; process_ < run_.processes(); ++process_, thread_ = 0) {
    if (!filter_.TakesProcess(process_)) continue;
    const size_t threads = run_.process(process_).threads.size();
    for (; thread_ < threads; ++thread_, piece_ = 0) {
      if (!filter_.TakesThread(thread_)) continue;
      const auto& pieces = run_.pieces(process_).OfThread(static_cast<uint32_t>(thread_));
      while (piece_ < pieces.size()) {
        const EventPiece& piece = pieces[piece_++];
        if (filter_.Takes(piece) && run_.pieces(process_).Read(piece, &read_)) return true;
      }
    }
  }
  return false;
}

size_t ThreadFinder::Find(size_t process, uint32_t tid, int64_t time_ns) {
  while (by_tid_.size() <= process) {
    const size_t added = by_tid_.size();
    auto& by_tid = by_tid_.emplace_back();
    const std::vector<ThreadTrace>& threads = run_.process(added).threads;
    for (size_t t = 0; t < threads.size(); ++t) {
      const auto& pieces = run_.pieces(added).OfThread(static_cast<uint32_t>(t));
      by_tid[threads[t].tid].push_back({pieces.empty() ? kOpenEnded : pieces.front().min_ns, t});
    }
  }
  const auto found = by_tid_[process].find(tid);
  if (found == by_tid_[process].end()) return kNone;
  size_t chosen = found->second.front().thread;
  for (const OfTid& candidate : found->second) {
    if (candidate.first_ns <= time_ns) chosen = candidate.thread;
  }
  return chosen;
}

}  // namespace gpubound
