// SPDX-License-Identifier: Apache-2.0
//
// The events of one process as streams: what the engine reads, whether they lie in memory or in the
// chunks of a database. A cursor yields batches and keeps no more than what overlaps in time, so
// the engine's memory does not grow with the length of a run.
//
// Thread rule: a source that was recorded may be read from any threads, one that a replay wrote
// from one at a time. Each of its cursors is of one thread, independent of the others, starts at
// the begin and can be opened as often as needed. A batch is valid until the cursor's next call.
#ifndef GPUBOUND_ANALYSIS_TRACE_EVENT_SOURCE_H_
#define GPUBOUND_ANALYSIS_TRACE_EVENT_SOURCE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "analysis/trace/run.h"

namespace gpubound {

// Events of one thread in the order in which it made them; times never decrease.
struct ThreadBatch {
  std::span<const ThreadEvent> events;
  bool resync = false;  // events are missing before these; |open| is what is open now
  // A compaction removed events before these. Its sums know what is open, so that only those who
  // read the events for themselves have to look; |open| tells them.
  bool thinned = false;
  std::span<const LabelId> open;
  bool scopes_only = false;  // only begins and ends of scopes; false where nobody looked
};

// An API call or an overhead with the thread that it belongs to, an index into
// ProcessTrace::threads.
struct ThreadCall {
  ApiCall call;
  uint32_t thread = 0;
};
struct ThreadOverhead {
  Overhead overhead;
  uint32_t thread = 0;
};

// Yields batches until one is empty. Records are sorted by start; ties as run.h orders them.
template <typename Record>
class RecordCursor {
 public:
  virtual ~RecordCursor() = default;
  virtual std::span<const Record> Next() = 0;
};

// One that yields nothing.
template <typename Record>
class NoRecords : public RecordCursor<Record> {
 public:
  std::span<const Record> Next() override { return {}; }
};

class ThreadCursor {
 public:
  virtual ~ThreadCursor() = default;
  // False at the end. No batch is empty.
  virtual bool Next(ThreadBatch* batch) = 0;
};

class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual std::unique_ptr<ThreadCursor> ThreadEvents(uint32_t thread) const = 0;
  virtual std::unique_ptr<RecordCursor<ThreadCall>> Calls() const = 0;
  virtual std::unique_ptr<RecordCursor<ThreadOverhead>> Overheads() const = 0;
  virtual std::unique_ptr<RecordCursor<DeviceWork>> Work() const = 0;
  virtual std::unique_ptr<RecordCursor<Sync>> Syncs() const = 0;
  virtual std::unique_ptr<RecordCursor<CpuTime>> CpuTimes() const = 0;
  virtual std::unique_ptr<RecordCursor<gpubound::StackLooks>> StackLooks() const = 0;
  // Numbers beyond ProcessTrace::threads that records were given, by the ids of their threads.
  virtual std::vector<uint32_t> FurtherThreads() const { return {}; }
  // Something could not be read: what was read is incomplete and must not be shown.
  virtual bool failed() const { return false; }
};

// One record at a time from a cursor, with a look at the next.
template <typename Record>
class RecordStream {
 public:
  explicit RecordStream(std::unique_ptr<RecordCursor<Record>> cursor) : cursor_(std::move(cursor)) {
    Refill();
  }
  // Null at the end; valid until Pop().
  const Record* Peek() const { return next_ != end_ ? next_ : nullptr; }
  void Pop() {
    if (++next_ == end_) Refill();
  }

 private:
  void Refill() {
    const std::span<const Record> batch = cursor_->Next();
    next_ = batch.data();
    end_ = next_ + batch.size();
  }
  std::unique_ptr<RecordCursor<Record>> cursor_;
  const Record* next_ = nullptr;
  const Record* end_ = nullptr;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_EVENT_SOURCE_H_
