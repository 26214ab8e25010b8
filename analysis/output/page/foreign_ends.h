// SPDX-License-Identifier: Apache-2.0
//
// Ranges that one thread started and another one ended: for those who follow the threads of a
// process one after the other. A pass over its events; memory is the ranges that are open at the
// end of their own thread and the ends that another thread's range is for.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_FOREIGN_ENDS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_FOREIGN_ENDS_H_

#include <cstdint>
#include <vector>

#include "analysis/trace/event_source.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct ForeignEnd {
  uint64_t range = 0;
  int64_t time_ns = 0;
};

// By the thread that started the range, each in order of time.
std::vector<std::vector<ForeignEnd>> FindForeignEnds(const ProcessTrace& process,
                                                     const EventSource& source);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_FOREIGN_ENDS_H_
