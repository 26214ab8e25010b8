// SPDX-License-Identifier: Apache-2.0
//
// Marks what a wrong clock leaves open. No state.
#include "analysis/attribution/hosts_outside.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

constexpr int64_t kNoticeablePart = 100;  // a hundredth

}  // namespace

void NoteHostsOutside(const Run& run, const std::vector<HostOutside>& hosts,
                      const std::vector<DeviceUsage>& devices, Ledger* ledger, Report* report) {
  for (const HostOutside& outside : hosts) {
    uint64_t& furthest = (*ledger)[static_cast<size_t>(LedgerCounter::host_outside_run_ns)];
    furthest = std::max(furthest, static_cast<uint64_t>(outside.ns));
    report->notes.push_back(
        "host " + outside.host + ": its processes lie up to " + FormatTime(outside.ns) +
        " outside the run, so that GPU busy of the run is a lower bound; is its clock "
        "set right (chrony, ntp)?");
    for (size_t d = 0; d < devices.size(); ++d) {
      const std::vector<size_t>& seen_by = devices[d].seen_by;
      const bool concerned =
          devices[d].used && std::any_of(seen_by.begin(), seen_by.end(), [&](size_t p) {
            return run.processes[p].identity.host == outside.host;
          });
      report->devices[d].host_outside_run |= concerned;
      report->devices[d].busy_is_lower_bound |= concerned;
      report->run.gpu_busy_is_lower_bound |= concerned;
    }
  }
}

void NoteContradictedHosts(const ClockAlignment& clocks, Ledger* ledger, Report* report) {
  for (const ContradictedHost& host : clocks.contradicted_hosts) {
    uint64_t& most = (*ledger)[static_cast<size_t>(LedgerCounter::clocks_contradicted_ns)];
    most = std::max(most, static_cast<uint64_t>(host.ns));
    report->notes.push_back("host " + host.host +
                            ": its collectives with the root host contradict each other by " +
                            FormatTime(host.ns) +
                            " about its clock, so that times between the hosts are doubtful; does "
                            "a time service (chrony, ntp) hold the clock?");
  }
}

void NoteWorkOutside(Report* report) {
  using Process = std::pair<std::string, int64_t>;
  std::map<Process, int64_t> inside_ns;
  for (const ReportDevice& device : report->devices) {
    for (const ReportDeviceBand& band : device.processes) {
      inside_ns[{band.host, band.pid}] += band.alone_ns + band.contended_ns;
    }
  }
  std::map<Process, int64_t> all_ns;  // programs that one pid executed in turn count together
  for (const ReportProcess& process : report->processes) {
    if (process.host != report->run.root_host) continue;
    for (const ReportDeviceShare& share : process.device_shares) {
      all_ns[{process.host, process.pid}] += share.busy_ns;
    }
  }
  for (const auto& [process, ns] : all_ns) {
    const int64_t outside_ns = ns - inside_ns[process];
    if (outside_ns * kNoticeablePart <= ns) continue;
    report->notes.push_back("pid " + std::to_string(process.second) + ": of its GPU work " +
                            FormatTime(outside_ns) +
                            " lie outside the run, which ended with its root: they are in the rows "
                            "of the process, and in no figure of a device or of the run.");
  }
}

}  // namespace gpubound
