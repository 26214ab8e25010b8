// SPDX-License-Identifier: Apache-2.0
//
// In which layers the threads of a group are, and the deepest of them: the arithmetic of refinement
// (SPEC section 2). Plain value, no thread rule.
#ifndef GPUBOUND_ANALYSIS_LAYER_COUNTS_H_
#define GPUBOUND_ANALYSIS_LAYER_COUNTS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "analysis/idle_cause.h"
#include "proto/event_model.h"

namespace gpubound {

inline constexpr size_t kLayerCount = 8;

class LayerCounts {
 public:
  // |depth| as Doing::depth() says.
  void Enter(size_t depth) { Mark(depth, ++threads_[depth] != 0); }
  void Leave(size_t depth) { Mark(depth, --threads_[depth] != 0); }

  // Moves |layer| to the deepest of the group's where one lies deeper, and |cause| to what such a
  // thread is about; of several, to the last one of the enumeration. Python is never refined to.
  bool Refine(Layer* layer, IdleCause* cause) const {
    const size_t half = present_[1] != 0 ? 1 : 0;
    if (present_[half] == 0) return false;
    const size_t deepest = half * 64 + 63 - static_cast<size_t>(std::countl_zero(present_[half]));
    const auto at = static_cast<Layer>(deepest / kCauseSlots);
    if (at <= *layer || at < Layer::kWait) return false;
    *layer = at;
    *cause = static_cast<IdleCause>(deepest % kCauseSlots);
    return true;
  }

 private:
  static constexpr size_t kCauseSlots = 16;
  static_assert(kIdleCauses <= kCauseSlots);
  // No branch: nothing foretells whether a thread was the only one there.
  void Mark(size_t depth, bool present) {
    uint64_t& word = present_[depth / 64];
    word = (word & ~(uint64_t{1} << depth % 64)) | uint64_t{present} << depth % 64;
  }

  std::array<uint32_t, kLayerCount * kCauseSlots> threads_{};  // by depth: layer, then cause
  std::array<uint64_t, 2> present_{};                          // a bit per depth
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_LAYER_COUNTS_H_
