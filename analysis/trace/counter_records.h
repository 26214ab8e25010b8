// SPDX-License-Identifier: Apache-2.0
//
// What a program recorded of some of its counters, one by one. Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_TRACE_COUNTER_RECORDS_H_
#define GPUBOUND_ANALYSIS_TRACE_COUNTER_RECORDS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/event_source.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct CounterRecord {
  int64_t time_ns = 0;
  double value = 0;  // a finite number
  LabelId label{};   // its text is the counter's name
  uint32_t thread = 0;
  bool after_loss = false;  // the thread's events just before may be missing
};

// The records of the span of those counters whose name |wanted| approves, by time; those of a thread
// in the order in which it made them. Costs a pass over the thread events of a process that has
// such a counter, and nothing otherwise.
std::vector<CounterRecord> ReadCounters(const ProcessTrace& process, const EventSource& source,
                                        const std::function<bool(std::string_view)>& wanted);

// The same of each process of |run|, side by side on all processors.
std::vector<std::vector<CounterRecord>> ReadCountersOfAll(
    const Run& run, const std::function<bool(std::string_view)>& wanted);

// The names of all counters of |process|, each once.
std::vector<std::string> CounterNames(const ProcessTrace& process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_COUNTER_RECORDS_H_
