// SPDX-License-Identifier: Apache-2.0
//
// The callback half of the stand-in libcupti.so.13's entry points, and the names of things.
#include <cupti.h>

#include <cstring>

#include "tests/fake_cupti/cupti_monitor.h"

#define GPUBOUND_CUPTI_API extern "C" __attribute__((visibility("default")))

using namespace gpubound::sim;  // NOLINT: this file defines C entry points

namespace {

constexpr uint32_t kSubscribeWithNamesSince = 130000;

// CUpti_SubscriberParams::allowMultipleSubscribers, which came with 13.2.
constexpr size_t kAllowsSeveralOffset = 32;

bool AllowsSeveral(const CUpti_SubscriberParams& params) {
  return params.structSize > kAllowsSeveralOffset &&
         reinterpret_cast<const uint8_t*>(&params)[kAllowsSeveralOffset] == 1;
}

struct CallbackName {
  uint32_t cbid;
  const char* name;
};
// Made from the headers' enumerations by callback_names.cmake.
constexpr CallbackName kRuntimeNames[] = {
#include "runtime_callback_names.inc"
};
constexpr CallbackName kDriverNames[] = {
#include "driver_callback_names.inc"
};

template <size_t n>
const char* NameOf(const CallbackName (&names)[n], uint32_t cbid) {
  for (const CallbackName& known : names) {
    if (known.cbid == cbid) return known.name;
  }
  return nullptr;
}

struct ResultText {
  CUptiResult result;
  const char* text;
};
constexpr ResultText kResults[] = {
    {CUPTI_SUCCESS, "CUPTI_SUCCESS"},
    {CUPTI_ERROR_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
    {CUPTI_ERROR_INVALID_DEVICE, "CUPTI_ERROR_INVALID_DEVICE"},
    {CUPTI_ERROR_INVALID_OPERATION, "CUPTI_ERROR_INVALID_OPERATION"},
    {CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT"},
    {CUPTI_ERROR_MAX_LIMIT_REACHED, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
    {CUPTI_ERROR_NOT_COMPATIBLE, "CUPTI_ERROR_NOT_COMPATIBLE"},
    {CUPTI_ERROR_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED"},
    {CUPTI_ERROR_INVALID_KIND, "CUPTI_ERROR_INVALID_KIND"},
    {CUPTI_ERROR_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED"},
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
    {CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
     "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
    {CUPTI_ERROR_UNKNOWN, "CUPTI_ERROR_UNKNOWN"},
};

}  // namespace

GPUBOUND_CUPTI_API void gpubound_sim_listening_now(gpubound_sim_listening* now) {
  *now = CuptiMonitor::Get().Listening();
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  for (const ResultText& known : kResults) {
    if (known.result != result) continue;
    *text = known.text;
    return CUPTI_SUCCESS;
  }
  *text = "<unknown>";
  return CUPTI_ERROR_INVALID_PARAMETER;
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** text) {
  return cuptiGetResultString(result, text);
}

GPUBOUND_CUPTI_API CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber,
                                              CUpti_CallbackFunc callback, void* userdata) {
  return CuptiMonitor::Get().Subscribe(subscriber, callback, userdata, nullptr);
}

GPUBOUND_CUPTI_API CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber,
                                                 CUpti_CallbackFunc callback, void* userdata,
                                                 CUpti_SubscriberParams* params) {
  CuptiMonitor& monitor = CuptiMonitor::Get();
  if (monitor.version() < kSubscribeWithNamesSince) return CUPTI_ERROR_NOT_SUPPORTED;
  if (params == nullptr || params->structSize < CUpti_SubscriberParams_STRUCT_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return AllowsSeveral(*params) ? monitor.SubscribeShared(subscriber, callback, userdata, params)
                                : monitor.Subscribe(subscriber, callback, userdata, params);
}

GPUBOUND_CUPTI_API CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  return CuptiMonitor::Get().Unsubscribe(subscriber);
}

GPUBOUND_CUPTI_API CUptiResult cuptiEnableCallback(uint32_t enable,
                                                   CUpti_SubscriberHandle subscriber,
                                                   CUpti_CallbackDomain domain,
                                                   CUpti_CallbackId cbid) {
  return CuptiMonitor::Get().EnableCallback(subscriber, domain, cbid, enable != 0);
}

GPUBOUND_CUPTI_API CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                                 CUpti_CallbackDomain domain) {
  return CuptiMonitor::Get().EnableDomain(subscriber, domain, enable != 0);
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetCallbackState(uint32_t* enable, CUpti_SubscriberHandle,
                                                     CUpti_CallbackDomain domain,
                                                     CUpti_CallbackId cbid) {
  if (enable == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *enable = CuptiMonitor::Get().IsCallbackEnabled(domain, cbid) ? 1 : 0;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
                                                    const char** name) {
  if (name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const char* found = domain == CUPTI_CB_DOMAIN_RUNTIME_API  ? NameOf(kRuntimeNames, cbid)
                      : domain == CUPTI_CB_DOMAIN_DRIVER_API ? NameOf(kDriverNames, cbid)
                                                             : nullptr;
  if (found == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = found;
  return CUPTI_SUCCESS;
}
