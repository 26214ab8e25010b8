// SPDX-License-Identifier: Apache-2.0
//
// What a process and everything that it started used of the CPU and of memory (table
// process_tree), by its samples. Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_TRACE_PROCESS_TREE_PEAKS_H_
#define GPUBOUND_ANALYSIS_TRACE_PROCESS_TREE_PEAKS_H_

#include <algorithm>
#include <cstdint>

#include "analysis/trace/run.h"

namespace gpubound {

// The most that any sample says: time only grows, but for that of threads and processes which end.
struct TreePeaks {
  uint32_t processes = 0;  // at once; 0: never sampled
  int64_t cpu_ns = 0;
  int64_t resident_bytes = 0;  // at once
  int64_t run_delay_ns = 0;    // threads were ready to run and had no CPU
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(processes, cpu_ns, resident_bytes, run_delay_ns);
  }
  // Of the time that threads could have run: 0..1.
  double RunDelayShare() const {
    const int64_t ready_ns = cpu_ns + run_delay_ns;
    return ready_ns <= 0 ? 0 : static_cast<double>(run_delay_ns) / static_cast<double>(ready_ns);
  }
};

// |before|: of samples that may be gone.
inline TreePeaks PeaksOf(const ProcessTrace& process, TreePeaks before) {
  for (const ProcessTreeSample& sample : process.process_tree) {
    before.processes = std::max(before.processes, sample.processes);
    before.cpu_ns = std::max(before.cpu_ns, sample.cpu_ns);
    before.resident_bytes = std::max(before.resident_bytes, sample.resident_bytes);
    before.run_delay_ns = std::max(before.run_delay_ns, sample.run_delay_ns);
  }
  return before;
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_PROCESS_TREE_PEAKS_H_
