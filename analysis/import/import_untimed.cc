// SPDX-License-Identifier: Apache-2.0
//
// Keeps the calls that work without a time came from. One object, one thread.
#include "analysis/import/import_untimed.h"

#include <algorithm>

namespace gpubound {

void UntimedWork::NoteCall(uint32_t process, uint32_t correlation, int64_t start_ns) {
  if (correlation == 0 || ids_.count(correlation) == 0) return;
  int64_t& first_ns = calls_.try_emplace({process, correlation}, start_ns).first->second;
  first_ns = std::min(first_ns, start_ns);
}

int64_t UntimedWork::BeginOf(uint32_t process, uint32_t correlation) const {
  const auto found = calls_.find({process, correlation});
  return found == calls_.end() ? INT64_MIN : found->second;
}

}  // namespace gpubound
