// SPDX-License-Identifier: Apache-2.0
//
// A profiler inside the program, as torch.profiler is one: a library linked with libcupti, opened
// by the program when it wants a profile. It relies on CUPTI's defaults: buffers that it did not
// zero, threads known by pthread_self. And it has CUPTI tell a time of its own, for good. Start,
// work, stop: one thread.
#include <cupti.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr size_t kBufferBytes = 1 << 20;

CUpti_SubscriberHandle g_subscriber = nullptr;
std::atomic<int> g_kernels{0};
std::atomic<int> g_calls_of_this_thread{0};
std::atomic<int> g_garbage{0};
uint32_t g_thread = 0;

void OnRequest(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::malloc(kBufferBytes));
  if (*buffer != nullptr) std::memset(*buffer, 0xff, kBufferBytes);
  *size = kBufferBytes;
  *max_records = 0;
}

void OnComplete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ++g_kernels;
    if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
      const auto* call = reinterpret_cast<const CUpti_ActivityAPI*>(record);
      if (call->threadId == g_thread) ++g_calls_of_this_thread;
    }
  }
  // Beyond what is valid CUPTI has zeroed the buffer, unless somebody told it not to.
  if (valid < kBufferBytes && buffer[kBufferBytes - 1] == 0xff) ++g_garbage;
  std::free(buffer);
}

void OnEvent(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

// Ticks of some counter since the machine started, three in a nanosecond.
uint64_t Ticks() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 3 *
         (static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec));
}

// By the call that tells names, where the test asks for it.
CUptiResult Subscribe() {
  if (std::getenv("GPUBOUND_TEST_SUBSCRIBE_V2") == nullptr) {
    return cuptiSubscribe(&g_subscriber, &OnEvent, nullptr);
  }
  CUpti_SubscriberParams names = {};
  names.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  names.subscriberName = "second tool";
  return cuptiSubscribe_v2(&g_subscriber, &OnEvent, nullptr, &names);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int SecondToolStart() {
  g_thread =
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(reinterpret_cast<void*>(pthread_self())));
  const CUptiResult result = Subscribe();
  if (result != CUPTI_SUCCESS) return result;
  cuptiActivityRegisterTimestampCallback(&Ticks);
  cuptiActivityRegisterCallbacks(&OnRequest, &OnComplete);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
  return CUPTI_SUCCESS;
}

// Kernels recorded; negative: records of them were not as CUPTI's defaults promise.
extern "C" __attribute__((visibility("default"))) int SecondToolStop() {
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME);
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  cuptiUnsubscribe(g_subscriber);
  if (g_garbage != 0) return -1;
  if (g_calls_of_this_thread < g_kernels) return -2;
  return g_kernels;
}
