// SPDX-License-Identifier: Apache-2.0
//
// Waits as they are told on: to the processes that were awaited, and to the sums. Pure functions.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_SUMMING_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_SUMMING_H_

#include <span>
#include <vector>

#include "analysis/attribution/process_report.h"
#include "analysis/processes/process_waits.h"
#include "analysis/segments/process_sums.h"
#include "analysis/sweep/overlap_sweep.h"
#include "analysis/trace/label_roles.h"

namespace gpubound {

// By whom they were for.
ProcessWaits WaitsOf(const std::vector<PeerWait>& waits, const std::vector<Peer>& peers,
                     const LabelRoles& roles);

// |before| and |waits|, by pids and operation.
std::vector<SummedWait> SumOf(const std::vector<SummedWait>& before,
                              std::span<const PeerWait> waits, const std::vector<Peer>& peers,
                              const LabelRoles& roles);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_SUMMING_H_
