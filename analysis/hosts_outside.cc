// SPDX-License-Identifier: Apache-2.0
//
// Marks what a wrong clock leaves open. No state.
#include "analysis/hosts_outside.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "analysis/text_table.h"

namespace gpubound {

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

}  // namespace gpubound
