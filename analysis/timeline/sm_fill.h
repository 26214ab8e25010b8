// SPDX-License-Identifier: Apache-2.0
//
// SM fill (SPEC section 2): how much of a device a kernel's blocks could occupy at most, from its
// launch geometry, registers and shared memory and the device's limits. An estimate that needs
// neither counters nor privileges. Pure.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_SM_FILL_H_
#define GPUBOUND_ANALYSIS_TIMELINE_SM_FILL_H_

#include <cstdint>
#include <optional>

#include "proto/event_model.h"

namespace gpubound {

// Blocks of |work| that one multiprocessor of |device| holds at a time. Absent when geometry or
// limits are not known, or when the block would not fit at all.
std::optional<uint32_t> ResidentBlocksPerMultiprocessor(const WorkInfo& work,
                                                        const DeviceInfo& device);

// min(1, blocks / what the device holds), as a multiple of 1 / kFillOne, so that sums are exact.
using Fill = uint32_t;
inline constexpr Fill kFillOne = 1u << 30;

// Copies and sets occupy no multiprocessor: 0. Absent where ResidentBlocksPerMultiprocessor is.
// Work of a green context runs on no more than |multiprocessors| of the device's; 0: on all.
std::optional<Fill> SmFill(const WorkInfo& work, const DeviceInfo& device,
                           uint32_t multiprocessors = 0);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_SM_FILL_H_
