// SPDX-License-Identifier: Apache-2.0
//
// Joins what CUPTI says of a recorded CUDA event (which, and in which stream, but not when) with
// the call that recorded it (when). Either may be delivered first; halves that never find each
// other are forgotten in bulk, so memory is bounded. Worker only.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_EVENT_RECORDS_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_EVENT_RECORDS_H_

#include <cupti.h>

#include <cstdint>
#include <unordered_map>

#include "proto/event_model.h"

namespace gpubound {

class EventRecords {
 public:
  // Whether the function records an event. Pure.
  static bool IsEventRecord(CUpti_CallbackDomain domain, CUpti_CallbackId id);

  // |event| without times. True: its call was seen before, and *joined is complete.
  bool OnEvent(const SyncRecord& event, SyncRecord* joined);

  // A call for which IsEventRecord. True: its event was seen before, and *joined is complete.
  bool OnCall(const ApiRecord& call, SyncRecord* joined);

 private:
  struct Span {
    uint64_t start_ns;
    uint64_t end_ns;
  };
  // Of one buffer's records few are apart for long: the other half is in this buffer or the next.
  static constexpr size_t kMostWaiting = 1 << 14;

  std::unordered_map<uint32_t, SyncRecord> events_;  // by correlation
  std::unordered_map<uint32_t, Span> calls_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_EVENT_RECORDS_H_
