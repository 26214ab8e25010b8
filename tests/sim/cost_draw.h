// SPDX-License-Identifier: Apache-2.0
//
// What occurrences of a profiler's events cost, by chance. One object, one caller.
#ifndef GPUBOUND_TESTS_SIM_COST_DRAW_H_
#define GPUBOUND_TESTS_SIM_COST_DRAW_H_

#include <cmath>
#include <cstdint>
#include <random>

#include "tests/sim/sim_device.h"

namespace gpubound::sim {

class CostDraw {
 public:
  // |deviation|: standard deviation of an occurrence, over its mean.
  CostDraw(double deviation, uint64_t seed) : deviation_(deviation), random_(seed) {}

  TimeNs Of(TimeNs mean) {
    if (deviation_ <= 0 || mean == 0) return mean;
    const double variance = std::log(1 + deviation_ * deviation_);
    std::lognormal_distribution<double> cost(std::log(static_cast<double>(mean)) - variance / 2,
                                             std::sqrt(variance));
    return std::llround(cost(random_));
  }

 private:
  const double deviation_;
  std::mt19937_64 random_;
};

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_COST_DRAW_H_
