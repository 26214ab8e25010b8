// SPDX-License-Identifier: Apache-2.0
//
// Values of SyncRecord::type. Part of the format.
#ifndef GPUBOUND_PROTO_SYNC_TYPES_H_
#define GPUBOUND_PROTO_SYNC_TYPES_H_

#include <cstdint>

namespace gpubound {

// CUPTI's own are those of CUpti_ActivitySynchronizationType, which counts from 1 and has not
// reached 10; here are the ones that are looked at.
inline constexpr uint32_t kSyncEventByStream = 2;  // a stream waits for an event; no thread does
inline constexpr uint32_t kSyncStream = 3;
inline constexpr uint32_t kSyncContext = 4;

// Ours. No wait: the event was recorded behind what had been launched into the stream. start and
// end are those of the call that recorded it, and so is the correlation. A later wait for the same
// event, by a stream or a thread, waits for that.
inline constexpr uint32_t kSyncEventRecorded = 1000;

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_SYNC_TYPES_H_
