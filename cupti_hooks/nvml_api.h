// SPDX-License-Identifier: Apache-2.0
//
// What nvidia-smi reads, through NVML's functions found by dlsym. The only file that knows NVML:
// nothing of it is included or linked, and a machine without it is no error. One thread.
#ifndef GPUBOUND_CUPTI_HOOKS_NVML_API_H_
#define GPUBOUND_CUPTI_HOOKS_NVML_API_H_

#include <string>
#include <vector>

#include "proto/event_model.h"

namespace gpubound {

class NvmlApi {
 public:
  // Opens |library| and finds the devices. False: |*why| says what is missing. May take a tenth of
  // a second.
  bool Open(const std::string& library, std::string* why);

  struct Device {
    void* handle;
    std::string uuid;  // "GPU-..."
  };
  const std::vector<Device>& devices() const { return devices_; }

  // What |device| says now; what it does not tell (MIG, old boards) stays kNotKnown.
  UtilizationSample Read(const Device& device) const;

 private:
  // NVML's structures.
  struct Utilization {
    unsigned int gpu, memory;
  };
  struct Memory {
    unsigned long long total, free, used;  // NOLINT(google-runtime-int): NVML's type
  };

  int (*init_)() = nullptr;
  int (*count_)(unsigned int*) = nullptr;
  int (*by_index_)(unsigned int, void**) = nullptr;
  int (*uuid_)(void*, char*, unsigned int) = nullptr;
  int (*utilization_)(void*, Utilization*) = nullptr;
  int (*memory_)(void*, Memory*) = nullptr;            // optional, as what follows
  int (*power_)(void*, unsigned int*) = nullptr;       // mW
  int (*clock_)(void*, int, unsigned int*) = nullptr;  // MHz
  std::vector<Device> devices_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_NVML_API_H_
