// SPDX-License-Identifier: Apache-2.0
//
// Cursors over vectors. One object, one thread.
#include "analysis/trace/memory_source.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace gpubound {
namespace {

class VectorThreadCursor : public ThreadCursor {
 public:
  explicit VectorThreadCursor(const ThreadTrace& thread) : thread_(thread) {}

  bool Next(ThreadBatch* batch) override {
    *batch = {};
    const std::vector<StackReset>& resets = thread_.resets;
    // A reset behind the last event has nothing to apply to.
    if (next_event_ >= thread_.events.size()) return false;
    while (next_reset_ < resets.size() && resets[next_reset_].event_index <= next_event_) {
      batch->resync |= resets[next_reset_].lost;
      batch->thinned |= resets[next_reset_].thinned;
      batch->open = resets[next_reset_++].open;
    }
    const size_t end = next_reset_ < resets.size()
                           ? std::min(resets[next_reset_].event_index, thread_.events.size())
                           : thread_.events.size();
    batch->events = std::span(thread_.events).subspan(next_event_, end - next_event_);
    next_event_ = end;
    return true;
  }

 private:
  const ThreadTrace& thread_;
  size_t next_event_ = 0;
  size_t next_reset_ = 0;
};

// Merges the sorted vectors of all threads, ties by thread.
template <typename Record, typename Merged>
class ThreadMerge : public RecordCursor<Merged> {
 public:
  ThreadMerge(const ProcessTrace& process, std::vector<Record> ThreadTrace::*records) {
    for (uint32_t t = 0; t < process.threads.size(); ++t) {
      lists_.push_back(process.threads[t].*records);
      if (!lists_[t].empty()) queue_.emplace_back(lists_[t].front().start_ns, t);
    }
    std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
  }

  std::span<const Merged> Next() override {
    batch_.clear();
    while (!queue_.empty() && batch_.size() < kBatch) {
      std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
      const uint32_t thread = queue_.back().second;
      queue_.pop_back();
      std::span<const Record>& list = lists_[thread];
      batch_.push_back({list.front(), thread});
      list = list.subspan(1);
      if (list.empty()) continue;
      queue_.emplace_back(list.front().start_ns, thread);
      std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
    }
    return batch_;
  }

 private:
  static constexpr size_t kBatch = 512;
  std::vector<std::span<const Record>> lists_;
  std::vector<std::pair<int64_t, uint32_t>> queue_;
  std::vector<Merged> batch_;
};

template <typename Record>
class VectorCursor : public RecordCursor<Record> {
 public:
  explicit VectorCursor(std::span<const Record> records) : records_(records) {}
  std::span<const Record> Next() override { return std::exchange(records_, {}); }

 private:
  std::span<const Record> records_;
};

}  // namespace

std::shared_ptr<const EventSource> SourceOf(const ProcessTrace& process) {
  return process.source ? process.source : std::make_shared<MemorySource>(process);
}

std::unique_ptr<ThreadCursor> MemorySource::ThreadEvents(uint32_t thread) const {
  return std::make_unique<VectorThreadCursor>(process_.threads[thread]);
}
std::unique_ptr<RecordCursor<ThreadCall>> MemorySource::Calls() const {
  return std::make_unique<ThreadMerge<ApiCall, ThreadCall>>(process_, &ThreadTrace::calls);
}
std::unique_ptr<RecordCursor<ThreadOverhead>> MemorySource::Overheads() const {
  return std::make_unique<ThreadMerge<Overhead, ThreadOverhead>>(process_, &ThreadTrace::overheads);
}
std::unique_ptr<RecordCursor<DeviceWork>> MemorySource::Work() const {
  return std::make_unique<VectorCursor<DeviceWork>>(process_.device_work);
}
std::unique_ptr<RecordCursor<Sync>> MemorySource::Syncs() const {
  return std::make_unique<VectorCursor<Sync>>(process_.syncs);
}
std::unique_ptr<RecordCursor<CpuTime>> MemorySource::CpuTimes() const {
  return std::make_unique<VectorCursor<CpuTime>>(process_.cpu_times);
}
std::unique_ptr<RecordCursor<gpubound::StackLooks>> MemorySource::StackLooks() const {
  return std::make_unique<VectorCursor<gpubound::StackLooks>>(process_.stack_looks);
}

}  // namespace gpubound
