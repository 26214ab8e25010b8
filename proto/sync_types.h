// SPDX-License-Identifier: Apache-2.0
//
// Values of SyncRecord::type that are not CUPTI's own (CUpti_ActivitySynchronizationType, which
// counts from 1 and has not reached 10). Part of the format.
#ifndef GPUBOUND_PROTO_SYNC_TYPES_H_
#define GPUBOUND_PROTO_SYNC_TYPES_H_

#include <cstdint>

namespace gpubound {

// No wait: the event was recorded behind what had been launched into the stream. start and end are
// those of the call that recorded it, and so is the correlation. A later wait for the same event,
// by a stream or a thread, waits for that.
inline constexpr uint32_t kSyncEventRecorded = 1000;

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_SYNC_TYPES_H_
