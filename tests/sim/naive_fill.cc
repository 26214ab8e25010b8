// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/naive_fill.h"

#include <algorithm>
#include <numeric>

namespace gpubound::sim {
namespace {

// More than any multiprocessor holds.
constexpr int64_t kMostBlocks = 1024;

int64_t InUnitsOf(int64_t unit, int64_t value) {
  int64_t taken = 0;
  while (taken < value) taken += unit;
  return taken;
}

int64_t Count(const uint32_t (&extent)[3]) { return int64_t{extent[0]} * extent[1] * extent[2]; }

// A limit of zero is one that the device's record does not tell.
bool Overflows(int64_t needed, uint32_t limit) { return limit != 0 && needed > limit; }

}  // namespace

std::optional<int64_t> ResidentBlocks(const WorkInfo& kernel, const DeviceInfo& limits) {
  const bool knows_limits =
      limits.max_blocks_per_multiprocessor != 0 || limits.max_warps_per_multiprocessor != 0;
  if (Count(kernel.block) == 0 || !knows_limits) return std::nullopt;
  const int64_t warp = limits.threads_per_warp;
  const int64_t warps = InUnitsOf(warp, Count(kernel.block)) / warp;
  // Per warp, in units of 256; and of shared memory in units of 128 bytes, of which the system
  // takes 1 KiB for each block from compute capability 8 on.
  const int64_t registers = warps * InUnitsOf(256, kernel.registers_per_thread * warp);
  const int64_t system = limits.compute_capability_major >= 8 ? 1024 : 0;
  const int64_t shared =
      InUnitsOf(128, int64_t{kernel.static_shared_bytes} + kernel.dynamic_shared_bytes + system);
  int64_t blocks = 0;
  while (blocks < kMostBlocks) {
    const int64_t more = blocks + 1;
    if (Overflows(more, limits.max_blocks_per_multiprocessor)) break;
    if (Overflows(more * warps, limits.max_warps_per_multiprocessor)) break;
    if (Overflows(more * registers, limits.max_registers_per_multiprocessor)) break;
    if (Overflows(more * shared, limits.max_shared_bytes_per_multiprocessor)) break;
    blocks = more;
  }
  return blocks == 0 ? std::nullopt : std::optional(blocks);
}

NaiveFill::NaiveFill(const History& history) : history_(history) {
  struct Share {
    int64_t blocks;
    int64_t held;  // by the whole device
  };
  std::vector<Share> shares;
  for (const WorkFact& work : history.work) {
    Share& share = shares.emplace_back(Share{0, 1});
    if (work.kind != OpKind::kKernel) continue;
    const std::optional<int64_t> each = ResidentBlocks(work.geometry, history.limits);
    const int64_t grid = Count(work.geometry.grid);
    if (!each || grid == 0 || history.limits.multiprocessors == 0) {
      share.blocks = share.held;
      is_upper_bound_ = true;
      continue;
    }
    share.held = *each * history.limits.multiprocessors;
    share.blocks = std::min(grid, share.held);
  }
  for (const Share& share : shares) unit_ = std::lcm(unit_, share.held);
  for (const Share& share : shares) fill_.push_back(unit_ / share.held * share.blocks);
}

FilledSum NaiveFill::At(TimeNs at) const {
  FilledSum sum = 0;
  for (size_t i = 0; i < history_.work.size(); ++i) {
    const WorkFact& work = history_.work[i];
    if (work.begin_ns <= at && at < work.end_ns) sum += fill_[i];
  }
  return std::min<FilledSum>(sum, unit_);
}

}  // namespace gpubound::sim
