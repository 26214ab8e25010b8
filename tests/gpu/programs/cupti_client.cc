// SPDX-License-Identifier: Apache-2.0
//
// The least that a profiler with the kernel, copy and API records of gpubound's can do: CUPTI's own
// cost, which is the floor of ours. Loaded by CUDA_INJECTION64_PATH; buffers are freed unread.
// CUPTI_CLIENT_RECORDS says which there are, of kernel, copy, runtime, driver, synchronization,
// frequent (of the runtime the functions that programs call most, without queries) and callbacks
// (at both ends of these); without it the first five.
#include <cupti.h>
#include <dlfcn.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <typename Function>
Function* Find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

void Request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *size = size_t{1} << 20;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(64, *size));
  *max_records = 0;
}

void Complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t) { std::free(buffer); }

// What a profiler that takes the times of calls from callbacks does in each: it reads the clock.
void TakeTime(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
}

bool IsAsked(const char* records) {
  const char* asked = std::getenv("CUPTI_CLIENT_RECORDS");
  if (asked == nullptr)
    return std::strcmp(records, "callbacks") != 0 && std::strcmp(records, "frequent") != 0;
  const std::string list = std::string(",") + asked + ",";
  return list.find("," + std::string(records) + ",") != std::string::npos;
}

struct Records {
  const char* name;
  CUpti_ActivityKind kind;
};
constexpr Records kRecords[] = {{"kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
                                {"copy", CUPTI_ACTIVITY_KIND_MEMCPY},
                                {"copy", CUPTI_ACTIVITY_KIND_MEMSET},
                                {"runtime", CUPTI_ACTIVITY_KIND_RUNTIME},
                                {"driver", CUPTI_ACTIVITY_KIND_DRIVER},
                                {"synchronization", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION}};
constexpr CUpti_CallbackId kFrequent[] = {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                                          CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
                                          CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
                                          CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020,
                                          CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020};

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  void* cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_LOCAL);
  if (cupti == nullptr) {
    std::fprintf(stderr, "cupti_client: %s\n", dlerror());
    std::exit(30);
  }
  CUpti_SubscriberHandle subscriber = nullptr;
  Find<decltype(cuptiSubscribe)>(cupti, "cuptiSubscribe")(&subscriber, &TakeTime, nullptr);
  Find<decltype(cuptiActivityRegisterCallbacks)>(cupti, "cuptiActivityRegisterCallbacks")(
      &Request, &Complete);
  const auto enable = Find<decltype(cuptiActivityEnable)>(cupti, "cuptiActivityEnable");
  for (const Records& records : kRecords) {
    if (IsAsked(records.name) && enable(records.kind) != CUPTI_SUCCESS) std::exit(31);
  }
  const auto record =
      Find<decltype(cuptiActivityEnableRuntimeApi)>(cupti, "cuptiActivityEnableRuntimeApi");
  const auto call_back = Find<decltype(cuptiEnableCallback)>(cupti, "cuptiEnableCallback");
  for (const CUpti_CallbackId function : kFrequent) {
    if (IsAsked("frequent") && record(function, 1) != CUPTI_SUCCESS) std::exit(32);
    if (!IsAsked("callbacks")) continue;
    const CUptiResult result = call_back(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, function);
    if (result != CUPTI_SUCCESS) std::exit(33);
  }
  if (const char* asked = std::getenv("CUPTI_CLIENT_RECORDS")) {
    std::fprintf(stderr, "cupti_client: %s\n", asked);
  }
  return 1;
}
