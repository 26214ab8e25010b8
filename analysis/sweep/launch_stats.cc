// SPDX-License-Identifier: Apache-2.0
//
// Counts launches. One object, one caller.
#include "analysis/sweep/launch_stats.h"

#include <algorithm>
#include <span>

namespace gpubound {

LaunchStats::LaunchStats(const ProcessTrace& process, size_t operations)
    : process_(process), places_(process.streams.size()), times_(operations) {}

void LaunchStats::Add(const DeviceWork& work, CallNumber number, const IndexedCall* call) {
  Launch launch{};
  if (call != nullptr) launch = LaunchOf(work, number, *call);
  waiting_.push(launch);
}

LaunchStats::Launch LaunchStats::LaunchOf(const DeviceWork& work, CallNumber number,
                                          const IndexedCall& call) {
  if (Raw(work.stream) >= places_.size()) return {};
  Place& place = places_[Raw(work.stream)];
  if (place.last == number) return {};
  place.last = number;
  const std::span<const int64_t> begins = place.begins.waiting();
  const auto ahead = std::upper_bound(begins.begin(), begins.end(), call.end_ns);
  Launch launch;
  launch.counts = process_.Counts(work.start_ns, work.end_ns);
  launch.is_kernel = process_.WorkOf(work.work).info.kind == WorkKind::kKernel;
  launch.is_shorter = work.end_ns - work.start_ns < call.end_ns - call.start_ns;
  launch.lead_ns = std::max<int64_t>(0, work.start_ns - call.end_ns);
  launch.depth = begins.end() - ahead;
  if (begins.size() == kMostDepth) place.begins.pop();
  place.begins.push(work.start_ns);
  return launch;
}

void LaunchStats::Attribute(OperationIndex operation) {
  const Launch launch = waiting_.front();
  waiting_.pop();
  if (!launch.counts) return;
  LaunchTime& time = times_[operation];
  time.lead_ns.Add(launch.lead_ns);
  time.depth.Add(launch.depth);
  if (!launch.is_kernel) return;
  ++time.kernels;
  if (launch.is_shorter) ++time.shorter_kernels;
}

void LaunchStats::Visit(StateArchive& archive) {
  archive.Grown(places_);
  archive.All(waiting_);
  archive.Grown(times_);
}

}  // namespace gpubound
