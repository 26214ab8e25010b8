// SPDX-License-Identifier: Apache-2.0
//
// Stretches of iterations. One object, one caller.
#include "libprofiler/suspension_plan.h"

namespace gpubound {

// SplitMix64, and the upper bits of a product: a bias of at most |count| / 2^32.
uint64_t SuspensionPlan::Below(uint64_t count) {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31;
  return ((mixed >> 32) * count) >> 32;
}

bool SuspensionPlan::OnStep(int64_t now_ns) {
  if (verdict_ == Verdict::kOff) return false;
  if (!begun_) {  // what came before the first step is no whole iteration
    begun_ = true;
    begin_ns_ = now_ns;
    return false;
  }
  if (++place_ == length_) {
    BeginStretch(now_ns);
    return false;
  }
  if (place_ != chosen_) return false;
  ++suspended_;
  return true;
}

void SuspensionPlan::BeginStretch(int64_t now_ns) {
  typical_ns_ = (now_ns - begin_ns_) / length_;
  if (suspended_ >= kSuspendedPerLength && length_ < kLongestStretch) {
    suspended_ = 0;
    length_ *= 2;
  }
  begin_ns_ = now_ns;
  place_ = 0;
  verdict_ = typical_ns_ < kShortestNs  ? Verdict::kTooShort
             : typical_ns_ > kLongestNs ? Verdict::kTooLong
                                        : Verdict::kMeasuring;
  chosen_ = verdict_ == Verdict::kMeasuring ? 1 + static_cast<uint32_t>(Below(length_ - 2)) : 0;
}

}  // namespace gpubound
