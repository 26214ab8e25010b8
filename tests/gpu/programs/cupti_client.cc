// SPDX-License-Identifier: Apache-2.0
//
// The least that a profiler with the kernel, copy and API records of gpubound's can do: CUPTI's own
// cost, which is the floor of ours. Loaded by CUDA_INJECTION64_PATH; buffers are freed unread.
#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

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

void Ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  void* cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_LOCAL);
  if (cupti == nullptr) {
    std::fprintf(stderr, "cupti_client: %s\n", dlerror());
    std::exit(30);
  }
  CUpti_SubscriberHandle subscriber = nullptr;
  Find<decltype(cuptiSubscribe)>(cupti, "cuptiSubscribe")(&subscriber, &Ignore, nullptr);
  Find<decltype(cuptiActivityRegisterCallbacks)>(cupti, "cuptiActivityRegisterCallbacks")(
      &Request, &Complete);
  const auto enable = Find<decltype(cuptiActivityEnable)>(cupti, "cuptiActivityEnable");
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER,
        CUPTI_ACTIVITY_KIND_SYNCHRONIZATION}) {
    if (enable(kind) != CUPTI_SUCCESS) std::exit(31);
  }
  return 1;
}
