// SPDX-License-Identifier: Apache-2.0
//
// What a thread does, in one word, so that states are compared and handed on at once:
//
//   63            32 31    28 27    24 23             0
//  +----------------+--------+--------+----------------+
//  | operation      | layer  | cause  | peer + 1       |
//  +----------------+--------+--------+----------------+
//
// Plain value, no thread rule.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_DOING_H_
#define GPUBOUND_ANALYSIS_TIMELINE_DOING_H_

#include <cstddef>
#include <cstdint>

#include "analysis/trace/idle_cause.h"
#include "analysis/trace/label_roles.h"
#include "proto/event_model.h"

namespace gpubound {

class Doing {
 public:
  constexpr Doing() = default;
  // |operation|: kNotOne where the thread has none of its own. |peer|: for whom it waits.
  constexpr Doing(OperationIndex operation, Layer layer, IdleCause cause, PeerIndex peer)
      : bits_(uint64_t{operation} << 32 | static_cast<uint64_t>(layer) << 28 |
              static_cast<uint64_t>(cause) << 24 | ((peer + 1) & kPeerMask)) {}

  constexpr OperationIndex operation() const { return static_cast<OperationIndex>(bits_ >> 32); }
  constexpr Layer layer() const { return static_cast<Layer>(bits_ >> 28 & 0xf); }
  constexpr IdleCause cause() const { return static_cast<IdleCause>(bits_ >> 24 & 0xf); }
  constexpr PeerIndex peer() const { return static_cast<PeerIndex>(bits_ & kPeerMask) - 1; }
  constexpr bool HasPeer() const { return (bits_ & kPeerMask) != 0; }
  constexpr Doing WithOperation(OperationIndex operation) const {
    return Doing((bits_ & kAllButOperation) | uint64_t{operation} << 32);
  }
  constexpr Doing With(Layer layer, IdleCause cause) const {
    return Doing((bits_ & ~kDepthMask) | static_cast<uint64_t>(layer) << 28 |
                 static_cast<uint64_t>(cause) << 24);
  }
  constexpr Doing WithCause(IdleCause cause) const {
    return Doing((bits_ & ~kCauseMask) | static_cast<uint64_t>(cause) << 24);
  }
  constexpr Doing WithoutCause() const { return WithCause(IdleCause::kUnknown); }
  // All but the peer; the bits below kPeerBits are free.
  constexpr uint64_t BitsWithoutPeer() const { return bits_ & ~kPeerMask; }
  static constexpr int kPeerBits = 24;

  // Both are under the same operation and wait for the same peer, if any.
  constexpr bool IsSameWait(const Doing& other) const {
    return ((bits_ ^ other.bits_) & ~kDepthMask) == 0;
  }
  // Layer, then cause: the order of refinement.
  constexpr size_t depth() const { return bits_ >> 24 & 0xff; }

  friend constexpr bool operator==(const Doing&, const Doing&) = default;

 private:
  friend class DoingPatch;
  static constexpr uint64_t kPeerMask = (uint64_t{1} << kPeerBits) - 1;
  static constexpr uint64_t kCauseMask = uint64_t{0xf} << 24;
  static constexpr uint64_t kLayerMask = uint64_t{0xf} << 28;
  static constexpr uint64_t kDepthMask = kLayerMask | kCauseMask;
  static constexpr uint64_t kAllButOperation = 0xffffffff;
  constexpr explicit Doing(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = uint64_t{kNotOne} << 32;
};

// Replaces some parts of what a thread does by others; at first none. Plain value.
class DoingPatch {
 public:
  constexpr void SetOperation(OperationIndex operation) {
    Set(~Doing::kAllButOperation, Doing().WithOperation(operation));
  }
  // Where it waits, for |peer|.
  constexpr void SetLayer(Layer layer, PeerIndex peer) {
    Set(Doing::kLayerMask | Doing::kPeerMask, Doing(0, layer, IdleCause::kUnknown, peer));
  }
  constexpr void SetCause(IdleCause cause) {
    Set(Doing::kCauseMask, Doing(0, Layer::kUnset, cause, kNotOne));
  }
  constexpr Doing On(const Doing& doing) const { return Doing((doing.bits_ & kept_) | own_); }

 private:
  constexpr void Set(uint64_t mask, const Doing& parts) {
    kept_ &= ~mask;
    own_ = (own_ & ~mask) | (parts.bits_ & mask);
  }
  uint64_t kept_ = ~uint64_t{0};
  uint64_t own_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_DOING_H_
