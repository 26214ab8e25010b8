// SPDX-License-Identifier: Apache-2.0
//
// The sampling thread. NVML is opened on it and not before, since that takes time which cuInit,
// from which the source is started, should not lose.
#include "cupti_hooks/sampling/utilization_source.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "cupti_hooks/sampling/device_clients.h"
#include "cupti_hooks/sampling/nvml_api.h"
#include "cupti_hooks/sampling/process_tree.h"
#include "libprofiler/clock.h"

namespace gpubound {
namespace {

int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

void Sample(const UtilizationOptions& options, DeviceHost* host, SamplingThread::Control* control) {
  NvmlApi nvml;
  std::string why;
  if (!nvml.Open(options.nvml, &why)) {
    host->Count(LedgerCounter::nvml_unavailable, 1);
    host->Fact("nvml_unavailable", why);
  }
  DeviceClients clients(options.proc, host);
  std::vector<NvmlApi::Client> listed;
  ProcessTree process_tree(options.proc, static_cast<uint32_t>(getpid()));
  int64_t next_ns = NowNs();
  while (!control->stopping()) {
    for (const NvmlApi::Device& device : nvml.devices()) {
      UtilizationSample sample = nvml.Read(device);
      sample.time_ns = NowNs();
      host->AddSample(sample, device.uuid);
      if (nvml.Clients(device, &listed)) clients.Update(device.uuid, listed, sample.time_ns);
    }
    ProcessTreeSample tree = process_tree.Measure(NowNs());
    tree.time_ns = NowNs();
    host->AddSample(tree);
    // A machine that sleeps or starves us must not be answered with a burst.
    next_ns = std::max(next_ns + options.interval_ns, NowNs());
    control->SleepUntil(next_ns);
  }
}

}  // namespace

bool UtilizationSource::Start(DeviceHost* host) {
  if (options_.interval_ns == 0) return false;
  const bool made = thread()->Start("gpubound-nvml", [options = options_, host](auto* control) {
    Sample(options, host, control);
  });
  if (!made) host->Note("no thread could be made to sample utilisation");
  return made;
}

}  // namespace gpubound
