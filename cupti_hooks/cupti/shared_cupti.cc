// SPDX-License-Identifier: Apache-2.0
//
// The functions of the older interface on top of the newer ones. They have no object, so what they
// need hangs on globals that are written before CUPTI can call.
#include "cupti_hooks/cupti/shared_cupti.h"

#include <time.h>

#include <atomic>

namespace gpubound {
namespace {

// Attributes of CUPTI 13.3 to 13.5, by number: the headers that we compile against end at 10.
constexpr auto kMultipleSubscriberState = static_cast<CUpti_ActivityAttribute>(12);
constexpr auto kGraphsAsAWhole = static_cast<CUpti_ActivityAttribute>(20);
constexpr auto kThreadIdType = static_cast<CUpti_ActivityAttribute>(21);

// Leaked, never changed: CUPTI may call at any time.
constinit std::atomic<const CuptiApi*> g_api{nullptr};
constinit std::atomic<CUpti_SubscriberHandle> g_subscriber{nullptr};
constinit std::atomic<CUpti_BuffersCallbackRequestFunc> g_request{nullptr};
constinit std::atomic<CUpti_BuffersCallbackCompleteFunc> g_complete{nullptr};

const CuptiSubscriberApi& Calls() { return g_api.load(std::memory_order_acquire)->per_subscriber; }
CUpti_SubscriberHandle Subscriber() { return g_subscriber.load(std::memory_order_acquire); }

CUptiResult Subscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                      void* user_data) {
  CuptiSharedNames names = {};
  names.names.size_bytes = sizeof(names);
  names.names.ours = "gpubound";
  names.allow_several = 1;
  const CUptiResult result = g_api.load(std::memory_order_acquire)
                                 ->cuptiSubscribe_v2(subscriber, callback, user_data, &names.names);
  if (result == CUPTI_SUCCESS) g_subscriber.store(*subscriber, std::memory_order_release);
  return result;
}

CUptiResult Unsubscribe(CUpti_SubscriberHandle subscriber) {
  g_subscriber.store(nullptr, std::memory_order_release);
  return g_api.load(std::memory_order_acquire)->cuptiUnsubscribe(subscriber);
}

// Before and after the subscription: CUPTI's own clock, which on Linux is this one.
CUptiResult GetTimestamp(uint64_t* timestamp) {
  if (CUpti_SubscriberHandle subscriber = Subscriber()) {
    return Calls().cuptiGetTimestamp_v2(subscriber, timestamp);
  }
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  *timestamp =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  return CUPTI_SUCCESS;
}

CUptiResult SetAttribute(CUpti_ActivityAttribute attribute, size_t* size, void* value) {
  return Calls().cuptiActivitySetAttribute_v2(Subscriber(), attribute, size, value);
}

template <typename Value>
CUptiResult SetValue(CUpti_ActivityAttribute attribute, Value value) {
  size_t size = sizeof(value);
  return SetAttribute(attribute, &size, &value);
}

CUptiResult SetThreadIdType(CUpti_ActivityThreadIdType type) {
  return SetValue(kThreadIdType, type);
}

void OnRequest(uint8_t** buffer, size_t* size, size_t* max_records, void*) {
  g_request.load(std::memory_order_acquire)(buffer, size, max_records);
}

void OnComplete(uint8_t* buffer, size_t size, size_t valid_size, void*) {
  g_complete.load(std::memory_order_acquire)(nullptr, 0, buffer, size, valid_size);
}

CUptiResult RegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                              CUpti_BuffersCallbackCompleteFunc complete) {
  g_request.store(request, std::memory_order_release);
  g_complete.store(complete, std::memory_order_release);
  return Calls().cuptiActivityRegisterCallbacks_v2(Subscriber(), &OnRequest, &OnComplete);
}

CUptiResult Enable(CUpti_ActivityKind kind) {
  // Chosen once for all tools, by the first: an answer of no shows when the kind is enabled.
  if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) SetValue(kGraphsAsAWhole, uint8_t{1});
  return Calls().cuptiActivityEnable_v2(Subscriber(), kind, nullptr);
}

CUptiResult Disable(CUpti_ActivityKind kind) {
  return Calls().cuptiActivityDisable_v2(Subscriber(), kind, nullptr);
}

CUptiResult FlushAll(uint32_t) {
  return g_api.load(std::memory_order_acquire)->cuptiActivityFlushAll(0);
}

CUptiResult GetNextRecord(uint8_t* buffer, size_t valid_size, CUpti_Activity** record) {
  return Calls().cuptiActivityGetNextRecord_v2(Subscriber(), buffer, valid_size, record);
}

CUptiResult GetNumDroppedRecords(CUcontext context, uint32_t stream, size_t* dropped) {
  return Calls().cuptiActivityGetNumDroppedRecords_v2(Subscriber(), context, stream, dropped);
}

CUptiResult EnableRuntimeApi(CUpti_CallbackId id, uint8_t enable) {
  return Calls().cuptiActivityEnableRuntimeApi_v2(Subscriber(), id, enable);
}

bool IsSet(const CuptiSubscriberApi& calls, CUpti_SubscriberHandle subscriber,
           CUpti_ActivityAttribute attribute) {
  uint8_t value = 0;
  size_t size = sizeof(value);
  return calls.cuptiActivityGetAttribute_v2(subscriber, attribute, &size, &value) ==
             CUPTI_SUCCESS &&
         value == 1;
}

bool GraphsAreWhole() { return IsSet(Calls(), Subscriber(), kGraphsAsAWhole); }

}  // namespace

bool CanShareCupti(const CuptiApi& api) {
  return api.version >= kCuptiPerSubscriberComplete && api.cuptiSubscribe_v2 != nullptr &&
         api.per_subscriber.IsComplete();
}

bool IsCuptiShared(const CuptiApi& api) {
  return CanShareCupti(api) && IsSet(api.per_subscriber, nullptr, kMultipleSubscriberState);
}

CuptiApi SharedCupti(const CuptiApi& api) {
  g_api.store(new CuptiApi(api), std::memory_order_release);
  g_subscriber.store(nullptr, std::memory_order_release);
  CuptiApi shared = api;
  shared.cuptiGetTimestamp = &GetTimestamp;
  shared.cuptiSubscribe = &Subscribe;
  shared.cuptiUnsubscribe = &Unsubscribe;
  shared.cuptiSetThreadIdType = &SetThreadIdType;
  shared.cuptiActivityRegisterCallbacks = &RegisterCallbacks;
  shared.cuptiActivityEnable = &Enable;
  shared.cuptiActivityDisable = &Disable;
  shared.cuptiActivitySetAttribute = &SetAttribute;
  shared.cuptiActivityFlushAll = &FlushAll;
  shared.cuptiActivityGetNextRecord = &GetNextRecord;
  shared.cuptiActivityGetNumDroppedRecords = &GetNumDroppedRecords;
  // Without it quiet functions are left out when their records arrive.
  const bool filters = api.version >= kCuptiPerSubscriberFilters;
  shared.cuptiActivityEnableRuntimeApi =
      filters && api.per_subscriber.cuptiActivityEnableRuntimeApi_v2 != nullptr ? &EnableRuntimeApi
                                                                                : nullptr;
  shared.graphs_are_whole = &GraphsAreWhole;
  return shared;
}

}  // namespace gpubound
