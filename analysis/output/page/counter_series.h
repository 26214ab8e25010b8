// SPDX-License-Identifier: Apache-2.0
//
// What was sampled of a process and its devices, and what its program counted, over time, in a
// bounded number of points. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_COUNTER_SERIES_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_COUNTER_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/trace/event_source.h"

namespace gpubound {

struct CounterPoint {
  int64_t time_ns = 0;
  double value = 0;
};

struct CounterSeries {
  uint32_t process = 0;
  std::string title;
  std::string unit;                  // "bytes", "W", "MHz", "%" or none
  std::vector<CounterPoint> points;  // by time
};

// The counters of |process| within its span: those of the program first, in the order of their
// names; then the memory of its process tree; then utilisation, memory, power and clock of its
// devices. At most |most_counters|, each in about |most_points|, of which a group of neighbours
// becomes the lowest and the highest of them. |to_run_ns| is added to each time.
std::vector<CounterSeries> CountersOf(const ProcessTrace& process, const EventSource& source,
                                      int64_t to_run_ns, size_t most_counters, size_t most_points);

// |points| in at most |most|, 4 or more: of each group of neighbours the lowest and the highest.
std::vector<CounterPoint> FewerPoints(std::vector<CounterPoint> points, size_t most);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_COUNTER_SERIES_H_
