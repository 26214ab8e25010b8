// SPDX-License-Identifier: Apache-2.0
//
// What a wake is for (SlotKind::kHandOver without a label, kWoken): a thread, a lock, an item, by
// an address or another number of its own; or a time, when who waits for it goes on by the clock;
// or what several processes know alike, as a collective. The same in GPUBOUND_AT_TIME and
// GPUBOUND_SHARED of gpubound/api.h. Plain functions, no thread rule.
#ifndef GPUBOUND_PROTO_WAKE_TOKENS_H_
#define GPUBOUND_PROTO_WAKE_TOKENS_H_

#include <cstdint>

#include "proto/event_model.h"

namespace gpubound {

// A wake, and that a thread has what it came for.
constexpr bool IsWake(const ThreadEvent& event) {
  return event.kind == SlotKind::kHandOver && event.label == LabelId{};
}
constexpr bool IsFound(const ThreadEvent& event) {
  return event.kind == SlotKind::kAdopt && event.label == LabelId{};
}

inline constexpr uint64_t kAtTime = uint64_t{1} << 63;

inline constexpr uint64_t kShared = uint64_t{1} << 62;

constexpr bool IsTime(uint64_t token) { return (token & kAtTime) != 0; }
constexpr bool IsShared(uint64_t token) { return (token & (kAtTime | kShared)) == kShared; }
// CLOCK_MONOTONIC, ns. The token is one of a time.
constexpr int64_t TimeOf(uint64_t token) { return static_cast<int64_t>(token & ~kAtTime); }
constexpr uint64_t TokenOfTime(int64_t monotonic_ns) {
  return kAtTime | static_cast<uint64_t>(monotonic_ns);
}

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_WAKE_TOKENS_H_
