// SPDX-License-Identifier: Apache-2.0
//
// Who uses a device, from one listing of NVML to the next: tells the host of each process once when
// it comes, and once more when it has gone. One thread.
#ifndef GPUBOUND_CUPTI_HOOKS_SAMPLING_DEVICE_CLIENTS_H_
#define GPUBOUND_CUPTI_HOOKS_SAMPLING_DEVICE_CLIENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cupti_hooks/sampling/nvml_api.h"
#include "libprofiler/device_source.h"

namespace gpubound {

class DeviceClients {
 public:
  // |proc| is "/proc", from which names come.
  DeviceClients(std::string proc, DeviceHost* host) : proc_(std::move(proc)), host_(host) {}

  // |clients| use the device |uuid| at |now_ns|. Times increase.
  void Update(const std::string& uuid, const std::vector<NvmlApi::Client>& clients, int64_t now_ns);

 private:
  struct Present {
    DeviceClient client;
    std::string name;
    int64_t seen_ns = 0;
  };

  const std::string proc_;
  DeviceHost* const host_;
  std::map<std::pair<std::string, uint32_t>, Present> present_;  // by uuid and pid
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_SAMPLING_DEVICE_CLIENTS_H_
