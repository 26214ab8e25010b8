// SPDX-License-Identifier: Apache-2.0
//
// What nvidia-smi reads, through NVML's functions found by dlsym. The only file that knows NVML:
// nothing of it is included or linked, and a machine without it is no error. One thread.
#ifndef GPUBOUND_CUPTI_HOOKS_SAMPLING_NVML_API_H_
#define GPUBOUND_CUPTI_HOOKS_SAMPLING_NVML_API_H_

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

  // The processes that use |device| for compute work now, by pids as this process's namespace has
  // them or, in a container, not. False: NVML does not tell.
  struct Client {
    uint32_t pid;
    bool through_mps;
  };
  bool Clients(const Device& device, std::vector<Client>* clients) const;

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

  struct ProcessInfo {  // as of version 2 of the functions
    unsigned int pid;
    unsigned long long used_memory;  // NOLINT(google-runtime-int): NVML's type
    unsigned int gpu_instance, compute_instance;
  };
  using ListFunction = int (*)(void*, unsigned int*, ProcessInfo*);
  static bool List(ListFunction list, void* device, bool through_mps, std::vector<Client>* clients);

  int (*init_)() = nullptr;
  int (*count_)(unsigned int*) = nullptr;
  int (*by_index_)(unsigned int, void**) = nullptr;
  int (*uuid_)(void*, char*, unsigned int) = nullptr;
  int (*utilization_)(void*, Utilization*) = nullptr;
  int (*memory_)(void*, Memory*) = nullptr;            // optional, as what follows
  int (*power_)(void*, unsigned int*) = nullptr;       // mW
  int (*clock_)(void*, int, unsigned int*) = nullptr;  // MHz
  ListFunction compute_processes_ = nullptr;
  ListFunction mps_processes_ = nullptr;
  std::vector<Device> devices_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_SAMPLING_NVML_API_H_
