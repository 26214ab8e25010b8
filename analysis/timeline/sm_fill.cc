// SPDX-License-Identifier: Apache-2.0
//
// Occupancy arithmetic as the CUDA programming guide describes it. No state.
#include "analysis/timeline/sm_fill.h"

#include <algorithm>

namespace gpubound {
namespace {

// Registers are given to warps in units of this many, since compute capability 3.0.
constexpr uint64_t kRegisterUnit = 256;

// From compute capability 8.0 each block takes 1 KiB of shared memory for the system.
constexpr uint64_t kReservedSharedBytes = 1024;
constexpr uint64_t kSharedUnit = 128;

constexpr uint64_t RoundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

constexpr uint64_t Product(const uint32_t (&extent)[3]) {
  return uint64_t{extent[0]} * extent[1] * extent[2];
}

// A limit that is zero is not known and limits nothing.
void Limit(uint64_t* blocks, uint64_t available, uint64_t needed_per_block) {
  if (available != 0 && needed_per_block != 0) {
    *blocks = std::min(*blocks, available / needed_per_block);
  }
}

}  // namespace

std::optional<uint32_t> ResidentBlocksPerMultiprocessor(const WorkInfo& work,
                                                        const DeviceInfo& device) {
  const uint64_t threads = Product(work.block);
  if (threads == 0 || device.threads_per_warp == 0) return std::nullopt;
  if (device.max_blocks_per_multiprocessor == 0 && device.max_warps_per_multiprocessor == 0) {
    return std::nullopt;
  }
  const uint64_t warps = (threads + device.threads_per_warp - 1) / device.threads_per_warp;
  const uint64_t registers_per_warp =
      RoundUp(uint64_t{work.registers_per_thread} * device.threads_per_warp, kRegisterUnit);
  uint64_t shared = uint64_t{work.static_shared_bytes} + work.dynamic_shared_bytes;
  if (device.compute_capability_major >= 8) shared += kReservedSharedBytes;

  uint64_t blocks = UINT32_MAX;
  Limit(&blocks, device.max_blocks_per_multiprocessor, 1);
  Limit(&blocks, device.max_warps_per_multiprocessor, warps);
  Limit(&blocks, device.max_registers_per_multiprocessor, registers_per_warp * warps);
  Limit(&blocks, device.max_shared_bytes_per_multiprocessor, RoundUp(shared, kSharedUnit));
  if (blocks == 0) return std::nullopt;
  return static_cast<uint32_t>(blocks);
}

std::optional<Fill> SmFill(const WorkInfo& work, const DeviceInfo& device,
                           uint32_t multiprocessors) {
  if (work.kind == WorkKind::kMemcpy || work.kind == WorkKind::kMemset) return Fill{0};
  const std::optional<uint32_t> per_multiprocessor = ResidentBlocksPerMultiprocessor(work, device);
  uint64_t grid = Product(work.grid);
  if (!per_multiprocessor || grid == 0 || device.multiprocessors == 0) return std::nullopt;
  const uint64_t capacity = uint64_t{*per_multiprocessor} * device.multiprocessors;
  if (multiprocessors != 0) {
    grid = std::min(grid, uint64_t{*per_multiprocessor} * multiprocessors);
  }
  if (grid >= capacity) return kFillOne;
  return static_cast<Fill>(grid * kFillOne / capacity);
}

}  // namespace gpubound
