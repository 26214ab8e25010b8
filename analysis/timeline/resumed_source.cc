// SPDX-License-Identifier: Apache-2.0
//
// Cursors that begin late. One object, one thread.
#include "analysis/timeline/resumed_source.h"

#include <algorithm>
#include <utility>

#include "analysis/timeline/call_index.h"
#include "analysis/trace/record_order.h"

namespace gpubound {
namespace {

class LateThread : public ThreadCursor {
 public:
  LateThread(std::unique_ptr<ThreadCursor> whole, int64_t from_ns)
      : whole_(std::move(whole)), from_ns_(from_ns) {}

  bool Next(ThreadBatch* batch) override {
    while (whole_->Next(batch)) {
      const auto begun = std::partition_point(
          batch->events.begin(), batch->events.end(),
          [this](const ThreadEvent& event) { return event.time_ns < from_ns_; });
      if (begun == batch->events.end()) continue;
      if (begun == batch->events.begin()) return true;
      batch->events = batch->events.subspan(static_cast<size_t>(begun - batch->events.begin()));
      batch->resync = false;  // that was before the first of its events, which is past
      return true;
    }
    return false;
  }

 private:
  std::unique_ptr<ThreadCursor> whole_;
  const int64_t from_ns_;
};

template <typename Record>
class LateRecords : public RecordCursor<Record> {
 public:
  LateRecords(std::unique_ptr<RecordCursor<Record>> whole, int64_t from_ns)
      : whole_(std::move(whole)), from_ns_(from_ns) {}

  std::span<const Record> Next() override {
    for (std::span<const Record> batch = whole_->Next(); !batch.empty(); batch = whole_->Next()) {
      const auto begun =
          std::partition_point(batch.begin(), batch.end(),
                               [this](const Record& record) { return BeginOf(record) < from_ns_; });
      if (begun != batch.end()) return {begun, batch.end()};
    }
    return {};
  }

 private:
  std::unique_ptr<RecordCursor<Record>> whole_;
  const int64_t from_ns_;
};

}  // namespace

std::unique_ptr<ThreadCursor> ResumedSource::ThreadEvents(uint32_t thread) const {
  return std::make_unique<LateThread>(source_.ThreadEvents(thread), from_ns_);
}

std::unique_ptr<RecordCursor<ThreadCall>> ResumedSource::Calls() const {
  // Calls are taken up ahead of time; see ProcessTimeline::TakeCalls().
  const int64_t from_ns = from_ns_ + kClockSlackNs;
  return std::make_unique<LateRecords<ThreadCall>>(source_.Calls(), from_ns);
}

std::unique_ptr<RecordCursor<ThreadOverhead>> ResumedSource::Overheads() const {
  return std::make_unique<LateRecords<ThreadOverhead>>(source_.Overheads(), from_ns_);
}

std::unique_ptr<RecordCursor<DeviceWork>> ResumedSource::Work() const {
  return std::make_unique<LateRecords<DeviceWork>>(source_.Work(), from_ns_);
}

std::unique_ptr<RecordCursor<Sync>> ResumedSource::Syncs() const {
  return std::make_unique<LateRecords<Sync>>(source_.Syncs(), from_ns_);
}

std::unique_ptr<RecordCursor<CpuTime>> ResumedSource::CpuTimes() const {
  return std::make_unique<LateRecords<CpuTime>>(source_.CpuTimes(), from_ns_);
}

std::unique_ptr<RecordCursor<gpubound::StackLooks>> ResumedSource::StackLooks() const {
  return std::make_unique<LateRecords<gpubound::StackLooks>>(source_.StackLooks(), from_ns_);
}

}  // namespace gpubound
