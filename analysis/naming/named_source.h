// SPDX-License-Identifier: Apache-2.0
//
// The events of a process with what naming made of its facts: the scopes that it inserted, and
// stages where they belong. Everything else is as in the source beneath. Thread rule as of
// EventSource.
#ifndef GPUBOUND_ANALYSIS_NAMING_NAMED_SOURCE_H_
#define GPUBOUND_ANALYSIS_NAMING_NAMED_SOURCE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/naming/thread_namer.h"
#include "analysis/trace/event_source.h"

namespace gpubound {

// Edits by thread, by place and rank.
using NamingEdits = std::vector<std::vector<NamingEdit>>;

class NamedSource : public EventSource {
 public:
  NamedSource(std::shared_ptr<const EventSource> source, NamingEdits edits)
      : source_(std::move(source)), edits_(std::move(edits)) {}

  std::unique_ptr<ThreadCursor> ThreadEvents(uint32_t thread) const override;
  std::unique_ptr<RecordCursor<ThreadCall>> Calls() const override { return source_->Calls(); }
  std::unique_ptr<RecordCursor<ThreadOverhead>> Overheads() const override {
    return source_->Overheads();
  }
  std::unique_ptr<RecordCursor<DeviceWork>> Work() const override { return source_->Work(); }
  std::unique_ptr<RecordCursor<Sync>> Syncs() const override { return source_->Syncs(); }
  std::unique_ptr<RecordCursor<CpuTime>> CpuTimes() const override { return source_->CpuTimes(); }
  std::unique_ptr<RecordCursor<gpubound::StackLooks>> StackLooks() const override {
    return source_->StackLooks();
  }
  std::vector<uint32_t> FurtherThreads() const override { return source_->FurtherThreads(); }
  bool failed() const override { return source_->failed(); }

 private:
  std::shared_ptr<const EventSource> source_;
  NamingEdits edits_;
};

// Afterwards the source of |process|, or the events in its vectors, have the edits.
void ApplyEdits(NamingEdits edits, ProcessTrace* process);
// Copies the thread events of |source|, which is that of |process| or lies on it, into its vectors.
void TakeEvents(const EventSource& source, ProcessTrace* process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_NAMING_NAMED_SOURCE_H_
