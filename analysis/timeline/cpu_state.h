// SPDX-License-Identifier: Apache-2.0
//
// What the CPU side of a process, or of one of its lanes, is at one instant. Plain values, no
// thread rule.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_CPU_STATE_H_
#define GPUBOUND_ANALYSIS_TIMELINE_CPU_STATE_H_

#include <cstddef>
#include <cstdint>

#include "analysis/timeline/doing.h"
#include "analysis/trace/idle_cause.h"
#include "analysis/trace/label_roles.h"
#include "proto/event_model.h"

namespace gpubound {

inline constexpr size_t kLayerCount = 8;

struct CpuState {
  PhaseIndex phase = kNoPhaseIndex;
  OperationIndex operation = kNoOperationIndex;
  Layer layer = Layer::kUnset;
  IdleCause cause = IdleCause::kUnknown;
  PeerIndex peer = kNotOne;  // the process that the reporting thread waits for
  // All but the peer: its number holds for one pass only.
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.IndexBelow(archive.phases(), phase);
    archive.IndexBelow(archive.operations(), operation);
    archive.IndexBelow(kLayerCount, layer);
    archive.IndexBelow(kIdleCauses, cause);
  }
  friend bool operator==(const CpuState&, const CpuState&) = default;
};

// All but the phase.
inline Doing DoingOf(const CpuState& state) {
  return {state.operation, state.layer, state.cause, state.peer};
}

// |doing| under |phase|.
inline CpuState CpuStateOf(PhaseIndex phase, const Doing& doing) {
  return {phase, doing.operation() == kNotOne ? kNoOperationIndex : doing.operation(),
          doing.layer(), doing.cause(), doing.peer()};
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_CPU_STATE_H_
