// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's clock, also behind CUPTI's end. The tool that CUPTI is given to may set its clock to
// count something else, for the whole process and for good, as torch.profiler does (ticks of the
// TSC), and the last records are still to be converted by then. So from when CUPTI is given up its
// clock is taken to run on as CLOCK_MONOTONIC does.
//
// Any thread; no lock.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_CLOCK_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_CLOCK_H_

#include <cstdint>

#include "cupti_hooks/cupti/cupti_api.h"

namespace gpubound {

// CUPTI is ours: its clock is read.
void UseCuptiClock() noexcept;

// CUPTI is about to be given up. The first call counts; none does where the clock cannot be read.
void KeepCuptiClock(const CuptiApi& api) noexcept;

// In ns. False: it cannot be read.
bool ReadCuptiClock(const CuptiApi& api, int64_t* now_ns) noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_CLOCK_H_
