// SPDX-License-Identifier: Apache-2.0
//
// The system's clocks. Any thread.
#ifndef GPUBOUND_TOOLS_CONSOLE_CLOCK_H_
#define GPUBOUND_TOOLS_CONSOLE_CLOCK_H_

#include <cstdint>
#include <ctime>

namespace gpubound {

inline int64_t ReadClockNs(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CONSOLE_CLOCK_H_
