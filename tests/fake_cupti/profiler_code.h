// SPDX-License-Identifier: Apache-2.0
//
// What recording costs as code instead of as time: functions that are executed one after the other,
// each with a place in memory and a branch of its own, as those of the real CUPTI. So they take as
// long as the program between two calls leaves them far away from the processor.
//
// Thread safe: threads share the places, as they share CUPTI's.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_PROFILER_CODE_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_PROFILER_CODE_H_

#include <cstdint>

namespace gpubound::sim {

inline constexpr uint32_t kProfilerFunctions = 2048;  // 128 bytes of code and 64 of data each

// Those from |first| to |first| + |count|, beginning anew behind the last of all.
void ExecuteProfilerCode(uint32_t first, uint32_t count);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_PROFILER_CODE_H_
