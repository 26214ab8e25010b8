// SPDX-License-Identifier: Apache-2.0
//
// Sorts few numbers by comparing always the same pairs of places, whatever the numbers: there is no
// branch that their order could make a processor guess wrongly. Pure.
#ifndef GPUBOUND_ANALYSIS_REPLAY_SORTING_NETWORK_H_
#define GPUBOUND_ANALYSIS_REPLAY_SORTING_NETWORK_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace gpubound {

inline constexpr size_t kSortedAtOnce = 32;

// Pairs of places, the one of the lesser number first. Batcher's odd-even merge sort: K. E.
// Batcher, Sorting networks and their applications, 1968.
constexpr size_t kPairsToSort = 191;
constexpr std::array<std::array<uint8_t, 2>, kPairsToSort> PairsToSort() {
  std::array<std::array<uint8_t, 2>, kPairsToSort> pairs{};
  size_t count = 0;
  for (size_t run = 1; run < kSortedAtOnce; run *= 2) {  // sorted runs of this length are merged
    for (size_t apart = run; apart > 0; apart /= 2) {
      for (size_t first = apart % run; first + apart < kSortedAtOnce; first += 2 * apart) {
        for (size_t low = first; low < first + apart && low + apart < kSortedAtOnce; ++low) {
          const size_t high = low + apart;
          if (low / (2 * run) != high / (2 * run)) continue;
          pairs[count++] = {static_cast<uint8_t>(low), static_cast<uint8_t>(high)};
        }
      }
    }
  }
  return pairs;
}

// No number is NaN.
inline void SortAtOnce(std::array<double, kSortedAtOnce>* numbers) {
  static constexpr auto kPairs = PairsToSort();
  static_assert(kPairs.back()[1] != 0);
  for (const auto& [low, high] : kPairs) {
    const double a = (*numbers)[low];
    const double b = (*numbers)[high];
    (*numbers)[low] = std::min(a, b);
    (*numbers)[high] = std::max(a, b);
  }
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_SORTING_NETWORK_H_
