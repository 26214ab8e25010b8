// SPDX-License-Identifier: Apache-2.0
//
// Takes what others know of the clocks of a host. No state.
#include "analysis/reader/unknown_begins.h"

#include <algorithm>
#include <optional>

namespace gpubound {
namespace {

// What there is to know of the times of a host.
struct HostTime {
  std::optional<int64_t> offset_ns;  // trace time less real time
  std::optional<int64_t> begin_ns;   // of what is known of the run there, in trace time
};

HostTime TimeOfHost(const Run& run, const std::string& host) {
  HostTime time;
  if (run.info && run.info->host == host && run.info->start_monotonic_ns > 0) {
    time.begin_ns = run.info->start_monotonic_ns;
    if (run.info->start_realtime_ns > 0) {
      time.offset_ns = run.info->start_monotonic_ns - run.info->start_realtime_ns;
    }
  }
  const bool has_record = time.begin_ns.has_value();
  for (const ProcessTrace& process : run.processes) {
    if (process.identity.host != host || !process.begin_is_known) continue;
    const int64_t begun_ns = process.BegunNs();
    if (!time.offset_ns) time.offset_ns = begun_ns - process.identity.start_realtime_ns;
    if (!has_record) time.begin_ns = std::min(time.begin_ns.value_or(begun_ns), begun_ns);
  }
  return time;
}

// Of all that is known, where nothing is of the host.
int64_t BeginOfRun(const Run& run) {
  std::optional<int64_t> begin_ns;
  for (const ProcessTrace& process : run.processes) {
    if (!process.begin_is_known) continue;
    begin_ns = std::min(begin_ns.value_or(process.BegunNs()), process.BegunNs());
  }
  if (!begin_ns && run.info) begin_ns = run.info->start_monotonic_ns;
  return begin_ns.value_or(0);
}

// Of |process|, kOpenEnded where it has none. One that goes on and has none seems to begin at 0.
int64_t FirstEvent(const ProcessTrace& process) {
  const bool none = process.span_end_ns <= process.span_begin_ns ||
                    (process.span_end_ns == kOpenEnded && process.span_begin_ns == 0);
  return none ? kOpenEnded : process.span_begin_ns;
}

void Place(const Run& run, ProcessTrace* process) {
  const HostTime time = TimeOfHost(run, process->identity.host);
  const int64_t first_ns = FirstEvent(*process);
  const int64_t latest_ns = IsClosed(process->span_end) ? process->span_end_ns
                            : run.info ? run.info->end_monotonic_ns.value_or(kOpenEnded)
                                       : kOpenEnded;
  std::optional<int64_t> begin_ns;
  if (time.offset_ns) begin_ns = process->identity.start_realtime_ns + *time.offset_ns;
  // Else a clock was set meanwhile.
  const bool is_possible = begin_ns && *begin_ns >= time.begin_ns.value_or(*begin_ns) &&
                           *begin_ns <= std::min(first_ns, latest_ns);
  if (!is_possible) {
    begin_ns = first_ns != kOpenEnded ? first_ns : time.begin_ns.value_or(BeginOfRun(run));
  }
  process->span_begin_ns = *begin_ns;
  const bool ends =
      first_ns != kOpenEnded || IsClosed(process->span_end) || process->span_end_ns == kOpenEnded;
  process->span_end_ns = ends ? std::max(*begin_ns, process->span_end_ns) : *begin_ns;
  if (*begin_ns == first_ns) return;
  process->unknown.push_back({*begin_ns, first_ns, "the begin of the process cannot be read"});
}

}  // namespace

void PlaceUnknownBegins(Run* run) {
  for (ProcessTrace& process : run->processes) {
    if (!process.begin_is_known) Place(*run, &process);
  }
}

}  // namespace gpubound
