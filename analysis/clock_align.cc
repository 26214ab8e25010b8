// SPDX-License-Identifier: Apache-2.0
//
// Offsets between hosts from what each host says about its own two clocks. No state.
#include "analysis/clock_align.h"

#include <algorithm>
#include <map>
#include <optional>

namespace gpubound {
namespace {

// CLOCK_REALTIME minus CLOCK_MONOTONIC of a process's host, from its first clock sample.
std::optional<int64_t> RealtimeOffset(const ProcessTrace& process) {
  if (process.clock_samples.empty()) return std::nullopt;
  const ClockSample& sample = process.clock_samples.front();
  return sample.realtime_ns - sample.monotonic_ns;
}

std::optional<int64_t> RealtimeOffset(const Run& run, const std::string& host) {
  for (const ProcessTrace& process : run.processes) {
    if (process.identity.host != host) continue;
    if (const std::optional<int64_t> offset = RealtimeOffset(process)) return offset;
  }
  return std::nullopt;
}

// What starting and ending processes on other machines takes.
constexpr int64_t kTolerableNs = 5'000'000'000;

}  // namespace

ClockAlignment AlignClocks(const Run& run, const std::string& reference_host) {
  ClockAlignment alignment;
  const std::optional<int64_t> reference = RealtimeOffset(run, reference_host);
  for (const ProcessTrace& process : run.processes) {
    const std::string& host = process.identity.host;
    if (host == reference_host) {
      alignment.offset_ns.push_back(0);
      continue;
    }
    const std::optional<int64_t> own = RealtimeOffset(run, host);
    alignment.offset_ns.push_back(own && reference ? *own - *reference : 0);
    std::vector<std::string>& unbounded = alignment.unbounded_hosts;
    if (std::find(unbounded.begin(), unbounded.end(), host) == unbounded.end()) {
      unbounded.push_back(host);
    }
  }
  return alignment;
}

std::vector<HostOutside> HostsOutside(const Run& run, const ClockAlignment& clocks,
                                      const Interval& span) {
  std::map<std::string, int64_t> furthest;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    const int64_t offset_ns = clocks.offset_ns[p];
    int64_t& outside_ns = furthest[process.identity.host];
    outside_ns = std::max({outside_ns, span.begin_ns - (process.span_begin_ns + offset_ns),
                           process.span_end_ns + offset_ns - span.end_ns});
  }
  std::vector<HostOutside> hosts;
  for (const auto& [host, ns] : furthest) {
    const bool aligned = std::find(clocks.unbounded_hosts.begin(), clocks.unbounded_hosts.end(),
                                   host) != clocks.unbounded_hosts.end();
    if (aligned && ns > kTolerableNs) hosts.push_back({host, ns});
  }
  return hosts;
}

}  // namespace gpubound
