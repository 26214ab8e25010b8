// SPDX-License-Identifier: Apache-2.0
//
// What the simulated device says of itself, in cudaDeviceProp and in CUPTI's DEVICE record alike.
// The figures are those of no particular product: round, and easy to reckon with in a test.
// Pure values.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_DEVICE_LIMITS_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_DEVICE_LIMITS_H_

#include <array>
#include <cstdint>
#include <string>

#include "proto/event_model.h"

namespace gpubound::sim {

inline constexpr DeviceInfo kDeviceLimits = {
    .index = 0,
    .multiprocessors = 16,
    .max_warps_per_multiprocessor = 64,
    .max_blocks_per_multiprocessor = 32,
    .max_registers_per_multiprocessor = 65536,
    .max_shared_bytes_per_multiprocessor = 100 * 1024,
    .threads_per_warp = 32,
    .compute_capability_major = 9,
    .compute_capability_minor = 0,
    .memory_bytes = uint64_t{16} << 30,
    .simulated = true,
    .uuid = {},
};

inline std::string DeviceName(uint32_t device) {
  return "gpubound simulated device " + std::to_string(device);
}

inline std::array<uint8_t, 16> DeviceUuid(uint32_t device) {
  std::array<uint8_t, 16> uuid = {'g', 'p', 'u', 'b', 'o', 'u', 'n', 'd', 's', 'i', 'm'};
  uuid[15] = static_cast<uint8_t>(device);
  return uuid;
}

// Of a slice.
inline std::array<uint8_t, 16> SliceUuid(uint32_t slice) {
  std::array<uint8_t, 16> uuid = DeviceUuid(slice);
  uuid[14] = 0xf1;
  return uuid;
}

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_DEVICE_LIMITS_H_
