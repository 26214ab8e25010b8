// SPDX-License-Identifier: Apache-2.0
//
// The order of the fields of a process's sums. No state.
#include "analysis/segments/process_sums.h"

namespace gpubound {

void ProcessSums::Visit(StateArchive& archive) {
  archive.All(identity.host, identity.pid, identity.start_realtime_ns, until_ns, threads, writers);
  archive.All(operations, phases, labels, roles, scan, opens_operations, simulates, inherits);
  archive.All(waits, utilization, process_tree, progress, sweep);
}

}  // namespace gpubound
