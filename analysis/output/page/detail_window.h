// SPDX-License-Identifier: Apache-2.0
//
// Where a timeline keeps single events: everywhere, if the run is short enough; else in windows
// around what a reader will want to look at (the longest gaps, the slowest iterations, the begin
// and the middle, where older detail was thinned those of the newest). Chosen before the events
// stream by, from the report. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_DETAIL_WINDOW_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_DETAIL_WINDOW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/report/report.h"

namespace gpubound {

struct DetailWindow {
  Interval time;  // of the run's timeline, in its span
  std::string why;
};

// |offset_ns| of a process: what to add to a time after its span's begin to get the run's.
// About |events_per_window| events fall into each, going by the run's mean rate. Disjoint,
// ascending; those that meet are one. None lies in |thinned|, disjoint and ascending.
std::vector<DetailWindow> ChooseWindows(const Report& report, const std::vector<int64_t>& offset_ns,
                                        int64_t span_ns, const std::vector<Interval>& thinned,
                                        uint64_t events_per_window);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_DETAIL_WINDOW_H_
