// SPDX-License-Identifier: Apache-2.0
//
// Counts calls from inside CUPTI's callbacks, which come on every thread of the program, many
// thousand times a second: no lock, and rarely a cache line that another thread writes too.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_CALL_COUNTER_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_CALL_COUNTER_H_

#include <atomic>
#include <cstdint>

namespace gpubound {

class CallCounter {
 public:
  // Any thread.
  void Count() noexcept {
    // Stacks of threads lie megabytes apart, so an address on it tells threads apart well enough.
    const char here = 0;
    const auto place = reinterpret_cast<uintptr_t>(&here) >> 20;
    cells_[(place ^ (place >> 3)) % kCells].count.fetch_add(1, std::memory_order_relaxed);
  }

  // What was counted since the last call. Any thread.
  uint64_t Take() noexcept {
    uint64_t total = 0;
    for (Cell& cell : cells_) total += cell.count.exchange(0, std::memory_order_relaxed);
    return total;
  }

 private:
  static constexpr uintptr_t kCells = 32;
  struct alignas(64) Cell {
    std::atomic<uint64_t> count{0};
  };
  Cell cells_[kCells];
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_CALL_COUNTER_H_
