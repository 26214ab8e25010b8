// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same on every machine for the same seed, which those of <random> are
// not once they are brought into a range. SplitMix64. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_BASE_RANDOM_H_
#define GPUBOUND_ANALYSIS_BASE_RANDOM_H_

#include <cstdint>

namespace gpubound {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(state_);
  }
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  // One of 0 .. |count| - 1, where |count| is 1 .. 2^32. The bias is at most count / 2^32.
  uint64_t Below(uint64_t count) { return ((Next() >> 32) * count) >> 32; }

 private:
  uint64_t state_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_RANDOM_H_
