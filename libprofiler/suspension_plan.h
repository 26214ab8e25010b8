// SPDX-License-Identifier: Apache-2.0
//
// Which iterations of a training loop run with the recording of scopes suspended, so that what
// recording costs this program can be told from how much faster they are: one at a random place in
// each stretch of iterations. The first stretch only tells how long iterations are; each later one
// begins by looking at the one before it.
//
//   stretch 1      stretch 2            stretch 3
//   |  learns  |......S...........|...............S..|     S: suspended, never the first nor
//                                                          the last
//
// Decides and nothing more: virtual time, no clock, no lock. One object, one caller.
#ifndef GPUBOUND_LIBPROFILER_SUSPENSION_PLAN_H_
#define GPUBOUND_LIBPROFILER_SUSPENSION_PLAN_H_

#include <cstdint>

namespace gpubound {

class SuspensionPlan {
 public:
  // One iteration in so many, which bounds what a report misses. The stretch doubles whenever so
  // many were suspended: what they tell grows with their number, what they hide with their share.
  static constexpr uint32_t kFirstStretch = 100;
  static constexpr uint32_t kSuspendedPerLength = 256;
  static constexpr uint32_t kLongestStretch = 1u << 20;
  // Switching costs two marks and a page's worth of cold code, some microseconds a stretch
  // (bench/scope_bench): under 1 % of a hundred iterations of this length.
  static constexpr int64_t kShortestNs = 10'000;
  // Longer ones come too rarely to tell anything, and a report would miss too much at a time.
  static constexpr int64_t kLongestNs = 1'000'000'000;
  // A suspended iteration that lasts so many times the usual length is no iteration any more (an
  // evaluation, the end of training): recording goes on.
  static constexpr int64_t kOverdueTimes = 4;

  enum class Verdict : uint8_t { kOff, kWaiting, kMeasuring, kTooShort, kTooLong };

  SuspensionPlan(bool enabled, uint64_t seed)
      : state_(seed), verdict_(enabled ? Verdict::kWaiting : Verdict::kOff) {}

  // An iteration ends at |now_ns|. Whether the next one runs suspended.
  bool OnStep(int64_t now_ns);

  Verdict verdict() const { return verdict_; }
  // How long a suspended iteration may last.
  int64_t longest_ns() const { return kOverdueTimes * typical_ns_; }

 private:
  void BeginStretch(int64_t now_ns);
  uint64_t Below(uint64_t count);

  uint64_t state_;  // of the random numbers
  Verdict verdict_;
  bool begun_ = false;
  uint32_t length_ = kFirstStretch;
  uint32_t place_ = 0;   // in the stretch: iterations of it that have ended
  uint32_t chosen_ = 0;  // which one of it is suspended; 0: none
  uint32_t suspended_ = 0;
  int64_t begin_ns_ = 0;  // of the stretch
  int64_t typical_ns_ = 0;
};

// As table `meta` has it.
constexpr const char* VerdictName(SuspensionPlan::Verdict verdict) {
  switch (verdict) {
    case SuspensionPlan::Verdict::kOff:
      return "off";
    case SuspensionPlan::Verdict::kWaiting:
      return "waiting";
    case SuspensionPlan::Verdict::kMeasuring:
      return "measuring";
    case SuspensionPlan::Verdict::kTooShort:
      return "too_short";
    case SuspensionPlan::Verdict::kTooLong:
      return "too_long";
  }
  return "off";
}

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_SUSPENSION_PLAN_H_
