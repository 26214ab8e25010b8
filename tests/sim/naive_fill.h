// SPDX-License-Identifier: Apache-2.0
//
// SM fill (SPEC section 2) as a fraction without rounding: the blocks that a multiprocessor holds
// are found by putting one more there until it overflows, and all shares have one denominator.
//
// Pure; the history outlives the object.
#ifndef GPUBOUND_TESTS_SIM_NAIVE_FILL_H_
#define GPUBOUND_TESTS_SIM_NAIVE_FILL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

// A share of the device times nanoseconds does not fit into 64 bits.
__extension__ typedef __int128 FilledSum;

class NaiveFill {
 public:
  explicit NaiveFill(const History& history);

  // What a full device counts.
  int64_t unit() const { return unit_; }
  // How much of the device the recorded work of an instant fills, of unit().
  FilledSum At(TimeNs at) const;
  // Work of unknown geometry was taken as filling the device.
  bool is_upper_bound() const { return is_upper_bound_; }

 private:
  const History& history_;
  int64_t unit_ = 1;
  bool is_upper_bound_ = false;
  std::vector<int64_t> fill_;  // of History::work
};

// Blocks of such a kernel on one multiprocessor; none where geometry or limits do not tell, or
// where not one fits.
std::optional<int64_t> ResidentBlocks(const WorkInfo& kernel, const DeviceInfo& limits);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_NAIVE_FILL_H_
