// SPDX-License-Identifier: Apache-2.0
//
// Keeps the longest gaps. One object, one caller.
#include "analysis/sweep/idle_gaps.h"

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
  DeviceGaps& of = devices_[device];
  of.open = true;
  of.begin_ns = now_ns;
  of.at_begin = state;
  of.before = before;
  of.by_cause = ClockAt(now_ns);
}

void IdleGaps::End(uint32_t device, int64_t now_ns, const CpuState& state, WorkId after,
                   IdleCause cause) {
  DeviceGaps& of = devices_[device];
  if (!of.open) return;
  of.open = false;
  const int64_t length_ns = now_ns - of.begin_ns;
  if (length_ns <= 0) return;
  if (!Matters(device, length_ns)) return;
  if (cause == IdleCause::kUnknown) cause = MostOf(of.by_cause, now_ns);
  const Interval time{of.begin_ns, now_ns};
  if (IsMarked(of, length_ns)) Mark({time, device, cause}, &of);
  if (!IsLong(of, length_ns)) return;
  IdleGap gap;
  gap.time = time;
  gap.at_begin = of.at_begin;
  gap.at_end = now_ns == span_end_ns_ ? at_span_end_ : state;
  gap.before = of.before;
  gap.after = after;
  gap.cause = cause;
  Keep(gap, &of);
}

IdleCause IdleGaps::MostOf(const CauseClock& since, int64_t now_ns) const {
  const CauseClock clock = ClockAt(now_ns);
  size_t most = 0;
  for (size_t cause = 1; cause < kIdleCauses; ++cause) {
    if (clock[cause] - since[cause] > clock[most] - since[most]) most = cause;
  }
  return static_cast<IdleCause>(most);
}

void IdleGaps::Mark(const MarkedGap& gap, DeviceGaps* device) {
  const auto is_longer = [](const MarkedGap& a, const MarkedGap& b) {
    return a.time.length() > b.time.length();
  };
  std::vector<MarkedGap>& marked = device->marked;
  if (marked.size() == kMarkedGaps) {
    std::pop_heap(marked.begin(), marked.end(), is_longer);
    marked.pop_back();
  }
  marked.push_back(gap);
  std::push_heap(marked.begin(), marked.end(), is_longer);
}

void IdleGaps::Keep(const IdleGap& gap, DeviceGaps* device) {
  std::vector<IdleGap>& longest = device->longest;
  longest.insert(std::upper_bound(longest.begin(), longest.end(), gap, IsLonger), gap);
  if (longest.size() > kLongestGaps) longest.pop_back();
}

void IdleGaps::Visit(StateArchive& archive) {
  const size_t known = devices_.size();
  DeviceGaps unused = devices_.back();
  devices_.pop_back();
  archive.All(unused, devices_, since_ns_, by_cause_, span_end_ns_, at_span_end_);
  archive.IndexBelow(kIdleCauses, cause_);
  if (devices_.size() >= known) return archive.Fail();
  devices_.resize(known, unused);
}

std::vector<MarkedGap> IdleGaps::TakeMarked(const std::vector<bool>& used) {
  std::vector<MarkedGap> all;
  for (uint32_t device = 0; device < std::min(devices_.size(), used.size()); ++device) {
    if (!used[device]) continue;
    std::vector<MarkedGap>& marked = devices_[device].marked;
    std::sort(marked.begin(), marked.end(), [](const MarkedGap& a, const MarkedGap& b) {
      return a.time.begin_ns < b.time.begin_ns;
    });
    all.insert(all.end(), marked.begin(), marked.end());
  }
  return all;
}

std::vector<IdleGap> IdleGaps::Take(const std::vector<bool>& used) {
  std::vector<IdleGap> longest;
  for (uint32_t device = 0; device < devices_.size(); ++device) {
    if (device >= used.size() || !used[device]) continue;
    for (IdleGap& gap : devices_[device].longest) {
      gap.device = device;
      longest.push_back(gap);
    }
  }
  std::sort(longest.begin(), longest.end(), IsLonger);
  if (longest.size() > kLongestGaps) longest.resize(kLongestGaps);
  return longest;
}

}  // namespace gpubound
