// SPDX-License-Identifier: Apache-2.0
//
// Which times of a trace are taken for times at all. Pure.
#ifndef GPUBOUND_ANALYSIS_TRACE_PLAUSIBLE_TIME_H_
#define GPUBOUND_ANALYSIS_TRACE_PLAUSIBLE_TIME_H_

#include <cstdint>

namespace gpubound {

// 146 years. The difference of two such times fits into 63 bits.
inline constexpr int64_t kFarthestNs = int64_t{1} << 62;

constexpr bool IsPlausibleTime(int64_t ns) { return -kFarthestNs < ns && ns < kFarthestNs; }

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_PLAUSIBLE_TIME_H_
