// SPDX-License-Identifier: Apache-2.0
//
// The events of a ProcessTrace that holds them itself, as streams. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_TRACE_MEMORY_SOURCE_H_
#define GPUBOUND_ANALYSIS_TRACE_MEMORY_SOURCE_H_

#include <memory>

#include "analysis/trace/event_source.h"

namespace gpubound {

// |process| outlives the object, and its vectors stay as they are.
class MemorySource : public EventSource {
 public:
  explicit MemorySource(const ProcessTrace& process) : process_(process) {}

  std::unique_ptr<ThreadCursor> ThreadEvents(uint32_t thread) const override;
  std::unique_ptr<RecordCursor<ThreadCall>> Calls() const override;
  std::unique_ptr<RecordCursor<ThreadOverhead>> Overheads() const override;
  std::unique_ptr<RecordCursor<DeviceWork>> Work() const override;
  std::unique_ptr<RecordCursor<Sync>> Syncs() const override;
  std::unique_ptr<RecordCursor<CpuTime>> CpuTimes() const override;
  std::unique_ptr<RecordCursor<gpubound::StackLooks>> StackLooks() const override;

 private:
  const ProcessTrace& process_;
};

// The events of |process|, wherever they are. |process| outlives the result.
std::shared_ptr<const EventSource> SourceOf(const ProcessTrace& process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_MEMORY_SOURCE_H_
