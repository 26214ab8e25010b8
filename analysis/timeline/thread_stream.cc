// SPDX-License-Identifier: Apache-2.0
//
// Reads batches. One object, one caller.
#include "analysis/timeline/thread_stream.h"

namespace gpubound {

ThreadStream::ThreadStream(const EventSource& source, uint32_t thread)
    : source_(&source), thread_(thread) {
  OpenSlowPath();
  if (next_ != end_) next_ns_ = next_->time_ns;
}

void ThreadStream::Close() {
  if (next_ == end_) return;  // at its end, where nothing is kept
  closed_ = true;
  DropAll();
}

void ThreadStream::OpenSlowPath() {
  closed_ = false;
  cursor_ = source_->ThreadEvents(thread_);
  Refill();
}

void ThreadStream::DropAll() {
  cursor_.reset();
  batch_ = {};
  next_ = end_ = nullptr;
  gap_ = false;
  cuts_ = {};
  ranges_ = {};
}

void ThreadStream::Refill() {
  next_ = end_ = nullptr;
  cuts_.clear();
  next_cut_ = 0;
  if (!cursor_->Next(&batch_)) return DropAll();
  next_ = batch_.events.data();
  end_ = next_ + batch_.events.size();
  gap_ = batch_.resync;
  // Ranges may have ended in the gap; taking one for foreign only makes a window shorter.
  if (gap_) ranges_.clear();
  if (!batch_.scopes_only) FindCuts();
}

void ThreadStream::FindCuts() {
  for (const ThreadEvent& event : batch_.events) {
    switch (event.kind) {
      case SlotKind::kRangeStart:
        ranges_.insert(event.payload);
        break;
      case SlotKind::kRangeEnd: {
        const auto own = ranges_.find(event.payload);
        if (own == ranges_.end()) {
          cuts_.push_back(event.time_ns);
        } else {
          ranges_.erase(own);
        }
        break;
      }
      case SlotKind::kPhase:
      case SlotKind::kStep:
      case SlotKind::kPause:
      case SlotKind::kResume:
        cuts_.push_back(event.time_ns);
        break;
      default:
        break;
    }
  }
}

}  // namespace gpubound
