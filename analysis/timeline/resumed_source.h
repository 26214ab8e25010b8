// SPDX-License-Identifier: Apache-2.0
//
// The events of a process without those that an engine has taken up which went until some instant
// (SweepUntil): what the one that goes on there has to see. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_RESUMED_SOURCE_H_
#define GPUBOUND_ANALYSIS_TIMELINE_RESUMED_SOURCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/trace/event_source.h"

namespace gpubound {

class ResumedSource : public EventSource {
 public:
  // |source| outlives the object.
  ResumedSource(const EventSource& source, int64_t from_ns) : source_(source), from_ns_(from_ns) {}

  std::unique_ptr<ThreadCursor> ThreadEvents(uint32_t thread) const override;
  std::unique_ptr<RecordCursor<ThreadCall>> Calls() const override;
  std::unique_ptr<RecordCursor<ThreadOverhead>> Overheads() const override;
  std::unique_ptr<RecordCursor<DeviceWork>> Work() const override;
  std::unique_ptr<RecordCursor<Sync>> Syncs() const override;
  std::unique_ptr<RecordCursor<CpuTime>> CpuTimes() const override;
  std::unique_ptr<RecordCursor<gpubound::StackLooks>> StackLooks() const override;
  std::vector<uint32_t> FurtherThreads() const override { return source_.FurtherThreads(); }
  bool failed() const override { return source_.failed(); }

 private:
  const EventSource& source_;
  const int64_t from_ns_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_RESUMED_SOURCE_H_
