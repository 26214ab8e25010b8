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
  open.begin_ns = now_ns;
  open.at_begin = state;
  open.before = before;
  open.by_cause = ClockAt(now_ns);
}

void IdleGaps::End(uint32_t device, int64_t now_ns, const CpuState& state, WorkId after) {
  OpenGap& open = open_[device];
  if (!open.open) return;
  open.open = false;
  const int64_t length_ns = now_ns - open.begin_ns;
  if (length_ns <= 0) return;
  // Most gaps are far too short.
  if (longest_.size() == kLongestGaps && length_ns < longest_.back().time.length()) return;
  IdleGap gap;
  gap.time = {open.begin_ns, now_ns};
  gap.device = device;
  gap.at_begin = open.at_begin;
  gap.at_end = state;
  gap.before = open.before;
  gap.after = after;
  Keep(open, gap);
}

void IdleGaps::Keep(const OpenGap& open, IdleGap gap) {
  if (longest_.size() == kLongestGaps && !IsLonger(gap, longest_.back())) return;
  const CauseClock clock = ClockAt(gap.time.end_ns);
  int64_t most_ns = -1;
  for (size_t cause = 0; cause < kIdleCauses; ++cause) {
    const int64_t ns = clock[cause] - open.by_cause[cause];
    if (ns <= most_ns) continue;
    most_ns = ns;
    gap.cause = static_cast<IdleCause>(cause);
  }
  longest_.insert(std::upper_bound(longest_.begin(), longest_.end(), gap, IsLonger), gap);
  if (longest_.size() > kLongestGaps) longest_.pop_back();
}

void IdleGaps::Visit(StateArchive& archive) {
  const size_t known = open_.size();
  OpenGap unused = open_.back();
  open_.pop_back();
  archive.All(unused, open_, longest_, since_ns_, by_cause_);
  archive.IndexBelow(kIdleCauses, cause_);
  if (open_.size() >= known || longest_.size() > kLongestGaps) return archive.Fail();
  open_.resize(known, unused);
}

std::vector<IdleGap> IdleGaps::Take() { return std::move(longest_); }

}  // namespace gpubound
