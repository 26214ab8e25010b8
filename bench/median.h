// SPDX-License-Identifier: Apache-2.0
//
// The median of repetitions, for benchmarks that do not link the analysis
// (analysis/base/estimate.h). Pure.
#ifndef GPUBOUND_BENCH_MEDIAN_H_
#define GPUBOUND_BENCH_MEDIAN_H_

#include <algorithm>
#include <vector>

namespace gpubound {

// Of an even number the upper one of the two in the middle. There is at least one value.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace gpubound

#endif  // GPUBOUND_BENCH_MEDIAN_H_
