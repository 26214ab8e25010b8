// SPDX-License-Identifier: Apache-2.0
//
// In which layers the threads of a group are, and the deepest of them: the arithmetic of refinement
// (SPEC section 2). Plain value, no thread rule.
#ifndef GPUBOUND_ANALYSIS_LAYER_COUNTS_H_
#define GPUBOUND_ANALYSIS_LAYER_COUNTS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "analysis/idle_cause.h"
#include "proto/event_model.h"

namespace gpubound {

inline constexpr size_t kLayerCount = 8;

class LayerCounts {
 public:
  void Add(Layer layer, IdleCause cause, int threads) {
    const auto at = static_cast<size_t>(layer);
    by_layer_[at] += static_cast<uint32_t>(threads);
    by_cause_[at][static_cast<size_t>(cause)] += static_cast<uint32_t>(threads);
  }

  // Moves |layer| to the deepest of the group's where one lies deeper, and |cause| to what such a
  // thread is about; of several, to the last one of the enumeration. Python is never refined to.
  bool Refine(Layer* layer, IdleCause* cause) const {
    for (size_t at = kLayerCount; at-- > static_cast<size_t>(*layer) + 1;) {
      if (by_layer_[at] == 0 || static_cast<Layer>(at) < Layer::kWait) continue;
      *layer = static_cast<Layer>(at);
      size_t last = kIdleCauses - 1;
      while (last > 0 && by_cause_[at][last] == 0) --last;
      *cause = static_cast<IdleCause>(last);
      return true;
    }
    return false;
  }

 private:
  std::array<uint32_t, kLayerCount> by_layer_{};
  std::array<std::array<uint32_t, kIdleCauses>, kLayerCount> by_cause_{};
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_LAYER_COUNTS_H_
