// SPDX-License-Identifier: Apache-2.0
//
// Cursors over logs. One thread at a time.
#include "analysis/replay/retimed_source.h"

#include <algorithm>
#include <span>

namespace gpubound {
namespace {

// Merges the blocks of a log. A block is read when the merge reaches its first record.
template <typename Record>
class BlockMerge : public RecordCursor<Record> {
 public:
  explicit BlockMerge(const RecordLog<Record>& log) : log_(log) {
    for (size_t block = 0; block < log.blocks(); ++block) order_.push_back(block);
    std::stable_sort(order_.begin(), order_.end(),
                     [&log](size_t a, size_t b) { return Before(log.FirstOf(a), log.FirstOf(b)); });
  }

  std::span<const Record> Next() override {
    batch_.clear();
    while (batch_.size() < kBatch) {
      while (next_ < order_.size() &&
             (heap_.empty() || !Before(heap_.front()->Front(), log_.FirstOf(order_[next_])))) {
        Open(order_[next_++]);
      }
      if (heap_.empty()) break;
      TakeFirst();
    }
    return batch_;
  }

 private:
  static constexpr size_t kBatch = 512;
  struct OpenBlock {
    std::vector<Record> buffer;
    std::span<const Record> rest;
    const Record& Front() const { return rest.front(); }
  };
  static bool Later(const std::unique_ptr<OpenBlock>& a, const std::unique_ptr<OpenBlock>& b) {
    return Before(b->Front(), a->Front());
  }

  void Open(size_t block) {
    auto open = std::make_unique<OpenBlock>();
    open->rest = log_.Read(block, &open->buffer);
    heap_.push_back(std::move(open));
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }

  // The first record, and those behind it that come before all other blocks.
  void TakeFirst() {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    std::unique_ptr<OpenBlock> block = std::move(heap_.back());
    heap_.pop_back();
    const Record* other = heap_.empty() ? nullptr : &heap_.front()->Front();
    const Record* unread = next_ < order_.size() ? &log_.FirstOf(order_[next_]) : nullptr;
    do {
      batch_.push_back(block->Front());
      block->rest = block->rest.subspan(1);
    } while (batch_.size() < kBatch && !block->rest.empty() &&
             (other == nullptr || Before(block->Front(), *other)) &&
             (unread == nullptr || Before(block->Front(), *unread)));
    if (block->rest.empty()) return;
    heap_.push_back(std::move(block));
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }

  const RecordLog<Record>& log_;
  std::vector<size_t> order_;
  size_t next_ = 0;
  std::vector<std::unique_ptr<OpenBlock>> heap_;
  std::vector<Record> batch_;
};

}  // namespace

class RetimedSource::EventCursor : public ThreadCursor {
 public:
  explicit EventCursor(const Thread* thread) : thread_(thread) {}

  bool Next(ThreadBatch* batch) override {
    *batch = {};
    if (thread_ == nullptr || block_ >= thread_->events.blocks()) return false;
    const std::vector<Resync>& resyncs = thread_->resyncs;
    if (resync_ < resyncs.size() && resyncs[resync_].block == block_) {
      batch->resync = true;
      batch->open = resyncs[resync_++].open;
    }
    batch->events = thread_->events.Read(block_++, &buffer_);
    return true;
  }

 private:
  const Thread* thread_;
  size_t block_ = 0;
  size_t resync_ = 0;
  std::vector<ThreadEvent> buffer_;
};

RetimedSource::Thread& RetimedSource::ThreadAt(uint32_t thread) {
  while (threads_.size() <= thread) threads_.emplace_back(&space_);
  return threads_[thread];
}

void RetimedSource::AddEvent(uint32_t thread, const ThreadEvent& event) {
  RecordLog<ThreadEvent>& log = ThreadAt(thread).events;
  log.open_block().push_back(event);
  if (log.full()) log.Seal();
}

void RetimedSource::AddResync(uint32_t thread, std::span<const LabelId> open) {
  Thread& of = ThreadAt(thread);
  of.events.Seal();
  of.resyncs.push_back({of.events.blocks(), {open.begin(), open.end()}});
}

void RetimedSource::Finish() {
  for (Thread& thread : threads_) thread.events.Seal();
  calls_.Seal();
  overheads_.Seal();
  work_.Seal();
  cpu_times_.Seal();
}

std::unique_ptr<ThreadCursor> RetimedSource::ThreadEvents(uint32_t thread) const {
  return std::make_unique<EventCursor>(thread < threads_.size() ? &threads_[thread] : nullptr);
}
std::unique_ptr<RecordCursor<ThreadCall>> RetimedSource::Calls() const {
  return std::make_unique<BlockMerge<ThreadCall>>(calls_.log());
}
std::unique_ptr<RecordCursor<ThreadOverhead>> RetimedSource::Overheads() const {
  return std::make_unique<BlockMerge<ThreadOverhead>>(overheads_.log());
}
std::unique_ptr<RecordCursor<DeviceWork>> RetimedSource::Work() const {
  return std::make_unique<BlockMerge<DeviceWork>>(work_.log());
}
std::unique_ptr<RecordCursor<Sync>> RetimedSource::Syncs() const {
  return std::make_unique<NoRecords<Sync>>();
}
std::unique_ptr<RecordCursor<CpuTime>> RetimedSource::CpuTimes() const {
  return std::make_unique<BlockMerge<CpuTime>>(cpu_times_.log());
}
std::unique_ptr<RecordCursor<gpubound::StackLooks>> RetimedSource::StackLooks() const {
  return std::make_unique<NoRecords<gpubound::StackLooks>>();
}

}  // namespace gpubound
