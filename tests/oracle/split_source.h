// SPDX-License-Identifier: Apache-2.0
//
// The events of a process in batches of a few: what the engine sees of a long run, on a short one.
// One object, one thread.
#ifndef GPUBOUND_TESTS_ORACLE_SPLIT_SOURCE_H_
#define GPUBOUND_TESTS_ORACLE_SPLIT_SOURCE_H_

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "analysis/trace/memory_source.h"

namespace gpubound::oracle {

class SplitSource : public EventSource {
 public:
  // |process| outlives the object. No batch holds more than |most| events.
  SplitSource(const ProcessTrace& process, size_t most) : whole_(process), most_(most) {}

  std::unique_ptr<ThreadCursor> ThreadEvents(uint32_t thread) const override {
    return std::make_unique<SplitThread>(whole_.ThreadEvents(thread), most_);
  }
  std::unique_ptr<RecordCursor<ThreadCall>> Calls() const override {
    return std::make_unique<SplitRecords<ThreadCall>>(whole_.Calls(), most_);
  }
  std::unique_ptr<RecordCursor<ThreadOverhead>> Overheads() const override {
    return std::make_unique<SplitRecords<ThreadOverhead>>(whole_.Overheads(), most_);
  }
  std::unique_ptr<RecordCursor<DeviceWork>> Work() const override {
    return std::make_unique<SplitRecords<DeviceWork>>(whole_.Work(), most_);
  }
  std::unique_ptr<RecordCursor<Sync>> Syncs() const override {
    return std::make_unique<SplitRecords<Sync>>(whole_.Syncs(), most_);
  }
  std::unique_ptr<RecordCursor<CpuTime>> CpuTimes() const override {
    return std::make_unique<SplitRecords<CpuTime>>(whole_.CpuTimes(), most_);
  }
  std::unique_ptr<RecordCursor<gpubound::StackLooks>> StackLooks() const override {
    return std::make_unique<SplitRecords<gpubound::StackLooks>>(whole_.StackLooks(), most_);
  }

 private:
  class SplitThread : public ThreadCursor {
   public:
    SplitThread(std::unique_ptr<ThreadCursor> whole, size_t most)
        : whole_(std::move(whole)), most_(most) {}
    bool Next(ThreadBatch* batch) override {
      if (rest_.events.empty() && !whole_->Next(&rest_)) return false;
      *batch = rest_;
      batch->events = rest_.events.first(std::min(most_, rest_.events.size()));
      rest_.events = rest_.events.subspan(batch->events.size());
      rest_.resync = false;
      return true;
    }

   private:
    std::unique_ptr<ThreadCursor> whole_;
    const size_t most_;
    ThreadBatch rest_;
  };

  template <typename Record>
  class SplitRecords : public RecordCursor<Record> {
   public:
    SplitRecords(std::unique_ptr<RecordCursor<Record>> whole, size_t most)
        : whole_(std::move(whole)), most_(most) {}
    std::span<const Record> Next() override {
      if (rest_.empty()) rest_ = whole_->Next();
      const std::span<const Record> batch = rest_.first(std::min(most_, rest_.size()));
      rest_ = rest_.subspan(batch.size());
      return batch;
    }

   private:
    std::unique_ptr<RecordCursor<Record>> whole_;
    const size_t most_;
    std::span<const Record> rest_;
  };

  const MemorySource whole_;
  const size_t most_;
};

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_SPLIT_SOURCE_H_
