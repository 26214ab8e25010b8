// SPDX-License-Identifier: Apache-2.0
//
// Merges edits into batches; a batch without any is handed on as it is. One cursor, one caller.
#include "analysis/naming/named_source.h"

#include <algorithm>

#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

class EditedCursor : public ThreadCursor {
 public:
  EditedCursor(std::unique_ptr<ThreadCursor> cursor, const std::vector<NamingEdit>& edits)
      : cursor_(std::move(cursor)), next_(edits.data()), end_(edits.data() + edits.size()) {}

  bool Next(ThreadBatch* batch) override {
    while (cursor_->Next(batch)) {
      // What naming found open before the gap it closed there.
      batch->resync |= batch->thinned;
      const uint64_t until = passed_ + batch->events.size();
      if (next_ == end_ || next_->before > until) {
        passed_ = until;
        return true;
      }
      Merge(batch);
      if (!batch->events.empty()) return true;  // nothing is dropped right after a gap
    }
    return false;
  }

 private:
  // What ends after the last event of a batch belongs to it: the next one may begin with a gap.
  void Merge(ThreadBatch* batch) {
    merged_.clear();
    for (const ThreadEvent& event : batch->events) {
      bool drops = false;
      for (; next_ != end_ && next_->before == passed_; ++next_) {
        drops |= next_->rank == NamingEdit::Rank::kDrop;
        if (next_->rank != NamingEdit::Rank::kDrop) Insert(batch);
      }
      if (!drops) merged_.push_back(event);
      ++passed_;
    }
    for (; next_ != end_ && next_->before == passed_ && next_->rank == NamingEdit::Rank::kEnd;
         ++next_) {
      Insert(batch);
    }
    batch->events = merged_;
  }

  void Insert(ThreadBatch* batch) {
    merged_.push_back(next_->event);
    batch->scopes_only &= next_->event.kind != SlotKind::kStep;
  }

  std::unique_ptr<ThreadCursor> cursor_;
  const NamingEdit* next_;
  const NamingEdit* end_;
  uint64_t passed_ = 0;  // events of the source
  std::vector<ThreadEvent> merged_;
};

// The events of |source| in place of those of |thread|.
void TakeEvents(const EventSource& source, uint32_t index, ThreadTrace* thread) {
  std::vector<ThreadEvent> events;
  std::vector<StackReset> resets;
  const std::unique_ptr<ThreadCursor> cursor = source.ThreadEvents(index);
  ThreadBatch batch;
  while (cursor->Next(&batch)) {
    if (batch.resync || batch.thinned) {
      resets.push_back(
          {events.size(), {batch.open.begin(), batch.open.end()}, batch.resync, batch.thinned});
    }
    events.insert(events.end(), batch.events.begin(), batch.events.end());
  }
  thread->events = std::move(events);
  thread->resets = std::move(resets);
}

}  // namespace

std::unique_ptr<ThreadCursor> NamedSource::ThreadEvents(uint32_t thread) const {
  std::unique_ptr<ThreadCursor> cursor = source_->ThreadEvents(thread);
  if (thread >= edits_.size() || edits_[thread].empty()) return cursor;
  return std::make_unique<EditedCursor>(std::move(cursor), edits_[thread]);
}

void TakeEvents(const EventSource& source, ProcessTrace* process) {
  for (uint32_t thread = 0; thread < process->threads.size(); ++thread) {
    TakeEvents(source, thread, &process->threads[thread]);
  }
}

void ApplyEdits(NamingEdits edits, ProcessTrace* process) {
  if (std::all_of(edits.begin(), edits.end(), [](const auto& list) { return list.empty(); }))
    return;
  auto edited = std::make_shared<NamedSource>(SourceOf(*process), std::move(edits));
  if (process->source != nullptr) {
    process->source = std::move(edited);
    return;
  }
  TakeEvents(*edited, process);
}

}  // namespace gpubound
