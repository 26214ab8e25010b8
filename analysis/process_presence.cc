// SPDX-License-Identifier: Apache-2.0
//
// Asks the kernel. No state.
#include "analysis/process_presence.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace gpubound {

Presence PresenceOf(const ProcessIdentity& identity) {
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) != 0 || identity.host != host) {
    return Presence::kElsewhere;
  }
  const bool there = kill(static_cast<pid_t>(identity.pid), 0) == 0 || errno == EPERM;
  return there ? Presence::kThere : Presence::kGone;
}

}  // namespace gpubound
