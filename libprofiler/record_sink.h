// SPDX-License-Identifier: Apache-2.0
//
// The DeviceSink of one source thread: appends records of each family to a page of that family in
// the live mapping. The owning source thread only; the flusher reads up to what was published. The
// flusher has one of its own for what it finds out itself (cpu_sampler.h): it never waits for a
// page, which nobody else would free, and may have one when no other writer may any more.
#ifndef GPUBOUND_LIBPROFILER_RECORD_SINK_H_
#define GPUBOUND_LIBPROFILER_RECORD_SINK_H_

#include <cstdint>

#include "libprofiler/device_source.h"
#include "libprofiler/recording_context.h"
#include "proto/event_model.h"
#include "proto/live_format.h"

namespace gpubound {

class RecordSink final : public DeviceSink {
 public:
  // |context| outlives the sink. |thread| is the source thread's ordinal.
  RecordSink(RecordingContext* context, ThreadId thread) : context_(context), thread_(thread) {}

  void Append(const ApiRecord& record) override;
  void Append(const DeviceRecord& record) override;
  void Append(const SyncRecord& record) override;
  void Append(const OverheadRecord& record) override;
  void Append(const CpuTimeRecord& record);  // flusher
  void Append(const StackRecord& record);    // flusher
  void Publish() override;

  // Records of stacks for which there was no page. The owning thread.
  uint64_t dropped_stacks() const { return dropped_stacks_; }

 private:
  struct Family {
    uint32_t page = kNoPage;
    uint32_t count = 0;           // records in the page
    uint64_t first_sequence = 0;  // of the page's first record
    uint64_t dropped = 0;         // records lost since the last page
    bool dropping = false;
  };

  template <typename Record>
  void AppendTo(EventFamily family, const Record& record);
  bool StartPage(EventFamily family, Family* state);
  void SubmitPage(Family* state);
  void PublishPage(const Family& state);

  RecordingContext* const context_;
  const ThreadId thread_;
  Family families_[static_cast<int>(kLastEventFamily) + 1];
  uint64_t dropped_stacks_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_RECORD_SINK_H_
