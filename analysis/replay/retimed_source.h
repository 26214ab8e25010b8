// SPDX-License-Identifier: Apache-2.0
//
// The events of a process at other times than they were recorded at: what a replay writes and the
// engine reads, as it reads any EventSource. Memory is bounded by RecordLog; records that come out
// of order are sorted block by block, and blocks are merged while they are read.
//
// Written by one thread; then read as EventSource says.
#ifndef GPUBOUND_ANALYSIS_REPLAY_RETIMED_SOURCE_H_
#define GPUBOUND_ANALYSIS_REPLAY_RETIMED_SOURCE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/record_log.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/record_order.h"

namespace gpubound {

// Blocks of records, each sorted.
template <typename Record>
class SortedLog {
 public:
  explicit SortedLog(LogSpace* space) : log_(space) {}
  void Add(const Record& record) {
    log_.open_block().push_back(record);
    if (log_.full()) Seal();
  }
  void Seal() {
    SortRecords(&log_.open_block());
    log_.Seal();
  }
  const RecordLog<Record>& log() const { return log_; }

 private:
  RecordLog<Record> log_;
};

class RetimedSource : public EventSource {
 public:
  // Blocks that do not fit into memory go to a file in |folder|.
  explicit RetimedSource(std::string folder) : space_(std::move(folder)) {}

  // --- Writing. Events of a thread come in order; the rest in any.
  void AddEvent(uint32_t thread, const ThreadEvent& event);
  void AddResync(uint32_t thread, std::span<const LabelId> open);  // before the next event
  void Add(const ThreadCall& call) { calls_.Add(call); }
  void Add(const ThreadOverhead& overhead) { overheads_.Add(overhead); }
  void Add(const DeviceWork& work) { work_.Add(work); }
  void Add(const CpuTime& time) { cpu_times_.Add(time); }
  void Finish();

  // --- Reading
  std::unique_ptr<ThreadCursor> ThreadEvents(uint32_t thread) const override;
  std::unique_ptr<RecordCursor<ThreadCall>> Calls() const override;
  std::unique_ptr<RecordCursor<ThreadOverhead>> Overheads() const override;
  std::unique_ptr<RecordCursor<DeviceWork>> Work() const override;
  std::unique_ptr<RecordCursor<Sync>> Syncs() const override;  // none: calls tell of waits
  std::unique_ptr<RecordCursor<CpuTime>> CpuTimes() const override;
  // None: stacks are taken from what was recorded.
  std::unique_ptr<RecordCursor<gpubound::StackLooks>> StackLooks() const override;
  bool failed() const override { return space_.error().has_value(); }
  const std::optional<Error>& error() const { return space_.error(); }

 private:
  struct Resync {
    size_t block;  // it comes before the first event of
    std::vector<LabelId> open;
  };
  struct Thread {
    explicit Thread(LogSpace* space) : events(space) {}
    RecordLog<ThreadEvent> events;
    std::vector<Resync> resyncs;
  };
  class EventCursor;
  Thread& ThreadAt(uint32_t thread);

  LogSpace space_;
  std::deque<Thread> threads_;
  SortedLog<ThreadCall> calls_{&space_};
  SortedLog<ThreadOverhead> overheads_{&space_};
  SortedLog<DeviceWork> work_{&space_};
  SortedLog<CpuTime> cpu_times_{&space_};
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_RETIMED_SOURCE_H_
