// SPDX-License-Identifier: Apache-2.0
//
// Cursors over chunks. One thread at a time.
#include "analysis/segments/chunk_source.h"

#include <algorithm>
#include <deque>
#include <span>
#include <vector>

#include "analysis/trace/record_order.h"

namespace gpubound {
namespace {

class ChunkThreadCursor : public ThreadCursor {
 public:
  ChunkThreadCursor(ChunkStore* store, const std::vector<PlannedChunk>& chunks)
      : store_(*store), chunks_(chunks) {}

  bool Next(ThreadBatch* batch) override {
    *batch = {};
    while (next_ < chunks_.size()) {
      const PlannedChunk& chunk = chunks_[next_++];
      store_.Decode(chunk, &decoded_);
      if (decoded_.events.empty()) continue;
      // Time never runs backwards within a thread, across its chunks neither.
      for (ThreadEvent& event : decoded_.events) {
        if (event.time_ns >= latest_ns_) break;
        event.time_ns = latest_ns_;
      }
      latest_ns_ = decoded_.events.back().time_ns;
      batch->events = decoded_.events;
      batch->resync = chunk.gap || decoded_.dropped_before != 0;
      batch->thinned = chunk.thinned;
      batch->open = decoded_.open_labels;
      batch->scopes_only = decoded_.scopes_only;
      return true;
    }
    return false;
  }

 private:
  ChunkStore& store_;
  const std::vector<PlannedChunk>& chunks_;
  size_t next_ = 0;
  int64_t latest_ns_ = INT64_MIN;
  ThreadEvents decoded_;
};

// Merges the chunks of a family. A chunk is decoded when the merge reaches its earliest begin.
template <typename Record>
class ChunkMerge : public RecordCursor<Record> {
 public:
  ChunkMerge(ChunkStore* store, const std::vector<PlannedChunk>& chunks)
      : store_(*store), chunks_(chunks) {}

  std::span<const Record> Next() override {
    std::erase_if(open_, [this](Open& open) {
      if (open.next != open.records.size()) return false;
      used_up_ = std::move(open.records);
      return true;
    });
    Open* first = First();
    while (next_ < chunks_.size() &&
           (first == nullptr || chunks_[next_].head.row.min_ns <= BeginOf(first->Front()))) {
      Open& added = open_.emplace_back();
      added.records = std::move(used_up_);
      store_.Decode(chunks_[next_++], &added.records);
      if (added.records.empty()) open_.pop_back();
      first = First();
    }
    if (first == nullptr) return {};
    // As many of its records as come before all others.
    const size_t begin = first->next;
    size_t end = first->records.size();
    const PlainList<Record>& records = first->records;
    const Record* const from = records.begin() + begin;
    if (next_ < chunks_.size()) {
      const int64_t limit_ns = chunks_[next_].head.row.min_ns;
      end = IndexOf(*first,
                    std::partition_point(from, records.end(), [limit_ns](const Record& record) {
                      return BeginOf(record) < limit_ns;
                    }));
    }
    for (Open& other : open_) {
      if (&other == first) continue;
      const Record& front = other.Front();
      end = std::min(end, IndexOf(*first, std::partition_point(from, records.end(),
                                                               [&front](const Record& record) {
                                                                 return !Before(front, record);
                                                               })));
    }
    first->next = end;
    return std::span(records).subspan(begin, end - begin);
  }

 private:
  struct Open {
    PlainList<Record> records;
    size_t next = 0;
    const Record& Front() const { return records[next]; }
  };
  static size_t IndexOf(const Open& open, const Record* at) {
    return static_cast<size_t>(at - open.records.begin());
  }
  Open* First() {
    Open* first = nullptr;
    for (Open& open : open_) {
      if (first == nullptr || Before(open.Front(), first->Front())) first = &open;
    }
    return first;
  }

  ChunkStore& store_;
  const std::vector<PlannedChunk>& chunks_;
  size_t next_ = 0;
  std::deque<Open> open_;
  PlainList<Record> used_up_;  // whose memory the next chunk gets
};

}  // namespace

std::unique_ptr<ThreadCursor> ChunkSource::ThreadEvents(uint32_t thread) const {
  return std::make_unique<ChunkThreadCursor>(store_.get(), store_->OfThread(thread));
}
std::unique_ptr<RecordCursor<ThreadCall>> ChunkSource::Calls() const {
  return std::make_unique<ChunkMerge<ThreadCall>>(store_.get(),
                                                  store_->OfFamily(EventFamily::kApi));
}
std::unique_ptr<RecordCursor<ThreadOverhead>> ChunkSource::Overheads() const {
  return std::make_unique<ChunkMerge<ThreadOverhead>>(store_.get(),
                                                      store_->OfFamily(EventFamily::kOverhead));
}
std::unique_ptr<RecordCursor<DeviceWork>> ChunkSource::Work() const {
  return std::make_unique<ChunkMerge<DeviceWork>>(store_.get(),
                                                  store_->OfFamily(EventFamily::kDevice));
}
std::unique_ptr<RecordCursor<Sync>> ChunkSource::Syncs() const {
  return std::make_unique<ChunkMerge<Sync>>(store_.get(), store_->OfFamily(EventFamily::kSync));
}
std::unique_ptr<RecordCursor<CpuTime>> ChunkSource::CpuTimes() const {
  return std::make_unique<ChunkMerge<CpuTime>>(store_.get(),
                                               store_->OfFamily(EventFamily::kCpuTime));
}
std::unique_ptr<RecordCursor<gpubound::StackLooks>> ChunkSource::StackLooks() const {
  return std::make_unique<ChunkMerge<gpubound::StackLooks>>(store_.get(),
                                                            store_->OfFamily(EventFamily::kStack));
}

}  // namespace gpubound
