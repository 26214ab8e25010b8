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
#ifndef GPUBOUND_ANALYSIS_DOING_H_
#define GPUBOUND_ANALYSIS_DOING_H_

#include <cstddef>
#include <cstdint>

#include "analysis/idle_cause.h"
#include "analysis/label_roles.h"
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
  // Layer, then cause: the order of refinement.
  constexpr size_t depth() const { return bits_ >> 24 & 0xff; }

  friend constexpr bool operator==(const Doing&, const Doing&) = default;

 private:
  static constexpr uint64_t kPeerMask = 0xffffff;
  uint64_t bits_ = uint64_t{kNotOne} << 32;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_DOING_H_
