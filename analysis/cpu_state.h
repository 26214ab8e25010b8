// SPDX-License-Identifier: Apache-2.0
//
// What the CPU side of a process, or of one of its lanes, is at one instant. Plain values, no
// thread rule.
#ifndef GPUBOUND_ANALYSIS_CPU_STATE_H_
#define GPUBOUND_ANALYSIS_CPU_STATE_H_

#include <cstdint>

#include "analysis/idle_cause.h"
#include "analysis/label_roles.h"
#include "proto/event_model.h"

namespace gpubound {

struct CpuState {
  PhaseIndex phase = kNoPhaseIndex;
  OperationIndex operation = kNoOperationIndex;
  Layer layer = Layer::kUnset;
  IdleCause cause = IdleCause::kUnknown;
  PeerIndex peer = kNotOne;  // the process that the reporting thread waits for
  friend bool operator==(const CpuState&, const CpuState&) = default;
};

struct CpuChange {
  int64_t time_ns = 0;
  CpuState state;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CPU_STATE_H_
