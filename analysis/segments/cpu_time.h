// SPDX-License-Identifier: Apache-2.0
//
// Where a thread was, as it is stored and as the pipeline has it. Pure.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_CPU_TIME_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_CPU_TIME_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "analysis/trace/run.h"
#include "proto/chunk_decoder.h"

namespace gpubound {

// A file may say anything: no time is longer than one that can be added up.
inline CpuTime CpuTimeOf(const CpuTimeRecord& record) {
  constexpr uint64_t kLongest = uint64_t{1} << 48;  // three days
  CpuTime time{static_cast<int64_t>(record.start_ns), static_cast<int64_t>(record.end_ns),
               static_cast<int64_t>(std::min(record.on_cpu_ns, kLongest)), std::nullopt,
               record.tid};
  if (record.ready_ns != kReadyNotKnown) {
    time.ready_ns = static_cast<int64_t>(std::min(record.ready_ns, kLongest));
  }
  return time;
}

inline CpuTime CpuTimeAt(const CpuTimeEvents& events, size_t i) {
  return CpuTimeOf({static_cast<uint64_t>(events.start_ns[i]),
                    static_cast<uint64_t>(events.end_ns[i]), events.on_cpu_ns[i],
                    events.ready_ns[i], 0, events.tid[i]});
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_CPU_TIME_H_
