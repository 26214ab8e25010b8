// SPDX-License-Identifier: Apache-2.0
//
// Asks each process. No state.
#include "analysis/compact/settled_time.h"

#include <algorithm>

#include "analysis/base/interval.h"
#include "proto/schema.h"

namespace gpubound {
namespace {

// Until when a process that goes on has written all that it recorded.
int64_t WrittenUntil(const ProcessTrace& process) {
  if (process.clock_samples.empty()) return process.span_begin_ns;
  return process.clock_samples.back().monotonic_ns;
}

// Until when all of its device work was recorded.
int64_t DeliveredUntil(const ProcessTrace& process) {
  int64_t until_ns = kOpenEnded;
  for (const UnknownInterval& unknown : process.unknown) {
    if (unknown.reason == kUndeliveredReason) until_ns = std::min(until_ns, unknown.start_ns);
  }
  return until_ns;
}

}  // namespace

int64_t SettledUntil(const Run& run) {
  int64_t ended_ns = INT64_MIN;
  int64_t settled_ns = kOpenEnded;
  for (const ProcessTrace& process : run.processes) {
    if (process.span_end_ns != kOpenEnded) {
      ended_ns = std::max(ended_ns, process.span_end_ns);
      continue;
    }
    settled_ns = std::min(settled_ns, SettledUntil(WrittenUntil(process), DeliveredUntil(process)));
  }
  return settled_ns == kOpenEnded ? ended_ns : settled_ns;
}

}  // namespace gpubound
