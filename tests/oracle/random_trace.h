// SPDX-License-Identifier: Apache-2.0
//
// Small random traces that hit every rule and every tie often: few names, few threads, a span of
// some dozens of ns, so that most events share their instant with another.
#ifndef GPUBOUND_TESTS_ORACLE_RANDOM_TRACE_H_
#define GPUBOUND_TESTS_ORACLE_RANDOM_TRACE_H_

#include <cstdint>

#include "analysis/run.h"

namespace gpubound::oracle {

// The same seed gives the same trace.
ProcessTrace MakeRandomTrace(uint64_t seed);

// The same of some hundreds of ns, in which far more threads come and go than live at once.
ProcessTrace MakeRandomCrowd(uint64_t seed);

// Two to five such processes of one host, which share its two devices: GPU-1 and GPU-2.
gpubound::Run MakeRandomRun(uint64_t seed);

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_RANDOM_TRACE_H_
