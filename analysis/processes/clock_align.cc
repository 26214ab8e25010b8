// SPDX-License-Identifier: Apache-2.0
//
// Offsets between hosts from what each says about its own two clocks, and from what they did
// together. No state.
#include "analysis/processes/clock_align.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "analysis/trace/plausible_time.h"

namespace gpubound {
namespace {

// Differences of differences of two plausible times may not fit: such clocks say nothing.
std::optional<int64_t> Difference(int64_t a_ns, int64_t b_ns) {
  int64_t difference_ns = 0;
  const bool fits = !__builtin_sub_overflow(a_ns, b_ns, &difference_ns);
  return fits && IsPlausibleTime(difference_ns) ? std::optional(difference_ns) : std::nullopt;
}

// CLOCK_REALTIME minus CLOCK_MONOTONIC of a process's host, from its first clock sample.
std::optional<int64_t> RealtimeOffset(const ProcessTrace& process) {
  if (process.clock_samples.empty()) return std::nullopt;
  const ClockSample& sample = process.clock_samples.front();
  return Difference(sample.realtime_ns, sample.monotonic_ns);
}

std::optional<int64_t> RealtimeOffset(const Run& run, const std::string& host) {
  for (const ProcessTrace& process : run.processes) {
    if (process.identity.host != host) continue;
    if (const std::optional<int64_t> offset = RealtimeOffset(process)) return offset;
  }
  // A launcher all of whose processes are on other hosts has told its clocks too.
  if (!run.info || run.info->host != host) return std::nullopt;
  if (run.info->start_realtime_ns == 0 || run.info->start_monotonic_ns == 0) return std::nullopt;
  return Difference(run.info->start_realtime_ns, run.info->start_monotonic_ns);
}

// Of the machine that is called |host|; empty where nothing says.
std::string BootIdOf(const Run& run, const std::string& host) {
  if (run.info && run.info->host == host && !run.info->boot_id.empty()) return run.info->boot_id;
  for (const ProcessTrace& process : run.processes) {
    if (process.identity.host == host && !process.boot_id.empty()) return process.boot_id;
  }
  return {};
}

// Containers with names of their own on one machine share its clock.
bool AreOneMachine(const Run& run, const std::string& a, const std::string& b) {
  const std::string boot_id = BootIdOf(run, a);
  return !boot_id.empty() && boot_id == BootIdOf(run, b);
}

// Times of kernels are brought to the host's clock to within that.
constexpr int64_t kSlackNs = 5'000'000;
// What contradicting collectives still prove.
constexpr int64_t kSurelyNs = 1'000'000'000;

int64_t OffsetIn(const std::map<std::string, int64_t>& offsets, const std::string& host) {
  const auto found = offsets.find(host);
  return found == offsets.end() ? 0 : found->second;
}

// Where the track says more than the bounds: the middle of what the offset is in the run, and how far
// it is from there.
int64_t SetByTrack(const OffsetTrack& track, BoundedHost* host) {
  const auto [low, high] =
      std::minmax_element(track.knots.begin(), track.knots.end(),
                          [](const auto& a, const auto& b) { return a.offset_ns < b.offset_ns; });
  const int64_t half_ns = (high->offset_ns - low->offset_ns) / 2;
  host->error_ns = half_ns + track.error_ns;
  return low->offset_ns + half_ns;
}

double DriftOf(const OffsetTrack& track) {
  const OffsetTrack::Knot& first = track.knots.front();
  const OffsetTrack::Knot& last = track.knots.back();
  return -1e6 * static_cast<double>(last.offset_ns - first.offset_ns) /
         static_cast<double>(last.time_ns - first.time_ns);
}

// The offset of a host of which collectives know |bounds|, by its CLOCK_REALTIME |wall_ns| where
// that is known.
int64_t SetRight(const OffsetBounds& bounds, std::optional<int64_t> wall_ns, BoundedHost* host) {
  const bool agree = bounds.low_ns <= bounds.high_ns;
  const int64_t slack_ns = agree ? kSlackNs : kSurelyNs;
  const auto [low_ns, high_ns] = std::minmax(bounds.low_ns, bounds.high_ns);
  host->collectives = bounds.collectives;
  if (bounds.track) {
    host->drift_ppm = DriftOf(*bounds.track);
    host->track_error_ns = bounds.track->error_ns;
  }
  const bool wall_is_right =
      wall_ns && *wall_ns >= low_ns - slack_ns && *wall_ns <= high_ns + slack_ns;
  if (wall_is_right && (agree || !bounds.track)) {
    host->error_ns = std::max(std::abs(*wall_ns - low_ns), std::abs(*wall_ns - high_ns));
    return *wall_ns;
  }
  int64_t offset_ns = bounds.middle_ns();
  host->error_ns = (high_ns - low_ns) / 2;
  if (bounds.track) offset_ns = SetByTrack(*bounds.track, host);
  if (wall_ns && !wall_is_right) host->ahead_ns = *wall_ns - offset_ns;
  return offset_ns;
}

// What starting and ending processes on other machines takes.
constexpr int64_t kTolerableNs = 5'000'000'000;

}  // namespace

ClockAlignment AlignClocks(const Run& run, const std::string& reference_host) {
  ClockAlignment alignment;
  if (run.recorded_offsets_ns) {
    for (const ProcessTrace& process : run.processes) {
      alignment.offset_ns.push_back(OffsetIn(*run.recorded_offsets_ns, process.identity.host) -
                                    OffsetIn(*run.recorded_offsets_ns, reference_host));
    }
    return alignment;
  }
  const std::optional<int64_t> reference = RealtimeOffset(run, reference_host);
  std::map<std::string, int64_t> offsets = {{reference_host, 0}};
  std::map<std::string, OffsetBounds> bounds;
  bool has_bounds = false;
  for (const ProcessTrace& process : run.processes) {
    const std::string& host = process.identity.host;
    const auto [known, is_new] = offsets.try_emplace(host, 0);
    if (is_new && !AreOneMachine(run, host, reference_host)) {
      // Of a run of which sums are kept, what the sums hold was aligned without.
      if (!has_bounds && run.sums == nullptr) bounds = BoundClocks(run, reference_host);
      has_bounds = true;
      const std::optional<int64_t> own = RealtimeOffset(run, host);
      std::optional<int64_t> wall_ns;
      if (own && reference) wall_ns = Difference(*own, *reference);
      const auto told = bounds.find(host);
      const int64_t contradiction_ns = told == bounds.end() ? 0 : told->second.contradiction_ns;
      if (contradiction_ns > 0) alignment.contradicted_hosts.push_back({host, contradiction_ns});
      if (told != bounds.end() && contradiction_ns == 0) {
        BoundedHost& bounded = alignment.bounded_hosts.emplace_back();
        bounded.host = host;
        known->second = SetRight(told->second, wall_ns, &bounded);
        if (told->second.track) alignment.tracks.emplace(host, *told->second.track);
      } else {
        known->second = wall_ns.value_or(0);
        alignment.unbounded_hosts.push_back(host);
      }
    }
    alignment.offset_ns.push_back(known->second);
  }
  return alignment;
}

int64_t RealtimeShift(const Run& run, const std::string& host, const std::string& reference_host) {
  if (host == reference_host || AreOneMachine(run, host, reference_host)) return 0;
  if (run.recorded_offsets_ns) {
    return OffsetIn(*run.recorded_offsets_ns, host) -
           OffsetIn(*run.recorded_offsets_ns, reference_host);
  }
  const std::optional<int64_t> own = RealtimeOffset(run, host);
  const std::optional<int64_t> reference = RealtimeOffset(run, reference_host);
  return own && reference ? *own - *reference : 0;
}

bool AreOneMachine(const ProcessTrace& a, const ProcessTrace& b) {
  if (a.identity.host == b.identity.host) return true;
  return !a.boot_id.empty() && a.boot_id == b.boot_id;
}

std::vector<std::vector<size_t>> MachinesOf(const Run& run) {
  std::vector<std::vector<size_t>> machines;
  std::map<std::string, size_t> by_host;
  std::map<std::string, size_t> by_boot_id;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    size_t place = machines.size();
    if (const auto host = by_host.find(process.identity.host); host != by_host.end()) {
      place = host->second;
    } else if (const auto same = by_boot_id.find(process.boot_id); same != by_boot_id.end()) {
      place = same->second;
    }
    if (place == machines.size()) machines.emplace_back();
    machines[place].push_back(p);
    by_host.emplace(process.identity.host, place);
    if (!process.boot_id.empty()) by_boot_id.emplace(process.boot_id, place);
  }
  return machines;
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
