// SPDX-License-Identifier: Apache-2.0
//
// From what a device record says to the ids of its rows, without the interner's lock for what was
// seen before. A kernel is looked up by the address of its name and its geometry; the name itself
// is compared too, because CUPTI gives an address to another kernel once a module is unloaded.
//
// The source's worker only.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_WORK_CACHE_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_WORK_CACHE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "libprofiler/device_source.h"

namespace gpubound {

class WorkCache {
 public:
  // |simulated| is said of every device.
  WorkCache(DeviceHost* host, bool simulated) : host_(host), simulated_(simulated) {}

  // |name| may be null. Keeps no pointer to it but as a number.
  WorkId KernelOf(const WorkInfo& info, const char* name);
  WorkId CopyOf(uint8_t copy_kind);
  // The same copy where it is seen on the device at its other end.
  WorkId OtherEndOf(uint8_t copy_kind);
  WorkId Memset();
  WorkId Graph();

  // Names the device by its number alone if nothing more has been said of it yet.
  StreamId StreamOf(uint32_t device, uint32_t context, uint32_t stream);

  void DescribeDevice(DeviceInfo info, std::string_view name);

 private:
  struct KernelKey {
    const char* name;
    WorkInfo info;
    friend bool operator==(const KernelKey&, const KernelKey&) = default;
  };
  struct KernelKeyHash {
    size_t operator()(const KernelKey& key) const;
  };
  struct Kernel {
    std::string name;
    WorkId id;
  };
  struct StreamKey {
    uint32_t device, context, stream;
    friend bool operator==(const StreamKey&, const StreamKey&) = default;
  };
  struct StreamKeyHash {
    size_t operator()(const StreamKey& key) const;
  };

  DeviceId DeviceOf(uint32_t index);

  DeviceHost* const host_;
  const bool simulated_;
  std::unordered_map<KernelKey, Kernel, KernelKeyHash> kernels_;
  std::unordered_map<StreamKey, StreamId, StreamKeyHash> streams_;
  std::unordered_map<uint32_t, DeviceId> devices_;
  WorkId copies_[16] = {};
  WorkId memset_{};
  WorkId graph_{};
};

// "Memcpy HtoD" for a CUpti_ActivityMemcpyKind. Pure.
std::string_view CopyName(uint8_t copy_kind);

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_WORK_CACHE_H_
