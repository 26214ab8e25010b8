// SPDX-License-Identifier: Apache-2.0
#include "cupti_hooks/cupti/untimed_work.h"

#include <algorithm>
#include <utility>

namespace gpubound {
namespace {

uint64_t StreamOf(const UntimedWork::Place& place) {
  return static_cast<uint64_t>(place.context) << 32 | place.stream;
}

// Correlation ids wrap around; launches that are in flight together are near each other.
bool IsBefore(uint32_t correlation, uint32_t other) {
  return static_cast<int32_t>(correlation - other) < 0;
}

}  // namespace

void UntimedWork::OnUntimed(const Place& place) {
  if (keeps_) {
    open_.push_back(place);
  } else {
    ++lost_;
  }
}

void UntimedWork::NoteBehindEnd(const Place& place) {
  const auto [first, is_new] = behind_end_.try_emplace(StreamOf(place), place.correlation);
  if (!is_new && IsBefore(place.correlation, first->second)) first->second = place.correlation;
}

void UntimedWork::Settle() {
  // The nodes of one launch of a graph may run beside each other: equal is not behind.
  lost_ += static_cast<uint64_t>(std::ranges::count_if(open_, [this](const Place& place) {
    const auto first = behind_end_.find(StreamOf(place));
    return first == behind_end_.end() || !IsBefore(first->second, place.correlation);
  }));
  open_.clear();
}

uint64_t UntimedWork::TakeLost() { return std::exchange(lost_, 0); }

}  // namespace gpubound
