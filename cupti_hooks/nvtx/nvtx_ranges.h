// SPDX-License-Identifier: Apache-2.0
//
// What NVTX ranges mean here: push and pop become scopes of the calling thread, start and end
// become ranges that may cross threads, each with a label that has the domain's name and the
// message. Knows no NVTX type; nvtx_injection.cc translates.
//
// Any thread. Domains and registered strings are interned for good, since programs keep handles in
// static objects that outlive everything. No lock is held across a call to the host.
#ifndef GPUBOUND_CUPTI_HOOKS_NVTX_NVTX_RANGES_H_
#define GPUBOUND_CUPTI_HOOKS_NVTX_NVTX_RANGES_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cupti_hooks/nvtx/nvtx_text.h"
#include "libprofiler/device_source.h"

namespace gpubound {

// Behind nvtxDomainHandle_t. A null handle is the default domain, whose name is "".
struct NvtxDomain {
  std::string name;
  bool is_xla = false;  // xla_ranges.h says what its texts mean
};

// Behind nvtxStringHandle_t.
struct NvtxString {
  std::string text;
  const NvtxDomain* domain;
  std::atomic<uint32_t> label{0};  // of |text| in |domain|, once it was used; 0 before
};

class NvtxRanges {
 public:
  // |host| gives where to record, or null when nothing is recorded now; it is asked each time,
  // because a fork changes the answer.
  explicit NvtxRanges(DeviceHost* (*host)()) : host_(host) {}

  // The same name gives the same handle. Never null.
  NvtxDomain* Domain(std::string_view name);
  NvtxString* RegisterString(const NvtxDomain* domain, std::string_view text);

  // Returns the depth of the new range in its domain and thread, from 0, or kNotTracked.
  int Push(const NvtxDomain* domain, const NvtxMessage& message);
  // Returns the depth of the range that ended, or kNotTracked if none was open.
  int Pop(const NvtxDomain* domain);

  // Returns an id that is never 0 while recording.
  uint64_t Start(const NvtxDomain* domain, const NvtxMessage& message);
  void End(uint64_t range);

  void Mark(const NvtxDomain* domain, const NvtxMessage& message);

  static constexpr int kNotTracked = -2;  // NVTX_NO_PUSH_POP_TRACKING

  // Around a fork, on the thread that forks: what another thread holds then would stay held in the
  // child for ever.
  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }

 private:
  LabelId LabelOf(DeviceHost* host, const NvtxDomain* domain, const NvtxMessage& message);

  DeviceHost* (*const host_)();
  std::atomic<uint64_t> next_range_{1};
  std::mutex mutex_;  // what follows; a leaf
  std::deque<NvtxDomain> domains_;
  std::deque<NvtxString> strings_;
  std::unordered_map<std::string, NvtxDomain*> domain_by_name_;
  std::unordered_map<std::string, NvtxString*> string_by_key_;  // domain address and text
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_NVTX_NVTX_RANGES_H_
