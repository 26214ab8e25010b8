// SPDX-License-Identifier: Apache-2.0
//
// Keeps the longest gaps. One object, one caller.
#include "analysis/idle_gaps.h"

#include <algorithm>

namespace gpubound {
namespace {

bool IsLonger(const IdleGap& a, const IdleGap& b) {
  if (a.time.length() != b.time.length()) return a.time.length() > b.time.length();
  if (a.time.begin_ns != b.time.begin_ns) return a.time.begin_ns < b.time.begin_ns;
  return a.device < b.device;
}

}  // namespace

void IdleGaps::Begin(uint32_t device, int64_t now_ns, const CpuState& state, WorkId before) {
  OpenGap& open = open_[device];
  open.open = true;
  open.gap = {};
  open.gap.time.begin_ns = now_ns;
  open.gap.device = device;
  open.gap.at_begin = state;
  open.gap.before = before;
  open.by_cause = by_cause_;
}

void IdleGaps::End(uint32_t device, int64_t now_ns, const CpuState& state, WorkId after) {
  OpenGap& open = open_[device];
  if (!open.open) return;
  open.open = false;
  IdleGap& gap = open.gap;
  gap.time.end_ns = now_ns;
  if (gap.time.empty()) return;
  if (longest_.size() == kLongestGaps && !IsLonger(gap, longest_.back())) return;
  gap.at_end = state;
  gap.after = after;
  int64_t most_ns = -1;
  for (size_t cause = 0; cause < kIdleCauses; ++cause) {
    const int64_t ns = by_cause_[cause] - open.by_cause[cause];
    if (ns <= most_ns) continue;
    most_ns = ns;
    gap.cause = static_cast<IdleCause>(cause);
  }
  longest_.insert(std::upper_bound(longest_.begin(), longest_.end(), gap, IsLonger), gap);
  if (longest_.size() > kLongestGaps) longest_.pop_back();
}

std::vector<IdleGap> IdleGaps::Take() { return std::move(longest_); }

}  // namespace gpubound
