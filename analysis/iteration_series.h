// SPDX-License-Identifier: Apache-2.0
//
// Iterations of a run over time, in a bounded number of points: neighbours share a point when there
// are too many. Sums of points are exact. Pure.
#ifndef GPUBOUND_ANALYSIS_ITERATION_SERIES_H_
#define GPUBOUND_ANALYSIS_ITERATION_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/interval.h"

namespace gpubound {

struct StepTime {
  uint64_t number = 0;  // of the iteration that ends
  int64_t time_ns = 0;
};

// |count| iterations that follow each other.
struct IterationPoint {
  uint64_t first = 0;  // as the program counts
  uint64_t count = 0;
  Interval time;
  int64_t shortest_ns = 0;
  int64_t longest_ns = 0;
  int64_t busy_ns = 0;  // of all devices of the process
};

// The iterations that |steps| end, in at most |most| points. The first begins at |begin_ns|, or
// where a step says that iterations begin; where nothing says when it began (kOpenEnded), it is
// left out.
std::vector<IterationPoint> IterationSeries(std::vector<StepTime> steps, int64_t begin_ns,
                                            size_t most);

// Adds device time to points as it streams by; begins never decrease for one device.
class SeriesBusy {
 public:
  explicit SeriesBusy(std::vector<IterationPoint>* points) : points_(points) {}
  void Add(const Interval& busy, size_t* next) const;

 private:
  std::vector<IterationPoint>* points_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ITERATION_SERIES_H_
