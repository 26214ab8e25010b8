// SPDX-License-Identifier: Apache-2.0
//
// What recording cost one thread in all: the number of its events of each kind times what one
// costs. No timeline is moved: time that would have been waited away counts in full. Pure.
#ifndef GPUBOUND_ANALYSIS_OVERHEAD_SUM_H_
#define GPUBOUND_ANALYSIS_OVERHEAD_SUM_H_

#include <cstdint>
#include <map>
#include <string>

#include "analysis/cost_model.h"
#include "analysis/run.h"

namespace gpubound {

struct RecordedCounts {
  std::map<CostKind, uint64_t> kinds;         // without kApiCall
  std::map<std::string, uint64_t> api_calls;  // by function
};

// The events of the thread of |process| that opened the first operation, else of its main thread.
// |process| is loaded (LoadRun), not streamed.
RecordedCounts CountReportingThread(const ProcessTrace& process);

// Total, its error and its variance in `inside_ns` and so on, as if it were one occurrence.
Cost SumOfCosts(const RecordedCounts& counts, const CostModel& model);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OVERHEAD_SUM_H_
