// SPDX-License-Identifier: Apache-2.0
//
// The longest stretches during which a device was idle, with what the CPU did at their begin, at
// their end and for most of them. Remembers the longest few of each device only, since it shows
// late which devices are used at all. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_SWEEP_IDLE_GAPS_H_
#define GPUBOUND_ANALYSIS_SWEEP_IDLE_GAPS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/timeline/device_timeline.h"
#include "analysis/timeline/process_timeline.h"
#include "analysis/trace/idle_cause.h"

namespace gpubound {

inline constexpr size_t kLongestGaps = 10;
// So many more of each device are told with their cause alone, for a picture of the run.
inline constexpr size_t kMarkedGaps = 512;

struct IdleGap {
  Interval time;
  uint32_t device = 0;
  IdleCause cause = IdleCause::kUnknown;  // the one with the most time; ties: the first
  CpuState at_begin;
  CpuState at_end;  // just before it
  WorkId before{};  // the work that ended last; none at the span's begin
  WorkId after{};   // the work that ended the gap; none where something else did
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(time, at_begin, at_end, before, after);
    archive.IndexBelow(kIdleCauses, cause);
  }
};

struct MarkedGap {
  Interval time;
  uint32_t device = 0;
  IdleCause cause = IdleCause::kUnknown;
};

class IdleGaps {
 public:
  explicit IdleGaps(size_t devices) : devices_(devices) {}

  // From |now_ns| on the CPU side is about |cause|.
  void SwitchTo(IdleCause cause, int64_t now_ns) {
    by_cause_[static_cast<size_t>(cause_)] += now_ns - since_ns_;
    cause_ = cause;
    since_ns_ = now_ns;
  }

  // Whether one of |length_ns| could be among the longest of its device.
  bool Matters(uint32_t device, int64_t length_ns) const {
    return IsLong(devices_[device], length_ns) || IsMarked(devices_[device], length_ns);
  }
  void Begin(uint32_t device, int64_t now_ns, const CpuState& state, WorkId before);
  // |cause|: of the whole gap; kUnknown: what the CPU did during it tells.
  void End(uint32_t device, int64_t now_ns, const CpuState& state, WorkId after, IdleCause cause);
  // The span ended at |end_ns|, until which the CPU did |state|: gaps that reach it end so,
  // whatever is recorded from then on. Only the first call for an end counts.
  void EndSpan(int64_t end_ns, const CpuState& state) {
    if (span_end_ns_ == end_ns) return;
    span_end_ns_ = end_ns;
    at_span_end_ = state;
  }

  // Gaps that are open, and the longest so far. Devices that became known since are added: their
  // gaps are those of the last one, which is never used.
  void Visit(StateArchive& archive);

  // Of the devices that |used| names, longest first; ties by begin.
  std::vector<IdleGap> Take(const std::vector<bool>& used);
  // Likewise, the kMarkedGaps longest of each that began since the state was read: by device, then
  // by begin.
  std::vector<MarkedGap> TakeMarked(const std::vector<bool>& used);

 private:
  using CauseClock = std::array<int64_t, kIdleCauses>;
  struct DeviceGaps {
    bool open = false;  // one is, as the next members say
    int64_t begin_ns = 0;
    CpuState at_begin;
    WorkId before{};
    CauseClock by_cause{};
    std::vector<IdleGap> longest;
    std::vector<MarkedGap> marked;  // a heap, the shortest in front; not archived
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(open, begin_ns, at_begin, before, by_cause, longest);
      if (longest.size() > kLongestGaps) archive.Fail();
    }
  };
  static bool IsLong(const DeviceGaps& device, int64_t length_ns) {
    const std::vector<IdleGap>& longest = device.longest;
    return longest.size() < kLongestGaps || length_ns > longest.back().time.length();
  }
  static bool IsMarked(const DeviceGaps& device, int64_t length_ns) {
    const std::vector<MarkedGap>& marked = device.marked;
    return marked.size() < kMarkedGaps || length_ns > marked.front().time.length();
  }
  static void Mark(const MarkedGap& gap, DeviceGaps* device);
  CauseClock ClockAt(int64_t now_ns) const {
    CauseClock clock = by_cause_;
    clock[static_cast<size_t>(cause_)] += now_ns - since_ns_;
    return clock;
  }
  IdleCause MostOf(const CauseClock& since, int64_t now_ns) const;
  void Keep(const IdleGap& gap, DeviceGaps* device);

  std::vector<DeviceGaps> devices_;  // by device
  IdleCause cause_ = IdleCause::kUnknown;
  int64_t since_ns_ = 0;
  int64_t span_end_ns_ = INT64_MAX;  // once something was seen that is no part of it
  CpuState at_span_end_;
  CauseClock by_cause_{};  // until |since_ns_|
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_IDLE_GAPS_H_
