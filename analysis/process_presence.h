// SPDX-License-Identifier: Apache-2.0
//
// Whether a recorded process is still there, as far as this machine can tell. No state.
#ifndef GPUBOUND_ANALYSIS_PROCESS_PRESENCE_H_
#define GPUBOUND_ANALYSIS_PROCESS_PRESENCE_H_

#include <cstdint>

#include "analysis/run.h"

namespace gpubound {

enum class Presence : uint8_t {
  kThere,      // or another one that has got its pid since
  kGone,       // or not visible from here, in a container that shares the host's name
  kElsewhere,  // on another host
};

Presence PresenceOf(const ProcessIdentity& identity);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESS_PRESENCE_H_
