// SPDX-License-Identifier: Apache-2.0
//
// Reads batches. One object, one caller.
#include "analysis/thread_stream.h"

#include <algorithm>
#include <utility>

namespace gpubound {

ThreadStream::ThreadStream(std::unique_ptr<ThreadCursor> cursor) : cursor_(std::move(cursor)) {
  Refill();
  if (next_ != end_) next_ns_ = next_->time_ns;
}

void ThreadStream::Refill() {
  next_ = end_ = nullptr;
  cuts_.clear();
  next_cut_ = 0;
  if (!cursor_->Next(&batch_)) return;
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
        ranges_.push_back(event.payload);
        break;
      case SlotKind::kRangeEnd: {
        const auto own = std::find(ranges_.rbegin(), ranges_.rend(), event.payload);
        if (own == ranges_.rend()) {
          cuts_.push_back(event.time_ns);
        } else {
          ranges_.erase(std::next(own).base());
        }
        break;
      }
      case SlotKind::kPhase:
      case SlotKind::kStep:
      case SlotKind::kPause:
      case SlotKind::kResume:
      case SlotKind::kSuspension:
        cuts_.push_back(event.time_ns);
        break;
      default:
        break;
    }
  }
}

}  // namespace gpubound
