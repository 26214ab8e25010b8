// SPDX-License-Identifier: Apache-2.0
//
// Who else was on the devices of a run: processes that NVML listed there, since they have a
// context, and that are not part of it. What a device did in all may be more than what was
// recorded. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_UNPROFILED_USE_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_UNPROFILED_USE_H_

#include <cstddef>
#include <vector>

#include "analysis/attribution/run_share.h"
#include "analysis/base/interval.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

// What |processes|, which are those of one machine by their numbers in the run, saw within |span|. A
// process that NVML did not list itself, as in a container with pids of its own, is not asked: it
// cannot tell who is who.
DeviceCompany CompanyOf(const Run& run, const std::vector<size_t>& processes, const Interval& span);

// Marks the devices of |report| that the run used, counts and notes who else did, and where
// nvidia-smi saw more than was recorded. |report| has its devices and processes, and is marked
// where processes of the run are lost.
void NoteCompany(const DeviceCompany& company, Ledger* ledger, Report* report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_UNPROFILED_USE_H_
