// SPDX-License-Identifier: Apache-2.0
//
// Trace times of all processes on one clock: ns since the run began, by the clock of the machine
// that began it. Immutable; any thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_RUN_TIMES_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_RUN_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/processes/clock_align.h"
#include "analysis/trace/run.h"

namespace gpubound {

class RunTimes {
 public:
  // Of several hosts, reads the collectives of |run|, which has its sources.
  explicit RunTimes(const Run& run);
  RunTimes(const RunTimes&) = delete;
  RunTimes& operator=(const RunTimes&) = delete;

  // |process| is an index of Run::processes.
  int64_t At(size_t process, int64_t trace_ns) const {
    const Place& place = places_[process];
    return trace_ns - begin_ns_ +
           (place.track != nullptr ? place.track->At(trace_ns) : place.offset_ns);
  }

 private:
  struct Place {
    int64_t offset_ns = 0;
    const OffsetTrack* track = nullptr;
  };
  ClockAlignment clocks_;
  std::vector<Place> places_;
  int64_t begin_ns_ = 0;
};

bool HasSeveralHosts(const Run& run);

// Of |run|, which was opened from |path|: of several hosts it is opened anew, for its events. Null where these
// cannot be read any more.
std::unique_ptr<RunTimes> RunTimesOf(const Run& run, const std::string& path);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_RUN_TIMES_H_
