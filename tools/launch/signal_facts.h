// SPDX-License-Identifier: Apache-2.0
#ifndef GPUBOUND_TOOLS_LAUNCH_SIGNAL_FACTS_H_
#define GPUBOUND_TOOLS_LAUNCH_SIGNAL_FACTS_H_

#include <signal.h>

namespace gpubound {

// Whether this process ignores |signal|, as nohup makes it ignore SIGHUP. A signal that is blocked
// is kept pending all the same, so those who wait for signals have to ask.
inline bool IsIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_SIGNAL_FACTS_H_
