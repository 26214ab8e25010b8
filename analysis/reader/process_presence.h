// SPDX-License-Identifier: Apache-2.0
//
// Whether a recorded process is still there, as far as this machine can tell. No state.
#ifndef GPUBOUND_ANALYSIS_READER_PROCESS_PRESENCE_H_
#define GPUBOUND_ANALYSIS_READER_PROCESS_PRESENCE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/trace/run.h"

namespace gpubound {

enum class Presence : uint8_t {
  kThere,
  kGone,       // or not visible from here, in a container that shares the host's name
  kElsewhere,  // on another machine, or in a container whose pids are others than here
};

// A process that has got the pid since, or one that is dead and not waited for, is not it.
Presence PresenceOf(const ProcessIdentity& identity);
// Likewise, by what its trace says of its machine and its pids, where it does.
Presence PresenceByTrace(const ProcessTrace& process);

// The name of this machine, as a recorder writes it.
std::string OwnHost();

// What tells this boot of this machine's kernel from all others; empty where /proc does not say.
std::string OwnBootId();

// What else tells whether a process that did not close its trace has ended. A recorder writes every
// second, so that one that has just written is there, whatever can be seen of it from here.
struct LastSeen {
  bool run_over = false;          // the launcher saw the run end
  std::optional<int64_t> age_ns;  // of its newest record, by the clock of who looks
};
inline constexpr int64_t kQuietNs = 3'000'000'000;  // longer than a recorder is ever silent

LastSeen LastSeenOf(const ProcessTrace& process, bool run_over);
bool HasEnded(Presence presence, const LastSeen& seen);

// CLOCK_REALTIME.
int64_t RealtimeNow();

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_PROCESS_PRESENCE_H_
