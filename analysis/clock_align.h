// SPDX-License-Identifier: Apache-2.0
//
// Brings the timelines of several hosts together. Processes of one host share CLOCK_MONOTONIC and
// need nothing. Pure.
#ifndef GPUBOUND_ANALYSIS_CLOCK_ALIGN_H_
#define GPUBOUND_ANALYSIS_CLOCK_ALIGN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run.h"

namespace gpubound {

struct ClockAlignment {
  // For each process of the run: trace time of the reference host minus its own.
  std::vector<int64_t> offset_ns;
  // Hosts whose clocks were taken to agree in CLOCK_REALTIME, for lack of anything better: the
  // error is that of the hosts' time service and is not known.
  std::vector<std::string> unbounded_hosts;
};

// Aligns every process to |reference_host|.
ClockAlignment AlignClocks(const Run& run, const std::string& reference_host);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CLOCK_ALIGN_H_
