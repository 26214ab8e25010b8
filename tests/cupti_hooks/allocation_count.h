// SPDX-License-Identifier: Apache-2.0
//
// How often the calling thread has allocated by operator new, for tests of what may not.
#ifndef GPUBOUND_TESTS_CUPTI_HOOKS_ALLOCATION_COUNT_H_
#define GPUBOUND_TESTS_CUPTI_HOOKS_ALLOCATION_COUNT_H_

#include <cstdint>

namespace gpubound {

uint64_t AllocationsOfThisThread();

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_CUPTI_HOOKS_ALLOCATION_COUNT_H_
