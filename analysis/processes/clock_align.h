// SPDX-License-Identifier: Apache-2.0
//
// Brings the timelines of several hosts together. Processes of one machine share CLOCK_MONOTONIC and
// need nothing. Pure but for reading the sources.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_CLOCK_ALIGN_H_
#define GPUBOUND_ANALYSIS_PROCESSES_CLOCK_ALIGN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/processes/clock_bounds.h"
#include "analysis/trace/run.h"

namespace gpubound {

// A host whose clock collectives with the reference host tell.
struct BoundedHost {
  std::string host;
  int64_t error_ns = 0;  // of the alignment, at most
  // Of long runs: how much faster than that of the reference host its clock runs, in millionths,
  // and how well the track places what lasts some microseconds.
  std::optional<double> drift_ppm;
  int64_t track_error_ns = 0;
  int64_t ahead_ns = 0;  // by so much its CLOCK_REALTIME was off, and was set right; else 0
  uint64_t collectives = 0;
};

// A host whose clock and collectives cannot both be right: it changes its speed by more than clocks
// do, or groups of ranks were mistaken for each other. Its clock is taken as it is.
struct ContradictedHost {
  std::string host;
  int64_t ns = 0;  // by so much
};

struct ClockAlignment {
  // For each process of the run: trace time of the reference host minus its own.
  std::vector<int64_t> offset_ns;
  // Hosts whose clocks were taken to agree in CLOCK_REALTIME, for lack of anything better: the
  // error is that of the hosts' time service and is not known.
  std::vector<std::string> unbounded_hosts;
  std::vector<ContradictedHost> contradicted_hosts;  // of those
  std::vector<BoundedHost> bounded_hosts;
  std::map<std::string, OffsetTrack> tracks;  // by host, where collectives tell

  // Null where the offset is all that is known.
  const OffsetTrack* TrackOf(const ProcessTrace& process) const {
    const auto found = tracks.find(process.identity.host);
    return found == tracks.end() ? nullptr : &found->second;
  }
};

// Aligns every process to |reference_host|: by the hosts' CLOCK_REALTIME, unless their collectives
// prove it wrong. Reads the device work of runs of several hosts.
ClockAlignment AlignClocks(const Run& run, const std::string& reference_host);

// What brings trace times of |host| to |reference_host| by what is known without reading any
// events: the CLOCK_REALTIME of both, or what the run's sums were aligned by. 0 where one is not
// known.
int64_t RealtimeShift(const Run& run, const std::string& host, const std::string& reference_host);

// Whether two processes share a kernel, and so its clocks and devices: by boot id, or where one does
// not say it by host name. Containers with host names of their own may.
bool AreOneMachine(const ProcessTrace& a, const ProcessTrace& b);

// The processes of each machine, by their numbers in the run.
std::vector<std::vector<size_t>> MachinesOf(const Run& run);

// A host of which processes lie further outside the run's span than any launcher explains: its
// clock is off, or they outlived the run.
struct HostOutside {
  std::string host;
  int64_t ns = 0;
};

// |span|: of the run, in trace time of the reference host.
std::vector<HostOutside> HostsOutside(const Run& run, const ClockAlignment& clocks,
                                      const Interval& span);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_CLOCK_ALIGN_H_
