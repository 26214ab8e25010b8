// SPDX-License-Identifier: Apache-2.0
//
// One turn of the worker: ask CUPTI for what is complete, convert it, and say up to when everything
// is known. What could not be recorded becomes `unknown` time, never idle time.
//
// The worker only, except where said.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_DELIVERY_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_DELIVERY_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "cupti_hooks/cupti/activity_buffers.h"
#include "cupti_hooks/cupti/activity_convert.h"
#include "cupti_hooks/cupti/callback_state.h"
#include "cupti_hooks/cupti/cupti_api.h"
#include "libprofiler/device_source.h"

namespace gpubound {

class Delivery {
 public:
  // All outlive the delivery. Nothing of the device was missed before |started_ns|
  // (CLOCK_MONOTONIC). |now_ns| reads that clock. Once |cupti_is_gone| CUPTI is not called any
  // more, and nothing is converted.
  Delivery(const CuptiApi& api, ActivityBuffers* buffers, CallbackState* state, DeviceHost* host,
           DeviceSink* sink, int64_t started_ns, int64_t (*now_ns)(),
           const std::atomic<bool>& cupti_is_gone);

  // Converts what CUPTI has completed so far, without asking it for more.
  void Drain();

  // Asks CUPTI for every buffer that is complete, with |forced| for every buffer, then drains and
  // settles what is known. Calls nothing of CUPTI's when no record was ever made: a flush then has
  // been seen to hang.
  void Flush(bool forced);

  // After the last flush and drain: settles what came since, and everything up to now is known, if
  // nothing is outstanding.
  void Finish();

  // The recording ended at |end_ns| though the program goes on: work without a time that began
  // later is then no loss.
  void EndAt(int64_t end_ns);

  // Nothing that CUPTI was given is still with it.
  bool EverythingDelivered() const { return buffers_->outstanding() == 0; }

  // Everything from before the end is known.
  bool EndIsKnown() const { return delivered_until_ns() >= end_ns_ || EverythingDelivered(); }

  // Up to when everything is known. Any thread.
  int64_t delivered_until_ns() const { return delivered_until_ns_.load(std::memory_order_relaxed); }

 private:
  bool ConvertTimedCalls();  // true: there were some
  void CountLosses();        // in records
  void CountDropped();       // by CUPTI, before they were records
  void SettleUnknown(int64_t flushed_ns);
  void Advance(int64_t until_ns);
  void AdaptBufferSize(int64_t now);
  void TellEntryTimes(uint64_t at_least);  // where there are so many, and new ones

  const CuptiApi& api_;
  ActivityBuffers* const buffers_;
  CallbackState* const state_;
  DeviceHost* const host_;
  DeviceSink* const sink_;
  int64_t (*const now_ns_)();
  const std::atomic<bool>& cupti_is_gone_;
  ActivityConverter converter_;
  std::vector<ActivityBuffers::Completed> taken_;

  std::atomic<int64_t> delivered_until_ns_;
  bool lost_device_work_ = false;  // since the last flush
  bool unknown_is_open_ = false;
  int64_t unknown_from_ns_ = 0;
  int64_t unknown_to_ns_ = 0;  // if nothing more is lost
  bool said_foreign_threads_ = false;
  uint64_t bytes_since_flush_ = 0;
  uint64_t bytes_read_ = 0;
  uint64_t records_read_ = 0;
  uint64_t entries_told_ = 0;  // of state_->entry_times
  int64_t last_flush_ns_;
  int64_t end_ns_ = INT64_MAX;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_DELIVERY_H_
