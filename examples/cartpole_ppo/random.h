// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that a seed determines, on the host and in kernels. SplitMix64: a counter put
// through a mixing function, so that a kernel can draw the nth number without the ones before it.
// Random is not thread safe; every thread and environment has its own.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_RANDOM_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_RANDOM_H_

#include <cmath>
#include <cstdint>
#include <numbers>

#include "examples/cartpole_ppo/device_code.h"

namespace gpubound::cartpole {

// Uniform over all 64-bit values when the arguments are consecutive.
CARTPOLE_HOST_DEVICE inline uint64_t MixBits(uint64_t value) {
  value = (value + 1) * 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// In [0, 1), with the 24 bits that a float holds.
CARTPOLE_HOST_DEVICE inline float UnitInterval(uint64_t bits) {
  return static_cast<float>(bits >> 40) * 0x1p-24f;
}

class Random {
 public:
  // Different streams of one seed are independent.
  Random(uint64_t seed, uint64_t stream) : state_(MixBits(MixBits(seed) ^ stream)) {}

  uint64_t Bits() { return MixBits(state_++); }
  // In [low, high).
  double Uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(Bits() >> 11) * 0x1p-53;
  }
  // In [0, limit); the bias of the modulus is below 2^-40 for the limits used here.
  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(Bits() % limit); }
  // Of mean 0 and variance 1, by Box and Muller.
  double Normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform(0.0, 1.0)));
    return radius * std::cos(2.0 * std::numbers::pi * Uniform(0.0, 1.0));
  }

 private:
  uint64_t state_;
};

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_RANDOM_H_
