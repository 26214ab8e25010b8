// SPDX-License-Identifier: Apache-2.0
//
// What the recorder promises of the records of CPU time (libprofiler/cpu_sampler.h), and the reader
// of a run that goes on counts on (analysis/compact/settled_time.h).
#ifndef GPUBOUND_PROTO_CPU_TIME_LIMITS_H_
#define GPUBOUND_PROTO_CPU_TIME_LIMITS_H_

#include <cstdint>

namespace gpubound {

// What a record of CPU time tells is written when its end is known: at the latest so long after its
// begin.
inline constexpr int64_t kLatestCpuTimeNs = int64_t{6} * 1'000'000'000;

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_CPU_TIME_LIMITS_H_
