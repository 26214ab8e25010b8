// SPDX-License-Identifier: Apache-2.0
//
// Joins device work with the API call that launched it, by correlation id and time, and finds the
// parts of API calls that are waits for the GPU although the call itself is none. Pure; values in,
// values out.
#ifndef GPUBOUND_ANALYSIS_CORRELATOR_H_
#define GPUBOUND_ANALYSIS_CORRELATOR_H_

#include <cstdint>
#include <vector>

#include "analysis/interval.h"
#include "analysis/label_roles.h"
#include "analysis/run.h"

namespace gpubound {

// ProcessTrace::threads[thread].calls[call].
struct CallRef {
  uint32_t thread = kNotOne;
  uint32_t call = kNotOne;
  bool valid() const { return thread != kNotOne; }
  friend bool operator==(const CallRef&, const CallRef&) = default;
};

struct Correlation {
  // For each element of ProcessTrace::device_work the call that caused it: of nested calls with the
  // same correlation (a runtime function and the driver function inside it) the outermost. Invalid
  // where no call was recorded.
  std::vector<CallRef> cause;

  // For each thread, disjoint and ascending: while such an interval lasts, time inside any API call
  // of that thread is cuda_sync.
  std::vector<std::vector<Interval>> sync_windows;

  uint64_t work_without_launch = 0;
};

Correlation Correlate(const ProcessTrace& process, const LabelRoles& roles);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRELATOR_H_
