// SPDX-License-Identifier: Apache-2.0
//
// What a report says of processes that lie outside the run, or of hosts whose seem to: on their
// devices only what falls into the run's span counts, so the rest is neither busy nor idle. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_HOSTS_OUTSIDE_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_HOSTS_OUTSIDE_H_

#include <vector>

#include "analysis/processes/clock_align.h"
#include "analysis/processes/device_usage.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Notes |hosts|, counts the furthest of them, and makes figures of their devices and the run's GPU
// busy lower bounds. |devices|: those of |report|, in the same order.
void NoteHostsOutside(const Run& run, const std::vector<HostOutside>& hosts,
                      const std::vector<DeviceUsage>& devices, Ledger* ledger, Report* report);

// Notes hosts that collectives contradict, and counts by how much at most.
void NoteContradictedHosts(const ClockAlignment& clocks, Ledger* ledger, Report* report);

// Says of processes on the root's host how much of their device work lies outside the run, as of
// one that the root started and did not wait for: it is in their rows, and in no figure of a
// device.
void NoteWorkOutside(Report* report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_HOSTS_OUTSIDE_H_
